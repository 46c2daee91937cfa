"""The loop: schedule, run, postprocess."""

from __future__ import annotations

from collections.abc import Sequence as Items
from dataclasses import dataclass

import numpy as np
import torch

from kernels.sampling import sample
from workers.inference.engine.block_manager import BlockManager
from workers.inference.engine.runner import Runner
from workers.inference.engine.scheduler import Chunk, Scheduler
from workers.inference.engine.sequence import Progress, Sequence, TokenLogprob
from workers.inference.models.decoder import Decoder

PAGE_SIZE = 16
"""Tokens per page; divides the kernels' KV tile."""


@dataclass(slots=True)
class Counters:
    """Totals since the start, for ``/metrics``."""

    steps: int = 0
    prompt_tokens: int = 0
    generated_tokens: int = 0
    cached_tokens: int = 0
    finished: int = 0
    cancelled: int = 0


class Engine:
    """Runs sequences to their end, sharing steps between all that are in flight.

    Not thread-safe: one thread calls :meth:`add`, :meth:`cancel` and :meth:`step`.

    Args:
        pages: size of the key-value cache, in pages of :data:`PAGE_SIZE` tokens.
        max_step_tokens: rows of one step; a longer prompt is computed in several.
    """

    def __init__(
        self,
        decoder: Decoder,
        *,
        max_batch: int = 16,
        pages: int = 1024,
        max_step_tokens: int = 256,
        prefix_caching: bool = True,
    ) -> None:
        self.decoder = decoder
        self.blocks = BlockManager(pages, PAGE_SIZE, prefix_caching)
        self.scheduler = Scheduler(self.blocks, max_batch, max_step_tokens)
        self.runner = Runner(decoder, pages, PAGE_SIZE)
        self.counters = Counters()
        self.context = min(decoder.config.context, self.blocks.capacity * PAGE_SIZE)

    @property
    def busy(self) -> bool:
        return bool(self.scheduler.running or self.scheduler.waiting)

    def add(self, sequence: Sequence) -> None:
        self.scheduler.add(sequence)

    def cancel(self, sequence: Sequence) -> None:
        """Free a sequence at once; it makes no further progress."""
        if sequence.finish_reason is None:
            sequence.finish_reason = "cancelled"
            self.scheduler.finish(sequence)
            self.counters.cancelled += 1

    def step(self) -> int:
        """Advance all running sequences. Returns the number of rows computed."""
        chunks = self.scheduler.schedule()
        if not chunks:
            return 0
        wanted, owners = _wanted_rows(chunks)
        logits = self.runner.run(chunks, wanted)
        self._postprocess(chunks, owners, logits)
        return sum(chunk.count for chunk in chunks)

    def run_to_end(self) -> None:
        """Step until nothing is left."""
        while self.busy:
            self.step()

    def _postprocess(self, chunks: Items[Chunk], owners: Items[tuple[Chunk, int]], logits: torch.Tensor) -> None:
        self.counters.steps += 1
        for chunk in chunks:
            if chunk.sequence.computed == chunk.sequence.cached_tokens and not chunk.sequence.generated:
                self.counters.cached_tokens += chunk.sequence.cached_tokens
            self.counters.prompt_tokens += chunk.count if not chunk.sequence.generated else 0
            chunk.sequence.computed += chunk.count
            self.blocks.remember(chunk.sequence)
        rows = logits.cpu().numpy()
        for index, (chunk, position) in enumerate(owners):
            sequence = chunk.sequence
            if position + 1 < len(sequence):
                following = sequence.token_ids[position + 1]
                sequence.prompt_logprobs[position + 1] = self._logprob(logits[index], sequence, following)
            else:
                self._append(sequence, rows[index], logits[index], len(chunks))

    def _append(self, sequence: Sequence, row: np.ndarray, logits: torch.Tensor, batch_size: int) -> None:
        params = sequence.params
        if sequence.generated >= params.max_tokens:
            self._finish(sequence, Progress(None, sequence.text.finish(), None, batch_size, "length"))
            return
        token = sample(
            row,
            temperature=params.temperature,
            top_p=params.top_p,
            top_k=params.top_k,
            seed=params.seed,
            position=len(sequence),
        )
        logprob = self._logprob(logits, sequence, token) if params.logprobs is not None else None
        sequence.token_ids.append(token)
        sequence.batch_sizes.append(batch_size)
        self.counters.generated_tokens += 1
        reason: str | None = None
        text = ""
        if token in self.decoder.config.end_tokens and not params.ignore_end:
            reason, text = "stop", sequence.text.finish()
        else:
            text = sequence.text.push(token)
            if sequence.text.stopped:
                reason = "stop"
            elif sequence.generated >= params.max_tokens or len(sequence) >= self.context:
                reason = "length"
                text += sequence.text.finish()
        progress = Progress(token, text, logprob, batch_size, reason)
        if reason is None:
            sequence.listener(progress)
        else:
            self._finish(sequence, progress)

    def _finish(self, sequence: Sequence, progress: Progress) -> None:
        sequence.finish_reason = progress.finish_reason
        self.scheduler.finish(sequence)
        self.counters.finished += 1
        sequence.listener(progress)

    def _logprob(self, logits: torch.Tensor, sequence: Sequence, token: int) -> TokenLogprob:
        logprobs = self.decoder.ops.log_softmax(logits[None])[0].cpu().numpy()
        count = sequence.params.logprobs or 0
        best = np.argpartition(-logprobs, count)[: count + 1] if count else np.empty(0, dtype=np.int64)
        ranked = best[np.lexsort((best, -logprobs[best]))][:count]
        return TokenLogprob(token, float(logprobs[token]), tuple((int(t), float(logprobs[t])) for t in ranked))


def _wanted_rows(chunks: Items[Chunk]) -> tuple[list[int], list[tuple[Chunk, int]]]:
    """Rows of the flat batch that need logits, and for each the chunk and position it belongs to."""
    wanted: list[int] = []
    owners: list[tuple[Chunk, int]] = []
    row = 0
    for chunk in chunks:
        last = chunk.start + chunk.count - 1
        positions = [last] if chunk.reaches_end else []
        if chunk.sequence.params.score_prompt and not chunk.sequence.generated:
            positions = list(range(chunk.start, last + 1))
        wanted += [row + position - chunk.start for position in positions]
        owners += [(chunk, position) for position in positions]
        row += chunk.count
    return wanted, owners
