"""Which rows attend to which pages, grouped into calls whose shapes depend on positions alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch

from kernels.tiles import KV_TILE, QUERY_TILE

if TYPE_CHECKING:
    from kernels.triton.attention import PagedPlan


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive new tokens of one sequence inside a flat batch.

    ``pages`` holds the page numbers of the sequence from its first token on and must cover ``start + count`` tokens.
    """

    pages: Sequence[int]
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class AttentionCall:
    """``items`` query tiles that all see ``extent`` keys, out of ``owners`` sequences (1, or one per tile)."""

    first: int
    items: int
    owners: int
    extent: int
    pages: torch.Tensor  # int64 [owners * extent / page]
    mask: torch.Tensor  # [items, 1, QUERY_TILE * group, extent], 0 where visible, -inf elsewhere


@dataclass(frozen=True, slots=True)
class AttentionPlan:
    """One step's attention, shared by all layers.

    ``tile_rows`` [M] is the place of each batch row among the ``tiles * QUERY_TILE`` rows of all query tiles.
    """

    calls: list[AttentionCall]
    tile_rows: torch.Tensor
    tiles: int


AnyPlan: TypeAlias = "AttentionPlan | PagedPlan"
"""The CPU's plan, or the CUDA kernel's."""


def plan_attention(
    segments: Sequence[Segment], page_size: int, group: int, dtype: torch.dtype, device: torch.device
) -> AnyPlan:
    """Cut a ragged batch into query tiles and group tiles that see equally many keys.

    A tile is ``QUERY_TILE`` positions of one sequence, aligned to absolute position; it sees ``KV_TILE`` times
    ``position // KV_TILE + 1`` keys, masked to the causal part. Both follow from the position alone, so chunking,
    neighbours and caching cannot reach them; what the batch decides is how many tiles share a call.

    Args:
        segments: in batch order; their counts sum to M.
        page_size: tokens in a page; divides ``KV_TILE``.
        group: query heads per key head.
    """
    if device.type == "cuda":
        from kernels.triton.attention import plan_paged

        return plan_paged(segments, device)
    single: dict[int, list[tuple[Segment, int]]] = defaultdict(list)
    shared: list[tuple[int, Segment, list[int]]] = []
    for segment in segments:
        by_extent: dict[int, list[int]] = defaultdict(list)
        for tile in range(segment.start // QUERY_TILE, (segment.start + segment.count - 1) // QUERY_TILE + 1):
            by_extent[(tile * QUERY_TILE // KV_TILE + 1) * KV_TILE].append(tile)
        for extent, tiles in by_extent.items():
            if len(tiles) == 1:
                single[extent].append((segment, tiles[0]))
            else:
                shared.append((extent, segment, tiles))

    calls: list[AttentionCall] = []
    place: dict[tuple[int, int], int] = {}
    filled = 0
    for extent, pairs in sorted(single.items()):
        for index, (segment, tile) in enumerate(pairs):
            place[id(segment), tile] = filled + index
        pages = np.stack([_page_row(segment, extent // page_size) for segment, _ in pairs])
        mask = _causal_mask([tile for _, tile in pairs], extent, group, dtype, device)
        calls.append(AttentionCall(filled, len(pairs), len(pairs), extent, _indices(pages, device), mask))
        filled += len(pairs)
    for extent, segment, tiles in shared:
        for index, tile in enumerate(tiles):
            place[id(segment), tile] = filled + index
        pages = _page_row(segment, extent // page_size)
        mask = _causal_mask(tiles, extent, group, dtype, device)
        calls.append(AttentionCall(filled, len(tiles), 1, extent, _indices(pages, device), mask))
        filled += len(tiles)

    tile_rows = np.zeros(sum(segment.count for segment in segments), dtype=np.int64)
    row = 0
    for segment in segments:
        for position in range(segment.start, segment.start + segment.count):
            tile, offset = divmod(position, QUERY_TILE)
            tile_rows[row] = place[id(segment), tile] * QUERY_TILE + offset
            row += 1
    return AttentionPlan(calls, _indices(tile_rows, device), filled)


def _page_row(segment: Segment, count: int) -> np.ndarray:
    """The first ``count`` pages, filled up with page 0, whose keys the mask hides."""
    row = np.zeros(count, dtype=np.int64)
    known = segment.pages[:count]
    row[: len(known)] = known
    return row


def _causal_mask(tiles: list[int], extent: int, group: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    position = np.asarray(tiles)[:, None] * QUERY_TILE + np.arange(QUERY_TILE)
    hidden = np.arange(extent) > position[:, :, None]  # [items, QUERY_TILE, extent]
    mask = np.where(hidden, -np.inf, 0.0).astype(np.float32).repeat(group, axis=1)
    return torch.from_numpy(mask)[:, None].to(device, dtype)


def _indices(values: np.ndarray, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(values.reshape(-1)).to(device)
