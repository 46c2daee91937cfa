"""Numbers of rows at which a weight may be multiplied with one and the same result.

One size is the base: every row's bits are defined as those of a call with that many rows. Other sizes are cheaper for
smaller or larger batches, and a library may well sum over K in the same order there. Whether it does is not promised
anywhere, so it is tried on each shape when a weight is loaded, and a size that differs in a single bit is not used.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812

from kernels.prepack import PackedWeight, backend

SIZES = (8, 16, 32, 48, 64, 128, 256)

Packing = Callable[[torch.Tensor, int], PackedWeight]

_known: dict[tuple[object, ...], tuple[int, ...]] = {}


def equal_sizes(
    out_features: int, in_features: int, dtype: torch.dtype, base: int, packing: Packing
) -> tuple[int, ...]:
    """The sizes, ascending and with ``base`` among them, at which a weight [N, K] gives the base's bits.

    A call's order of summation follows from its shape, dtype and kind of packing, so the answer is kept per such key.
    """
    key = (backend(), out_features, in_features, dtype, base, torch.get_num_threads())
    if key not in _known:
        x, weight = _cancelling(out_features, in_features, dtype)
        packed = packing(weight, base)
        expected = _in_calls_of(packed, x, base)
        same = {size for size in SIZES if size != base and torch.equal(_in_calls_of(packed, x, size), expected)}
        _known[key] = tuple(sorted(same | {base}))
    return _known[key]


def next_call(remaining: int, sizes: tuple[int, ...]) -> int:
    """Rows of the next call when ``remaining`` rows are left.

    The smallest size that holds them, unless half of it would be padding; then the largest that they fill.
    """
    enough = next((size for size in sizes if size >= remaining), None)
    filled = [size for size in sizes if size <= remaining]
    if enough is not None and (not filled or 2 * remaining > enough):
        return enough
    return filled[-1]


def _cancelling(out_features: int, in_features: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows [256, K] and a weight [N, K] whose every product is 0 in exact arithmetic.

    Each term meets its negative somewhere else along K, so a result is nothing but the rounding errors of its partial
    sums: another order shows in nearly every output. Plain random numbers would not do, since rounding a sum of some
    size to bf16 hides what happened in its last bits.
    """
    generator = torch.Generator().manual_seed(91)
    half = in_features // 2
    x = torch.randn(max(SIZES), half, generator=generator)
    weight = torch.randn(out_features, half, generator=generator)
    order = torch.randperm(half, generator=generator)
    rest = in_features - 2 * half
    x_all = torch.cat((x, -x[:, order], x.new_zeros(len(x), rest)), 1)
    weight_all = torch.cat((weight, weight[:, order], weight.new_zeros(out_features, rest)), 1)
    return x_all.to(dtype), weight_all.to(dtype)


def _in_calls_of(packed: PackedWeight, x: torch.Tensor, rows: int) -> torch.Tensor:
    """``x`` multiplied ``rows`` at a time, the last call filled up with zeros as a layer does it."""
    padded = F.pad(x, (0, 0, 0, -len(x) % rows))
    return torch.cat([packed.multiply(part, None) for part in torch.split(padded, rows)])[: len(x)]
