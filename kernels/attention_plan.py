"""Which rows attend to which pages, grouped into calls whose shapes depend on positions alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch

from kernels.query_tiles import equal_sizes, tile_for
from kernels.tiles import KV_TILE

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
class Tile:
    """``count`` positions of a segment from position ``start`` on, which are rows ``row``... of the batch."""

    segment: Segment
    start: int
    count: int
    row: int


@dataclass(frozen=True, slots=True)
class AttentionCall:
    """``items`` tiles of ``size`` positions that all see ``extent`` keys, out of ``owners`` sequences (1, or one each).

    ``first`` is the call's first row among those of all tiles.
    """

    first: int
    items: int
    size: int
    owners: int
    extent: int
    pages: torch.Tensor  # int64 [owners * extent / page]
    mask: torch.Tensor  # [items, 1, size * group, extent], 0 where visible, -inf elsewhere


@dataclass(frozen=True, slots=True)
class AttentionPlan:
    """One step's attention, shared by all layers.

    ``sources`` is the batch row in each row of the tiles (a tile's spare rows repeat row 0, and nobody reads them);
    ``places`` [M] is where each batch row went. Both are None when the tiles hold the batch as it is.
    """

    calls: list[AttentionCall]
    sources: torch.Tensor | None
    places: torch.Tensor | None


AnyPlan: TypeAlias = "AttentionPlan | PagedPlan"
"""The CPU's plan, or the CUDA kernel's."""


def plan_attention(
    segments: Sequence[Segment], page_size: int, group: int, width: int, dtype: torch.dtype, device: torch.device
) -> AnyPlan:
    """Cut a ragged batch into query tiles and group tiles that see equally many keys.

    A row sees ``KV_TILE`` times ``position // KV_TILE + 1`` keys, masked to the causal part: its own position decides.
    What chunks and neighbours decide is how many positions share a tile and how many tiles a call, out of the sizes
    that were found to give the same bits (:func:`kernels.query_tiles.equal_sizes`).

    Args:
        segments: in batch order; their counts sum to M.
        page_size: tokens in a page; divides ``KV_TILE``.
        group: query heads per key head.
        width: of a head.
    """
    if device.type == "cuda":
        from kernels.triton.attention import plan_paged

        return plan_paged(segments, device)
    together: dict[tuple[int, int], list[Tile]] = defaultdict(list)
    apart: list[tuple[int, int, list[Tile]]] = []
    row = 0
    for segment in segments:
        start, end = segment.start, segment.start + segment.count
        while start < end:
            extent = (start // KV_TILE + 1) * KV_TILE
            stop = min(end, extent)
            size = tile_for(stop - start, equal_sizes(extent, group, width, dtype))
            tiles = [
                Tile(segment, first, min(size, stop - first), row + first - start) for first in range(start, stop, size)
            ]
            if len(tiles) == 1:
                together[extent, size] += tiles
            else:
                apart.append((extent, size, tiles))
            row += stop - start
            start = stop

    calls: list[AttentionCall] = []
    sources: list[np.ndarray] = []
    places = np.zeros(row, dtype=np.int64)
    filled = 0
    grouped = [(extent, size, tiles, len(tiles)) for (extent, size), tiles in sorted(together.items())]
    for extent, size, tiles, owners in grouped + [(*call, 1) for call in apart]:
        pages = np.stack([_page_row(tile.segment, extent // page_size) for tile in tiles[:owners]])
        mask = _causal_mask([tile.start for tile in tiles], size, extent, group, dtype, device)
        calls.append(AttentionCall(filled, len(tiles), size, owners, extent, _indices(pages, device), mask))
        for tile in tiles:
            rows = np.zeros(size, dtype=np.int64)
            rows[: tile.count] = np.arange(tile.row, tile.row + tile.count)
            sources.append(rows)
            places[tile.row : tile.row + tile.count] = np.arange(filled, filled + tile.count)
            filled += size
    if filled == row and np.array_equal(places, np.arange(row)):
        return AttentionPlan(calls, None, None)
    return AttentionPlan(calls, _indices(np.concatenate(sources), device), _indices(places, device))


def _page_row(segment: Segment, count: int) -> np.ndarray:
    """The first ``count`` pages, filled up with page 0, whose keys the mask hides."""
    row = np.zeros(count, dtype=np.int64)
    known = segment.pages[:count]
    row[: len(known)] = known
    return row


def _causal_mask(
    starts: list[int], size: int, extent: int, group: int, dtype: torch.dtype, device: torch.device
) -> torch.Tensor:
    position = np.asarray(starts)[:, None] + np.arange(size)
    hidden = np.arange(extent) > position[:, :, None]  # [items, size, extent]
    mask = np.where(hidden, -np.inf, 0.0).astype(np.float32).repeat(group, axis=1)
    return torch.from_numpy(mask)[:, None].to(device, dtype)


def _indices(values: np.ndarray, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(values.reshape(-1)).to(device)
