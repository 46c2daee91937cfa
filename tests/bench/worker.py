"""``make bench-worker``: tokens per second by batch size, in both modes and against others, in one run.

Writes ``docs/benchmarks/worker.{md,svg,json}``. The last line on stdout is the JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import torch
from transformers import AutoTokenizer

from tests.bench.inference import systems, workload
from tests.bench.inference.ledger import Disagreement, Ledger
from tests.bench.inference.report import as_markdown, as_svg
from tests.workers.inference.reference import transformers_model
from workers.inference.checkpoints.checkpoint import Checkpoint, load_checkpoint
from workers.inference.huge_pages import restart_with_huge_pages
from workers.inference.model import DTYPES
from workers.inference.models.decoder import Decoder
from workers.inference.operators.operators import operators_for

OUT = Path(__file__).parents[2] / "docs" / "benchmarks"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.worker", description=__doc__)
    parser.add_argument("--dtype", action="append", choices=sorted(DTYPES), help="repeat for several; default all")
    parser.add_argument("--batch", action="append", type=int, help="repeat for several; default 1 2 4 8 16 32")
    parser.add_argument("--requests", type=int, default=16, help="requests at each batch size (at least the batch)")
    parser.add_argument("--tokens", type=int, default=48, help="new tokens per request")
    parser.add_argument("--mark-tokens", type=int, default=96, help="the same at 16 concurrent requests")
    parser.add_argument("--out", type=Path, default=OUT, help="where table, plot and JSON go")
    options = parser.parse_args()
    torch.set_num_threads(1)
    checkpoint = load_checkpoint("bundled")
    tokenizer = AutoTokenizer.from_pretrained(**checkpoint.tokenizer)
    ledger = Ledger(checkpoint.name, 1, options.tokens)
    for dtype in options.dtype or ["bf16", "fp32"]:
        measure(ledger, checkpoint, tokenizer, dtype, options)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "worker.md").write_text(as_markdown(ledger))
    (options.out / "worker.svg").write_text(as_svg(ledger, ledger.dtypes[0]))
    found = {**ledger.as_dict(), "verification": verification(), "measured_at": f"{datetime.now(UTC):%Y-%m-%d}"}
    (options.out / "worker.json").write_text(json.dumps(found, indent=1) + "\n")
    print(as_markdown(ledger))
    print(json.dumps(found))
    return 0


def verification() -> dict[str, Any]:
    """What the quick verification of the served model says in bf16: rows compared, bits that differ, its control."""
    command = [sys.executable, "-m", "workers.inference.verify", "--quick", "--dtype", "bf16", "--json"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    report = json.loads(said.strip().splitlines()[-1])
    names = ("state", "rows", "differing_rows", "differing_bits", "control_rows", "control_differing_rows", "at")
    return {name: report[name] for name in names}


def measure(ledger: Ledger, checkpoint: Checkpoint, tokenizer: Any, dtype: str, options: argparse.Namespace) -> None:
    """All systems at one dtype."""
    say = lambda text: print(f"{dtype}: {text}", file=sys.stderr, flush=True)  # noqa: E731
    decoders = {
        mode: Decoder(checkpoint.config, checkpoint.weights, operators_for(mode), DTYPES[dtype])
        for mode in ("fast", "invariant")
    }
    reference = transformers_model(DTYPES[dtype])
    batches = options.batch or [1, 2, 4, 8, 16, 32]
    llama_cpp = systems.llama_cpp(max(batches))
    alone: dict[tuple[str, tuple[int, ...]], tuple[int, ...]] = {}
    for batch in batches:
        requests = max(options.requests, batch)
        prompts = workload.prompts(tokenizer, requests)
        say(f"batch {batch}, {requests} requests")
        timings = systems.race(decoders, prompts, batch, options.tokens)
        for mode, timing in timings.items():
            ledger.add(dtype, mode, batch, requests, timing)
            # The smallest batch is measured first; its answers are what the others are held against.
            pairs = list(zip(prompts, timing.answers, strict=True))
            known = [(got, alone.setdefault((mode, tuple(prompt)), got)) for prompt, got in pairs]
            differing = sum(got != first for got, first in known)
            ledger.disagreements.append(Disagreement(dtype, mode, batch, requests, differing))
        static = systems.generate_static_batch(reference, prompts[:batch], options.tokens)
        ledger.add(dtype, "transformers_static", batch, batch, static)
        if llama_cpp is not None:
            ledger.add(dtype, "llama_cpp", batch, batch, llama_cpp(prompts[:batch], options.tokens))
    few = workload.prompts(tokenizer, 2)
    first = ledger.batches(dtype)[0]
    ledger.add(dtype, "transformers_per_request", first, 2, systems.generate_one_by_one(reference, few, options.tokens))
    _marks(ledger, decoders, reference, tokenizer, dtype, options.mark_tokens)
    for batch in ledger.batches(dtype):
        least = 0.9 if batch >= 8 else 0.5 if batch == 1 else None
        if least is not None:
            ledger.mark(dtype, f"invariant / fast at batch {batch}", ledger.ratio(dtype, batch), least=least)
    lost = sum(d.differing for d in ledger.disagreements if d.dtype == dtype and d.system == "invariant")
    ledger.mark(dtype, "invariant answers that differ from alone", lost, most=0)


def _marks(
    ledger: Ledger, decoders: dict[str, Decoder], reference: Any, tokenizer: Any, dtype: str, new_tokens: int
) -> None:
    """16 concurrent requests against ``transformers``, and the wait of a newcomer."""
    prompts = workload.prompts(tokenizer, 16)
    invariant = {"invariant": decoders["invariant"]}
    # Twice, around the others, so that a change of the machine's load meets all of them.
    rounds = [systems.race(invariant, prompts, 16, new_tokens)["invariant"]]
    static = systems.generate_static_batch(reference, prompts, new_tokens)
    single = systems.generate_one_by_one(reference, prompts[:2], new_tokens)
    rounds.append(systems.race(invariant, prompts, 16, new_tokens)["invariant"])
    ours = sum(timing.tokens for timing in rounds) / sum(timing.cpu_seconds for timing in rounds)
    name = f"16 requests x {new_tokens} tokens, invariant / transformers"
    ledger.mark(dtype, f"{name} per request", ours / single.tokens_per_cpu_s, least=8)
    ledger.mark(dtype, f"{name} static batch", ours / static.tokens_per_cpu_s, least=1.2)
    waited = systems.first_token_in_steps(decoders["invariant"], prompts)
    ledger.mark(dtype, "first token of a newcomer beside 15, in decode steps", waited, most=3)


if __name__ == "__main__":
    restart_with_huge_pages()  # as the worker does; every system here has its weights in the same memory
    sys.exit(main())
