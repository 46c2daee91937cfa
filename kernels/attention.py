"""Causal attention over paged keys and values, for any mix of prefill chunks and decodes."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812

from kernels.attention_plan import AnyPlan, AttentionCall, AttentionPlan
from kernels.tiles import QUERY_TILE


def write_pages(pages: torch.Tensor, slots: torch.Tensor, rows: torch.Tensor) -> None:
    """Put keys or values ``rows`` [M, Hkv, D] at token ``slots`` [M] of ``pages`` [P, page, Hkv, D].

    Called before :func:`attend`, so a token finds cached and current keys in the same layout however its sequence was
    chunked.
    """
    pages.view(-1, *pages.shape[2:]).index_copy_(0, slots, rows)


def attend(q: torch.Tensor, k_pages: torch.Tensor, v_pages: torch.Tensor, plan: AnyPlan) -> torch.Tensor:
    """Attention output of each row: [M, Hq, D] -> [M, Hq * D].

    Every query tile is one work item of torch's fused attention, [QUERY_TILE * group, D] against [extent, D] per key
    head, with online softmax in float32. The kernel loops over items and reduces inside one; the number of items in a
    call is the only thing the batch chooses. Keys past the causal limit carry a score of -inf, hence an exact weight of
    0, and add exactly nothing.
    """
    if not isinstance(plan, AttentionPlan):
        from kernels.triton.attention import attend_paged

        return attend_paged(q, k_pages, v_pages, plan)
    rows, heads, width = q.shape
    kv_heads = k_pages.shape[2]
    group = heads // kv_heads
    # Query tiles [tiles, Hkv, QUERY_TILE * group, D]; rows of a tile that are not in the batch stay zero.
    scattered = q.new_zeros(plan.tiles * QUERY_TILE, heads, width)
    scattered.index_copy_(0, plan.tile_rows, q)
    tiles = scattered.view(plan.tiles, QUERY_TILE, kv_heads, group, width).transpose(1, 2)
    tiles = tiles.reshape(plan.tiles, kv_heads, QUERY_TILE * group, width)
    outputs = [
        F.scaled_dot_product_attention(
            tiles[call.first : call.first + call.items],
            _gather(k_pages, call),
            _gather(v_pages, call),
            attn_mask=call.mask,
        ).transpose(1, 2)
        for call in plan.calls
    ]
    joined = outputs[0] if len(outputs) == 1 else torch.cat(outputs)  # [tiles, QUERY_TILE * group, Hkv, D]
    by_row = joined.reshape(plan.tiles * QUERY_TILE, group, kv_heads, width).index_select(0, plan.tile_rows)
    return by_row.transpose(1, 2).reshape(rows, heads * width)


def _gather(pages: torch.Tensor, call: AttentionCall) -> torch.Tensor:
    """Pages of a call as [items, Hkv, extent, D]; a sequence with several tiles is gathered once."""
    dense = pages.index_select(0, call.pages).view(call.owners, call.extent, *pages.shape[2:]).transpose(1, 2)
    return dense.expand(call.items, -1, -1, -1) if call.owners != call.items else dense
