"""The systems under measurement. Each is run by one thread of the same process on the same token ids."""

from __future__ import annotations

import importlib.util
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from workers.inference.checkpoints.checkpoint import bundled_path
from workers.inference.engine.engine import Engine
from workers.inference.engine.sampling_params import SamplingParams
from workers.inference.engine.sequence import Sequence as Answer
from workers.inference.models.decoder import Decoder
from workers.inference.text import TextStream


@dataclass(slots=True)
class Timing:
    """Generated tokens, and what they cost in wall-clock and in processor seconds."""

    tokens: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    answers: list[tuple[int, ...]] = field(default_factory=list)

    @property
    def tokens_per_s(self) -> float:
        return self.tokens / self.seconds

    @property
    def tokens_per_cpu_s(self) -> float:
        return self.tokens / self.cpu_seconds

    @contextmanager
    def running(self) -> Iterator[None]:
        """Add the time of a block."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.seconds += time.perf_counter() - wall
        self.cpu_seconds += time.process_time() - cpu


def race(
    decoders: dict[str, Decoder], prompts: Sequence[Sequence[int]], batch: int, new_tokens: int
) -> dict[str, Timing]:
    """Serve the same requests with each decoder, taking turns step by step, so that all meet the same machine.

    Requests wait for one of ``batch`` places, as in the server; prompts are computed inside the measured time.
    """
    engines = {name: Engine(decoder, max_batch=batch, prefix_caching=False) for name, decoder in decoders.items()}
    answers = {name: [_answer(prompt, new_tokens) for prompt in prompts] for name in engines}
    for name, engine in engines.items():
        for answer in answers[name]:
            engine.add(answer)
    timings = {name: Timing() for name in engines}
    while any(engine.busy for engine in engines.values()):
        for name, engine in engines.items():
            if engine.busy:
                with timings[name].running():
                    engine.step()
    for name, timing in timings.items():
        timing.tokens = sum(answer.generated for answer in answers[name])
        timing.answers = [tuple(answer.token_ids[len(answer.prompt_ids) :]) for answer in answers[name]]
    return timings


def first_token_in_steps(decoder: Decoder, prompts: Sequence[Sequence[int]]) -> float:
    """Time to the first token of one more request while the others decode, in median decode steps."""
    engine = Engine(decoder, max_batch=len(prompts), prefix_caching=False)
    for prompt in prompts[:-1]:
        engine.add(_answer(prompt, 200))
    while engine.scheduler.waiting or any(sequence.remaining > 1 for sequence in engine.scheduler.running):
        engine.step()
    decode = []
    for _ in range(9):
        timing = Timing()
        with timing.running():
            engine.step()
        decode.append(timing.cpu_seconds)
    late, timing = _answer(prompts[-1], 200), Timing()
    engine.add(late)
    with timing.running():
        while not late.generated:
            engine.step()
    return timing.cpu_seconds / statistics.median(decode)


def generate_one_by_one(model: Any, prompts: Sequence[Sequence[int]], new_tokens: int) -> Timing:
    """``transformers``' generate, called per request."""
    timing = Timing()
    for prompt in prompts:
        with timing.running():
            timing.tokens += _generate(model, torch.tensor([list(prompt)]), None, new_tokens)
    return timing


def generate_static_batch(model: Any, prompts: Sequence[Sequence[int]], new_tokens: int) -> Timing:
    """``transformers``' generate on one left-padded batch of all requests."""
    longest = max(map(len, prompts))
    ids = torch.tensor([[0] * (longest - len(prompt)) + list(prompt) for prompt in prompts])
    mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts])
    timing = Timing()
    with timing.running():
        timing.tokens = _generate(model, ids, mask, new_tokens)
    return timing


def llama_cpp(most: int) -> Callable[[Sequence[Sequence[int]], int], Timing] | None:
    """llama.cpp's own server inside this process, up to `most` requests at a time; None where xllamacpp is missing.

    It computes from the bundled file as it is, 4-bit weights (Q4_1), on one thread: less to read than any bf16.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        return None
    import xllamacpp  # type: ignore[import-not-found, unused-ignore]

    params = xllamacpp.CommonParams()
    params.model.path = str(bundled_path())
    params.n_parallel, params.n_ctx = most, most * 512
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.verbosity = -1
    server = xllamacpp.Server(params)

    def measure(prompts: Sequence[Sequence[int]], new_tokens: int) -> Timing:
        timing, answers = Timing(), []
        settings = {"max_tokens": new_tokens, "temperature": 0, "ignore_eos": True, "cache_prompt": False}
        asks = [json.dumps({**settings, "prompt": list(prompt)}) for prompt in prompts]
        with timing.running(), ThreadPoolExecutor(len(asks)) as together:
            list(together.map(lambda ask: server.handle_completions(ask, answers.append), asks))
        timing.tokens = sum(json.loads(answer)["usage"]["completion_tokens"] for answer in answers)
        return timing

    measure(prompts=[[1, 2, 3]], new_tokens=2)
    return measure


def _generate(model: Any, ids: torch.Tensor, mask: torch.Tensor | None, new_tokens: int) -> int:
    mask = torch.ones_like(ids) if mask is None else mask
    with torch.inference_mode():
        out = model.generate(
            ids,
            attention_mask=mask,
            do_sample=False,
            min_new_tokens=new_tokens,
            max_new_tokens=new_tokens,
            pad_token_id=0,
            eos_token_id=None,
        )
    return int((out.shape[1] - ids.shape[1]) * out.shape[0])


def _answer(prompt: Sequence[int], new_tokens: int) -> Answer:
    params = SamplingParams(max_tokens=new_tokens, temperature=0.0, ignore_end=True)
    return Answer(list(prompt), params, TextStream(None), lambda progress: None)
