"""``python -m kernels.verify``: does any operation let a batch reach a row's bits?

Every claim compares the bits of every row with the same row computed in another company. A control runs the same
comparison on stock PyTorch; where even that shows no difference, a pass would prove nothing and the report says so.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

import torch
import torch.nn.functional as F  # noqa: N812

from kernels.attention_check import verify_attention
from kernels.embedding import embed
from kernels.linear import TiledLinear
from kernels.report import Check, Report
from kernels.rms_norm import rms_norm
from kernels.rotary import rotary_tables, rotate
from kernels.sampling import sample
from kernels.silu_gate import silu_gate
from kernels.softmax import log_softmax, softmax

DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}
THRESHOLDS = (1, 2, 3, 4, 8, 9, 16, 17, 31, 32, 33, 64, 255, 256, 257)
"""Numbers of rows at which libraries are known to change their kernel."""

SHAPES = ((576, 576), (960, 576), (3072, 576), (576, 1536), (1024, 4096))
QUICK_SHAPES = ((960, 576), (576, 1536), (256, 4096))

RowOperation = Callable[[torch.Tensor], torch.Tensor]


def verify(dtypes: Sequence[str], device: torch.device, *, quick: bool = False) -> Report:
    """Check every operation. Inputs are random with a fixed seed."""
    report = Report("kernels", str(device))
    clock = time.perf_counter()
    generator = torch.Generator().manual_seed(20260117)
    thresholds = (1, 3, 9, 17, 64) if quick else THRESHOLDS
    for name in dtypes:
        dtype = DTYPES[name]

        def draw(*shape: int, dtype: torch.dtype = dtype) -> torch.Tensor:
            return torch.randn(*shape, generator=generator).to(device, dtype)

        for out_features, in_features in QUICK_SHAPES if quick else SHAPES:
            weight = draw(out_features, in_features)
            x = draw(max(thresholds), in_features)
            subject = f"linear {in_features}->{out_features}"
            _verify_rows(report, subject, name, x, thresholds, TiledLinear(weight))
            stock = report.check(subject, "stock F.linear over batch sizes", name, control=True)
            _compare_sizes(stock, x, thresholds, partial(F.linear, weight=weight))
        for width in (576,) if quick else (576, 1000, 4096):
            norm_weight, x = draw(width), draw(max(thresholds), width)
            _verify_rows(
                report, f"rms_norm {width}", name, x, thresholds, partial(rms_norm, weight=norm_weight, eps=1e-5)
            )
        for width in (1536,) if quick else (1536, 4864):
            _verify_rows(report, f"silu_gate {width}", name, draw(max(thresholds), 2 * width), thresholds, silu_gate)
        for width in (1000,) if quick else (1000, 49_152):
            few = tuple(size for size in thresholds if size <= 64)
            for operation in (softmax, log_softmax):
                subject = f"{operation.__name__} {width}"
                _verify_rows(report, subject, name, draw(max(few), width), few, operation)
        _verify_rotary(report, name, thresholds, device, draw(max(thresholds), 12, 64))
        _verify_embedding(report, name, thresholds, draw(1000, 576))
        verify_attention(report, name, dtype, device, quick=quick)
    _verify_sampling(report, dtypes[0], generator)
    report.seconds = time.perf_counter() - clock
    return report


def _verify_rows(
    report: Report, subject: str, dtype: str, x: torch.Tensor, sizes: Sequence[int], operation: RowOperation
) -> None:
    """Batch sizes, row positions and neighbours of an operation on rows."""
    _compare_sizes(report.check(subject, "batch sizes", dtype), x, sizes, operation)
    everything = operation(x)
    moved = report.check(subject, "row positions", dtype)
    for shift in (1, 7, 13):
        order = torch.roll(torch.arange(len(x)), shift).to(x.device)
        moved.compare(operation(x[order]), everything[order])
    neighbours = report.check(subject, "other neighbours", dtype)
    other = x.flip(0) * 3 + 1
    for row in (0, len(x) // 2, len(x) - 1):
        other[row] = x[row]
        neighbours.compare(operation(other)[row : row + 1], everything[row : row + 1])


def _compare_sizes(check: Check, x: torch.Tensor, sizes: Sequence[int], operation: RowOperation) -> None:
    everything = operation(x)
    for size in sizes:
        check.compare(operation(x[:size].contiguous()), everything[:size])


def _verify_rotary(report: Report, dtype: str, sizes: Sequence[int], device: torch.device, heads: torch.Tensor) -> None:
    frequencies = 1.0 / 10_000.0 ** (torch.arange(0, 64, 2) / 64)
    cos, sin = (table.to(device) for table in rotary_tables(frequencies, max(sizes), heads.dtype))
    check = report.check("rotary 64", "batch sizes", dtype)
    everything = rotate(heads, cos, sin)
    for size in sizes:
        check.compare(rotate(heads[:size], cos[:size], sin[:size]), everything[:size])


def _verify_embedding(report: Report, dtype: str, sizes: Sequence[int], table: torch.Tensor) -> None:
    ids = torch.arange(max(sizes), device=table.device) * 7 % len(table)
    check = report.check("embedding 576", "batch sizes", dtype)
    for size in sizes:
        check.compare(embed(ids[:size], table), embed(ids, table)[:size])


def _verify_sampling(report: Report, dtype: str, generator: torch.Generator) -> None:
    """A token id must keep its noise when others change rank around it, and the order of calls must not matter."""
    rows = torch.randn(24, 1000, generator=generator).numpy() * 3

    def draw(row: int) -> int:
        return sample(rows[row], temperature=0.8, top_p=0.95, top_k=200, seed=11, position=row)

    forward = torch.tensor([[draw(row)] for row in range(24)])
    backward = torch.tensor([[draw(row)] for row in reversed(range(24))]).flip(0)
    report.check("sampling", "order of rows", dtype).compare(backward, forward)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m kernels.verify", description="Compare bits over batches.")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--dtype", action="append", choices=sorted(DTYPES), help="repeat for several; default all")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="fewer shapes and sizes")
    parser.add_argument("--json", action="store_true", help="print the report as one JSON document")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    report = verify(options.dtype or sorted(DTYPES), torch.device(options.device), quick=options.quick)
    print(json.dumps(report.as_dict()) if options.json else report.as_table())
    return report.exit_status


if __name__ == "__main__":
    sys.exit(main())
