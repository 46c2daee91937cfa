"""Causal attention over paged keys and values, for any mix of prefill chunks and decodes."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812

from kernels.attention_plan import AnyPlan, AttentionCall, AttentionPlan


def write_pages(pages: torch.Tensor, slots: torch.Tensor, rows: torch.Tensor) -> None:
    """Put keys or values ``rows`` [M, Hkv, D] at token ``slots`` [M] of ``pages`` [P, page, Hkv, D].

    Called before :func:`attend`, so a token finds cached and current keys in the same layout however its sequence was
    chunked.
    """
    pages.view(-1, *pages.shape[2:]).index_copy_(0, slots, rows)


def attend(q: torch.Tensor, k_pages: torch.Tensor, v_pages: torch.Tensor, plan: AnyPlan) -> torch.Tensor:
    """Attention output of each row: [M, Hq, D] -> [M, Hq * D].

    Every query tile is one work item of torch's fused attention, [size * group, D] against [extent, D] per key head,
    with online softmax in float32. The kernel loops over items and reduces inside one; items in a call and positions in
    a tile are all that the batch chooses. Keys past the causal limit carry a score of -inf, hence an exact weight of 0,
    and add exactly nothing.
    """
    if not isinstance(plan, AttentionPlan):
        from kernels.triton.attention import attend_paged

        return attend_paged(q, k_pages, v_pages, plan)
    rows, heads, width = q.shape
    kv_heads = k_pages.shape[2]
    group = heads // kv_heads
    tiled = q if plan.sources is None else q.index_select(0, plan.sources)
    outputs = []
    for call in plan.calls:
        part = tiled[call.first : call.first + call.items * call.size]
        tiles = part.view(call.items, call.size, kv_heads, group, width).transpose(1, 2)
        attended = F.scaled_dot_product_attention(
            tiles.reshape(call.items, kv_heads, call.size * group, width),
            _gather(k_pages, call),
            _gather(v_pages, call),
            attn_mask=call.mask,
        )
        outputs.append(attended.transpose(1, 2).reshape(call.items * call.size, group, kv_heads, width))
    joined = outputs[0] if len(outputs) == 1 else torch.cat(outputs)
    by_row = joined if plan.places is None else joined.index_select(0, plan.places)
    return by_row.transpose(1, 2).reshape(rows, heads * width)


def _gather(pages: torch.Tensor, call: AttentionCall) -> torch.Tensor:
    """Pages of a call as [items, Hkv, extent, D]; a sequence with several tiles is gathered once."""
    dense = pages.index_select(0, call.pages).view(call.owners, call.extent, *pages.shape[2:]).transpose(1, 2)
    return dense.expand(call.items, -1, -1, -1) if call.owners != call.items else dense
