"""Stock PyTorch, batched for speed by someone who does not think of invariance.

One ``F.linear`` over the whole flat batch, one fused attention call for all decodes padded to the longest, one per
prefill chunk. No step is slowed or disturbed; what varies with the batch is what the libraries make vary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

from kernels.attention_plan import Segment
from workers.inference.operators.operators import Linear


@dataclass(frozen=True, slots=True)
class DecodeCall:
    """All sequences that add one token, padded to the longest."""

    rows: torch.Tensor  # int64 [B]
    pages: torch.Tensor  # int64 [B * P]
    mask: torch.Tensor  # [B, 1, 1, P * page]


@dataclass(frozen=True, slots=True)
class PrefillCall:
    """One sequence's chunk."""

    first: int
    count: int
    pages: torch.Tensor  # int64 [P]
    length: int
    mask: torch.Tensor | None  # [count * group, length]; None when nothing is cached: plain causal


@dataclass(frozen=True, slots=True)
class StockPlan:
    decode: DecodeCall | None
    prefills: list[PrefillCall]


class StockOperators:
    """What ``torch`` offers, as it comes."""

    mode = "fast"

    def linear(self, weight: torch.Tensor, bias: torch.Tensor | None) -> Linear:
        return partial(F.linear, weight=weight, bias=bias)

    def rms_norm(self, x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, eps)

    def rotate(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        return torch.addcmul(x * cos, torch.roll(x, x.shape[-1] // 2, -1), sin)

    def silu_gate(self, gate_up: torch.Tensor) -> torch.Tensor:
        gate, up = gate_up.chunk(2, -1)
        return F.silu(gate) * up

    def log_softmax(self, logits: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(logits.float(), -1)

    def plan(
        self,
        segments: Sequence[Segment],
        page_size: int,
        group: int,
        width: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> StockPlan:
        decode_rows: list[int] = []
        decodes: list[Segment] = []
        prefills: list[PrefillCall] = []
        row = 0
        for segment in segments:
            if segment.count == 1:
                decode_rows.append(row)
                decodes.append(segment)
            else:
                prefills.append(_prefill(segment, row, page_size, group, dtype, device))
            row += segment.count
        decode = _decode(decodes, decode_rows, page_size, dtype, device) if decodes else None
        return StockPlan(decode, prefills)

    def attend(self, q: torch.Tensor, k_pages: torch.Tensor, v_pages: torch.Tensor, plan: StockPlan) -> torch.Tensor:
        rows, heads, width = q.shape
        if plan.decode is not None and not plan.prefills:
            return _attend_decode(q, k_pages, v_pages, plan.decode).reshape(rows, heads * width)
        out = torch.empty_like(q)
        for call in plan.prefills:
            part = slice(call.first, call.first + call.count)
            out[part] = _attend_prefill(q[part], k_pages, v_pages, call)
        if plan.decode is not None:
            mine = q.index_select(0, plan.decode.rows)
            out.index_copy_(0, plan.decode.rows, _attend_decode(mine, k_pages, v_pages, plan.decode))
        return out.view(rows, heads * width)


def _decode(
    segments: list[Segment], rows: list[int], page_size: int, dtype: torch.dtype, device: torch.device
) -> DecodeCall:
    lengths = np.asarray([segment.start + 1 for segment in segments])
    width = -(-int(lengths.max()) // page_size)
    pages = np.zeros((len(segments), width), dtype=np.int64)
    for row, segment in enumerate(segments):
        used = segment.pages[:width]
        pages[row, : len(used)] = used
    hidden = np.arange(width * page_size) >= lengths[:, None]
    mask = torch.from_numpy(np.where(hidden, -np.inf, 0.0).astype(np.float32)).to(device, dtype)
    return DecodeCall(
        torch.tensor(rows, device=device), torch.from_numpy(pages.reshape(-1)).to(device), mask[:, None, None]
    )


def _prefill(
    segment: Segment, row: int, page_size: int, group: int, dtype: torch.dtype, device: torch.device
) -> PrefillCall:
    length = segment.start + segment.count
    pages = torch.tensor(list(segment.pages[: -(-length // page_size)]), device=device)
    mask = None
    if segment.start:
        hidden = np.arange(length) > np.arange(segment.start, length)[:, None]
        mask = torch.from_numpy(np.where(hidden, -np.inf, 0.0).astype(np.float32)).to(device, dtype)
    return PrefillCall(row, segment.count, pages, length, mask)


def _attend_decode(q: torch.Tensor, k_pages: torch.Tensor, v_pages: torch.Tensor, call: DecodeCall) -> torch.Tensor:
    """[B, Hq, D] -> [B, Hq, D]; query heads of a group ride as rows of their key head, so nothing is repeated."""
    batch, heads, width = q.shape
    kv_heads = k_pages.shape[2]
    k = k_pages.index_select(0, call.pages).view(batch, -1, kv_heads, width).transpose(1, 2)
    v = v_pages.index_select(0, call.pages).view(batch, -1, kv_heads, width).transpose(1, 2)
    grouped = q.view(batch, kv_heads, heads // kv_heads, width)
    mask = call.mask.expand(-1, -1, heads // kv_heads, -1)
    return F.scaled_dot_product_attention(grouped, k, v, attn_mask=mask).reshape(batch, heads, width)


def _attend_prefill(q: torch.Tensor, k_pages: torch.Tensor, v_pages: torch.Tensor, call: PrefillCall) -> torch.Tensor:
    """[count, Hq, D] -> [count, Hq, D]."""
    kv_heads, width = k_pages.shape[2:]
    k = k_pages.index_select(0, call.pages).view(1, -1, kv_heads, width)[:, : call.length].transpose(1, 2)
    v = v_pages.index_select(0, call.pages).view(1, -1, kv_heads, width)[:, : call.length].transpose(1, 2)
    attended = F.scaled_dot_product_attention(
        q[None].transpose(1, 2), k, v, attn_mask=call.mask, is_causal=call.mask is None, enable_gqa=True
    )
    return attended[0].transpose(0, 1)
