"""``python -m workers.inference.verify``: is a request's every logit the same in any company?

The reference is each sequence scored alone, in one piece. Everything else (batches, chunks, prefixes, preemptions,
decoding) must give the same bits at the same positions. The control runs the same comparison on stock operators.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence as Items
from dataclasses import dataclass

import torch

from kernels.report import Check, Report
from workers.inference.checkpoints.checkpoint import Checkpoint, load_checkpoint
from workers.inference.engine.engine import PAGE_SIZE
from workers.inference.engine.sequence import Sequence
from workers.inference.models.decoder import Decoder
from workers.inference.operators.operators import operators_for
from workers.inference.recorder import RecordingEngine, score_alone

DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}
STEP_ROWS = (1, 2, 3, 4, 8, 9, 16, 17, 64, 255, 256, 257)


@dataclass(frozen=True, slots=True)
class Size:
    """How much to compare."""

    sequences: int
    length: int
    new_tokens: int
    batches: tuple[int, ...]
    chunks: tuple[int, ...]
    step_rows: tuple[int, ...]


FULL = Size(12, 90, 12, (1, 2, 3, 4, 8, 9, 16, 17, 33, 64), (1, 3, 5, 16, 17, 64, 100), STEP_ROWS)
QUICK = Size(3, 24, 3, (2,), (11,), (9,))


def verify_model(checkpoint: Checkpoint, decoder: Decoder, dtype: str, *, quick: bool, report: Report) -> None:
    """Check a decoder and run the control against stock operators on the same weights.

    The quick form takes seconds: it is what a worker runs before it serves. Its control uses the first two layers.
    """
    size = QUICK if quick else FULL
    prompts = _prompts(checkpoint.config.vocabulary, size)
    with torch.inference_mode():
        _verify_decoder(decoder, prompts, size, dtype, report)
        stock = Decoder(
            checkpoint.config,
            checkpoint.weights,
            operators_for("fast"),
            decoder.dtype,
            decoder.device,
            2 if quick else None,
        )
        control = report.check("stock model", "batches against alone", dtype, control=True)
        control_prompts = prompts if quick else prompts[:8]
        alone = [score_alone(stock, prompt) for prompt in control_prompts]
        for batch in (2, 4, 8):
            _compare_batch(stock, control_prompts[:batch], alone, 4096, control)
        for rows in (1, 3, 9):
            _compare_batch(stock, _exactly(control_prompts, rows), alone, 4096, control)


def _verify_decoder(decoder: Decoder, prompts: list[list[int]], size: Size, dtype: str, report: Report) -> None:
    def check(claim: str) -> Check:
        return report.check("model", claim, dtype)

    # Decoding first: what it generates becomes part of the sequences that everything else scores.
    engine = RecordingEngine(decoder, max_batch=len(prompts), prefix_caching=False)
    decoded = [engine.submit(prompt, size.new_tokens) for prompt in prompts]
    engine.run_to_end()
    sequences = [sequence.token_ids for sequence in decoded]
    alone = [score_alone(decoder, token_ids) for token_ids in sequences]
    _compare_rows(check("decode in a batch = score alone"), engine, decoded, alone)

    batches = check("batch sizes")
    for batch in size.batches:
        _compare_batch(decoder, _fill(sequences, batch), alone, 4096, batches)
    positions = check("row positions")
    for shift in (1, len(sequences) // 2):
        _compare_batch(decoder, sequences[shift:] + sequences[:shift], alone[shift:] + alone[:shift], 4096, positions)
    for chunk in size.chunks:
        _compare_batch(decoder, sequences[:6], alone, chunk, check(f"prefill in steps of {chunk} rows"))
    steps = check("rows of a step")
    for rows in size.step_rows:
        _compare_batch(decoder, _exactly(sequences, rows), alone, 4096, steps)
    grown = check("a neighbour grows by a token")
    for extra in range(9, 12):
        _compare_batch(decoder, [sequences[0], sequences[1][:extra]], alone, 4096, grown)
    _verify_prefix(decoder, sequences, alone, check("warm prefix = cold"))
    _verify_preemption(decoder, prompts[: 2 if size is QUICK else 6], size.new_tokens, check("preempted and resumed"))


def _verify_prefix(decoder: Decoder, sequences: list[list[int]], alone: list[torch.Tensor], check: Check) -> None:
    """The second pass finds its prefix computed by others, in another company."""
    engine = RecordingEngine(decoder, max_batch=len(sequences), prefix_caching=True)
    for token_ids in sequences:
        engine.submit(token_ids, 0, score=False)
    engine.run_to_end()
    warm = [engine.submit(token_ids, 0, score=False) for token_ids in sequences]
    engine.run_to_end()
    if not all(sequence.cached_tokens for sequence in warm):
        raise RuntimeError("No prefix was found in the cache, so nothing was compared.")
    _compare_rows(check, engine, warm, alone)


def _verify_preemption(decoder: Decoder, prompts: list[list[int]], new_tokens: int, check: Check) -> None:
    """Prompts that fill their pages and a cache with one page to spare: the first new token sends someone away."""
    full = [prompt[: len(prompt) // PAGE_SIZE * PAGE_SIZE] for prompt in prompts]
    pages = 2 + sum(len(prompt) // PAGE_SIZE for prompt in full)
    engine = RecordingEngine(decoder, max_batch=len(full), pages=pages, prefix_caching=False)
    sequences = [engine.submit(prompt, new_tokens) for prompt in full]
    engine.run_to_end()
    if not engine.scheduler.preemptions:
        raise RuntimeError("Nothing was preempted, so nothing was compared.")
    _compare_rows(check, engine, sequences, [score_alone(decoder, sequence.token_ids) for sequence in sequences])


def _compare_batch(
    decoder: Decoder, sequences: Items[list[int]], alone: Items[torch.Tensor], step_rows: int, check: Check
) -> None:
    """Score all at once. ``sequences[i]`` is a beginning of the sequence behind ``alone[i % len(alone)]``."""
    engine = RecordingEngine(decoder, max_batch=len(sequences), max_step_tokens=step_rows, prefix_caching=False)
    engine.scheduler.max_step_tokens = step_rows
    submitted = [engine.submit(token_ids, 0) for token_ids in sequences]
    engine.run_to_end()
    _compare_rows(check, engine, submitted, alone)


def _compare_rows(
    check: Check, engine: RecordingEngine, sequences: Items[Sequence], alone: Items[torch.Tensor]
) -> None:
    for index, sequence in enumerate(sequences):
        expected = alone[index % len(alone)]
        for place, row in engine.rows[sequence.number].items():
            check.compare(row[None], expected[place : place + 1])


def _prompts(vocabulary: int, size: Size) -> list[list[int]]:
    """Token ids, never text: encoding a decoded text need not give the same ids. Lengths are all different."""
    generator = torch.Generator().manual_seed(17)
    lengths = [max(size.length - 7 * index % size.length, 17 + index) for index in range(size.sequences)]
    return [torch.randint(vocabulary, (length,), generator=generator).tolist() for length in lengths]


def _fill(sequences: list[list[int]], batch: int) -> list[list[int]]:
    """``batch`` sequences; the more, the shorter each."""
    longest = max(4, 512 // batch)
    return [sequences[index % len(sequences)][:longest] for index in range(batch)]


def _exactly(sequences: list[list[int]], rows: int) -> list[list[int]]:
    """Beginnings of sequences that add up to ``rows`` tokens."""
    parts: list[list[int]] = []
    while rows:
        source = sequences[len(parts) % len(sequences)]
        parts.append(source[: min(rows, len(source))])
        rows -= len(parts[-1])
    return parts


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m workers.inference.verify", description="Compare logits bit by bit."
    )
    parser.add_argument("--model", default="bundled", help="'bundled', a Hugging Face folder or a .gguf file")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--dtype", action="append", choices=sorted(DTYPES), help="repeat for several; default all")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="what the worker runs at its start")
    parser.add_argument("--json", action="store_true", help="print the report as one JSON document")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    checkpoint = load_checkpoint(options.model)
    device = torch.device(options.device)
    report = Report(checkpoint.name, options.device)
    clock = time.perf_counter()
    for dtype in options.dtype or sorted(DTYPES):
        decoder = Decoder(checkpoint.config, checkpoint.weights, operators_for("invariant"), DTYPES[dtype], device)
        verify_model(checkpoint, decoder, dtype, quick=options.quick, report=report)
    report.seconds = time.perf_counter() - clock
    print(json.dumps(report.as_dict()) if options.json else report.as_table())
    return report.exit_status


if __name__ == "__main__":
    sys.exit(main())
