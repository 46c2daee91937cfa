"""Paged attention on CUDA: keys split by a fixed size, partial results joined in ascending order."""

# Triton reads its own annotations: a kernel's arguments are pointers and scalars without Python types.
# mypy: disable-error-code="no-untyped-def,untyped-decorator"
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
import triton
import triton.language as tl

from kernels.errors import UnsupportedShapeError
from kernels.tiles import KV_TILE
from kernels.triton.interpreter import interpreting

if TYPE_CHECKING:
    from kernels.attention_plan import Segment

QUERY_TILE = 2
"""Consecutive positions of one sequence that share a program. A row's place in its tile is position % 2."""

SPLIT = 256
"""Keys per split. A fixed *size*: a fixed number of splits would follow the longest sequence of the batch."""


@dataclass(frozen=True, slots=True)
class PagedPlan:
    """One step's query tiles.

    ``splits`` bounds the grid; programs beyond a tile's own last split return at once.
    """

    pages: torch.Tensor  # int32 [tiles, P]
    positions: torch.Tensor  # int32 [tiles], the first position of each tile
    tile_rows: torch.Tensor  # int64 [M]
    tiles: int
    splits: int


def plan_paged(segments: Sequence[Segment], device: torch.device) -> PagedPlan:
    """Query tiles aligned to absolute position, each with its own page table."""
    tables: list[Sequence[int]] = []
    positions: list[int] = []
    tile_rows: list[int] = []
    for segment in segments:
        first = segment.start // QUERY_TILE
        for position in range(segment.start, segment.start + segment.count):
            tile, offset = divmod(position, QUERY_TILE)
            tile_rows.append((len(tables) + tile - first) * QUERY_TILE + offset)
        last = (segment.start + segment.count - 1) // QUERY_TILE
        tables += [segment.pages] * (last - first + 1)
        positions += [tile * QUERY_TILE for tile in range(first, last + 1)]
    pages = np.zeros((len(tables), max(map(len, tables), default=0)), dtype=np.int32)
    for index, table in enumerate(tables):
        pages[index, : len(table)] = table
    splits = (max(positions, default=0) + QUERY_TILE - 1) // SPLIT + 1
    return PagedPlan(
        torch.from_numpy(pages).to(device),
        torch.tensor(positions, dtype=torch.int32, device=device),
        torch.tensor(tile_rows, device=device),
        len(tables),
        splits,
    )


@triton.jit
def _attend_split(
    q_ptr, k_ptr, v_ptr, pages_ptr, positions_ptr, sums_ptr, best_ptr, mass_ptr, scale, table_width, splits,
    KV_HEADS: tl.constexpr, GROUP: tl.constexpr, WIDTH: tl.constexpr, PAGE: tl.constexpr,
    TOKENS: tl.constexpr, ROWS: tl.constexpr, KV_BLOCK: tl.constexpr, SPLIT_SIZE: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    tile, head, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    first = tl.load(positions_ptr + tile)
    begin = split * SPLIT_SIZE
    # A tile is aligned and splits are whole tiles, so a split that begins at or before the tile has a visible key for
    # each of its rows: the running maximum is finite after the first block.
    if begin > first:
        return
    rows = tl.arange(0, ROWS)
    token, member = rows // GROUP, rows % GROUP
    real = rows < TOKENS * GROUP
    width = tl.arange(0, WIDTH)
    q_rows = (tile * TOKENS + token) * (KV_HEADS * GROUP) + head * GROUP + member
    q = tl.load(q_ptr + q_rows[:, None].to(tl.int64) * WIDTH + width[None, :], mask=real[:, None], other=0.0)
    best = tl.full((ROWS,), float("-inf"), tl.float32)
    mass = tl.zeros((ROWS,), tl.float32)
    sums = tl.zeros((ROWS, WIDTH), tl.float32)
    stop = tl.minimum(begin + SPLIT_SIZE, first + TOKENS)
    for start in range(begin, stop, KV_BLOCK):
        keys = start + tl.arange(0, KV_BLOCK)
        page = tl.load(pages_ptr + tile * table_width + keys // PAGE, mask=keys // PAGE < table_width, other=0)
        slots = ((page.to(tl.int64) * PAGE + keys % PAGE) * KV_HEADS + head) * WIDTH
        k = tl.load(k_ptr + slots[None, :] + width[:, None])
        v = tl.load(v_ptr + slots[:, None] + width[None, :])
        if WIDE:
            scores = tl.dot(q.to(tl.float32), k.to(tl.float32), input_precision="ieee") * scale
        else:
            scores = tl.dot(q, k, input_precision="ieee") * scale
        visible = keys[None, :] <= (first + token)[:, None]
        scores = tl.where(visible, scores, float("-inf"))
        top = tl.maximum(best, tl.max(scores, axis=1))
        weights = tl.exp(scores - top[:, None])
        fade = tl.exp(best - top)
        mass = mass * fade + tl.sum(weights, axis=1)
        if WIDE:
            sums = sums * fade[:, None] + tl.dot(weights, v.to(tl.float32), input_precision="ieee")
        else:
            sums = sums * fade[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")
        best = top
    place = ((tile * KV_HEADS + head) * splits + split) * ROWS + rows
    tl.store(sums_ptr + place[:, None].to(tl.int64) * WIDTH + width[None, :], sums)
    tl.store(best_ptr + place, best)
    tl.store(mass_ptr + place, mass)


@triton.jit
def _join_splits(
    sums_ptr, best_ptr, mass_ptr, positions_ptr, out_ptr, splits,
    KV_HEADS: tl.constexpr, GROUP: tl.constexpr, WIDTH: tl.constexpr,
    TOKENS: tl.constexpr, ROWS: tl.constexpr, SPLIT_SIZE: tl.constexpr,
):  # fmt: skip
    tile, head = tl.program_id(0), tl.program_id(1)
    own_splits = tl.load(positions_ptr + tile) // SPLIT_SIZE + 1
    rows = tl.arange(0, ROWS)
    token, member = rows // GROUP, rows % GROUP
    width = tl.arange(0, WIDTH)
    best = tl.full((ROWS,), float("-inf"), tl.float32)
    mass = tl.zeros((ROWS,), tl.float32)
    sums = tl.zeros((ROWS, WIDTH), tl.float32)
    for split in range(own_splits):
        place = ((tile * KV_HEADS + head) * splits + split) * ROWS + rows
        other_best = tl.load(best_ptr + place)
        top = tl.maximum(best, other_best)
        fade, other_fade = tl.exp(best - top), tl.exp(other_best - top)
        mass = mass * fade + tl.load(mass_ptr + place) * other_fade
        other = tl.load(sums_ptr + place[:, None].to(tl.int64) * WIDTH + width[None, :])
        sums = sums * fade[:, None] + other * other_fade[:, None]
        best = top
    out_rows = (tile * TOKENS + token) * (KV_HEADS * GROUP) + head * GROUP + member
    out = (sums / mass[:, None]).to(out_ptr.dtype.element_ty)
    real = rows < TOKENS * GROUP
    tl.store(out_ptr + out_rows[:, None].to(tl.int64) * WIDTH + width[None, :], out, mask=real[:, None])


def attend_paged(q: torch.Tensor, k_pages: torch.Tensor, v_pages: torch.Tensor, plan: PagedPlan) -> torch.Tensor:
    """As :func:`kernels.attention.attend`: [M, Hq, D] -> [M, Hq * D].

    Raises:
        UnsupportedShapeError: a head's width is not a power of two.
    """
    rows, heads, width = q.shape
    page_size, kv_heads = k_pages.shape[1:3]
    group = heads // kv_heads
    if width != triton.next_power_of_2(width):
        raise UnsupportedShapeError(f"Heads are {width} wide; the CUDA kernel needs a power of two.")
    # At least 16 rows: the smallest operand of a tensor-core product.
    tile_height = max(16, triton.next_power_of_2(QUERY_TILE * group))
    scattered = q.new_zeros(plan.tiles * QUERY_TILE, heads, width)
    scattered.index_copy_(0, plan.tile_rows, q)
    places = plan.tiles * kv_heads * plan.splits * tile_height
    sums = torch.empty(places, width, dtype=torch.float32, device=q.device)
    best, mass = (torch.empty(places, dtype=torch.float32, device=q.device) for _ in range(2))
    shared = {"KV_HEADS": kv_heads, "GROUP": group, "WIDTH": width, "TOKENS": QUERY_TILE, "ROWS": tile_height}
    _attend_split[(plan.tiles, kv_heads, plan.splits)](
        scattered, k_pages, v_pages, plan.pages, plan.positions, sums, best, mass,
        width**-0.5, plan.pages.shape[1], plan.splits,
        PAGE=page_size, KV_BLOCK=KV_TILE, SPLIT_SIZE=SPLIT, WIDE=interpreting(), num_warps=4, num_stages=2, **shared,
    )  # fmt: skip
    out = torch.empty_like(scattered)
    _join_splits[(plan.tiles, kv_heads)](
        sums, best, mass, plan.positions, out, plan.splits, SPLIT_SIZE=SPLIT, num_warps=4, **shared
    )
    return out.index_select(0, plan.tile_rows).view(rows, heads * width)
