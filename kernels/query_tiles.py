"""Numbers of query positions that may share an attention call with one and the same result.

The base is the tile that a decoding row brings: every row's bits are defined as those of a call with it. Prompts bring
many positions at once and are far cheaper in large tiles. Whether torch's fused attention takes its sums in the same
order there is promised nowhere, so it is tried before a size is used, and one that differs in a single bit is not.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812

from kernels.tiles import KV_TILE

BASES = (1, 2, 4)
SIZES = (8, 16, 32, 64)
PLACES = (0, 1, 2, 3, KV_TILE - 4, KV_TILE - 3, KV_TILE - 2, KV_TILE - 1)
"""Positions that are compared: a long extent would take seconds with all of them, and an order shows in any."""

_known: dict[tuple[object, ...], tuple[int, ...]] = {}


def equal_sizes(extent: int, group: int, width: int, dtype: torch.dtype) -> tuple[int, ...]:
    """The sizes, ascending and the base first, whose rows agree in every bit.

    The base is the smallest with which all of :data:`SIZES` agree, since a library may multiply very few rows by other
    code (fp32 MKL: {1}, {2}, {3 and more}); where there is none it is 1 and what agrees with that goes with it.

    Args:
        extent: keys that are attended; with the shape of a head it decides the library's blocking.
        group: query heads per key head.
        width: of a head.
    """
    key = (extent, group, width, dtype, torch.get_num_threads())
    if key not in _known:
        answers = {size: _answers(size, extent, group, width, dtype) for size in BASES + SIZES}
        found = [(base, *(size for size in SIZES if torch.equal(answers[size], answers[base]))) for base in BASES]
        _known[key] = max(found, key=len)
    return _known[key]


def tile_for(positions: int, sizes: tuple[int, ...]) -> int:
    """The smallest size that holds so many positions, or the largest there is."""
    return next((size for size in sizes if size >= positions), sizes[-1])


@torch.inference_mode()
def _answers(size: int, extent: int, group: int, width: int, dtype: torch.dtype) -> torch.Tensor:
    """The rows of :data:`PLACES`, attended in tiles of ``size`` positions: [2 probes, rows, width].

    Two probes, since one sum would hide the other. In the first, queries meet keys in huge terms that cancel, so that
    each score is its own rounding error times a weight in exp. In the second all weights are alike and the values
    cancel, so that the output is nothing but the rounding errors of its sum.
    """
    generator = torch.Generator().manual_seed(47)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(1, 1, *shape, generator=generator)

    half = width // 2
    order = torch.randperm(half, generator=generator)
    q, k, v = draw(KV_TILE * group, half) * 3000, draw(extent, half) * 3000, draw(extent, width)
    queries = F.pad(torch.cat((q, -q[..., order]), -1), (0, width - 2 * half)).to(dtype)
    keys = F.pad(torch.cat((k, k[..., order]), -1), (0, width - 2 * half)).to(dtype)
    places = torch.randperm(extent // 2, generator=generator)
    cancelling = torch.cat((v[..., : extent // 2, :], -v[..., places, :]), -2).to(dtype)
    found: list[torch.Tensor] = []
    for asked, values, causal in ((queries, v.to(dtype), True), (torch.zeros_like(queries), cancelling, False)):
        for start in sorted({place // size * size for place in PLACES}):
            position = torch.arange(extent - KV_TILE + start, extent - KV_TILE + start + size).repeat_interleave(group)
            hidden = (torch.arange(extent) > position[:, None]) & causal
            mask = torch.zeros(hidden.shape, dtype=dtype).masked_fill_(hidden, float("-inf"))
            tile = asked[:, :, start * group : (start + size) * group]
            rows = F.scaled_dot_product_attention(tile, keys, values, attn_mask=mask[None, None])[0, 0]
            found += [rows[(p - start) * group :][:group] for p in PLACES if start <= p < start + size]
    return torch.stack(found).view(2, -1, width)
