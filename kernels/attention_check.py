"""The attention part of the verification: chunks, neighbours, pages and decode against prefill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812

from kernels.attention import attend, write_pages
from kernels.attention_plan import Segment, plan_attention
from kernels.report import Report

HEADS, KV_HEADS, WIDTH, PAGE = 9, 3, 64, 16


@dataclass(frozen=True, slots=True)
class Tokens:
    """Queries, keys and values of one sequence, all positions: [L, H, D] each."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor


def verify_attention(report: Report, name: str, dtype: torch.dtype, device: torch.device, *, quick: bool) -> None:
    """Compare every row of every sequence with the same row of a whole prefill, alone."""
    generator = torch.Generator().manual_seed(7)
    lengths = (5, 70, 150) if quick else (1, 5, 63, 64, 65, 130, 257, 600)

    def draw(heads: int, length: int) -> torch.Tensor:
        return torch.randn(length, heads, WIDTH, generator=generator).to(device, dtype)

    tokens = [Tokens(draw(HEADS, n), draw(KV_HEADS, n), draw(KV_HEADS, n)) for n in lengths]
    alone = [_run([one], len(one.q))[0] for one in tokens]

    together = report.check("attention", "all sequences in one batch", name)
    for rows, expected in zip(_run(tokens, max(lengths)), alone, strict=True):
        together.compare(rows, expected)
    for chunk in (1, 16, 50) if quick else (1, 5, 16, 64, 100, 256):
        chunked = report.check("attention", f"chunks of {chunk}, in company", name)
        for rows, expected in zip(_run(tokens, chunk), alone, strict=True):
            chunked.compare(rows, expected)
    grown = report.check("attention", "a neighbour grows by a token", name)
    for extra in range(9, 12):
        neighbour = Tokens(*(part[:extra] for part in (tokens[-1].q, tokens[-1].k, tokens[-1].v)))
        grown.compare(_run([neighbour, tokens[-2]], 1000)[1], alone[-2])
    pages = report.check("attention", "other pages of the cache", name)
    for rows, expected in zip(_run(tokens, 40, scatter=True), alone, strict=True):
        pages.compare(rows, expected)
    control = report.check("attention", "stock fused attention, decode against prefill", name, control=True)
    for one in tokens:
        whole = _stock(one.q, one.k, one.v)
        control.compare(_stock(one.q[-1:], one.k, one.v), whole[-1:])
        half = len(one.q) // 2
        if half:
            control.compare(_stock(one.q[half:], one.k, one.v), whole[half:])


def _run(tokens: Sequence[Tokens], chunk: int, *, scatter: bool = False) -> list[torch.Tensor]:
    """Attend all sequences side by side, ``chunk`` tokens of each per step: [L, H * D] per sequence."""
    first = tokens[0].q
    total = sum(-(-len(one.q) // PAGE) for one in tokens)
    order = torch.arange(1, total + 1)
    if scatter:
        order = torch.randperm(total, generator=torch.Generator().manual_seed(3)) + 1
    numbers = iter(order.tolist())
    tables = [[next(numbers) for _ in range(-(-len(one.q) // PAGE))] for one in tokens]
    k_pages = first.new_zeros(total + 1, PAGE, KV_HEADS, WIDTH)
    v_pages = torch.zeros_like(k_pages)
    rows: list[list[torch.Tensor]] = [[] for _ in tokens]
    for start in range(0, max(len(one.q) for one in tokens), chunk):
        live = [index for index, one in enumerate(tokens) if start < len(one.q)]
        counts = [min(chunk, len(tokens[index].q) - start) for index in live]
        segments = [Segment(tables[index], start, count) for index, count in zip(live, counts, strict=True)]
        for index, count in zip(live, counts, strict=True):
            positions = torch.arange(start, start + count)
            slots = (torch.tensor(tables[index])[positions // PAGE] * PAGE + positions % PAGE).to(first.device)
            write_pages(k_pages, slots, tokens[index].k[start : start + count])
            write_pages(v_pages, slots, tokens[index].v[start : start + count])
        q = torch.cat([tokens[index].q[start : start + count] for index, count in zip(live, counts, strict=True)])
        plan = plan_attention(segments, PAGE, HEADS // KV_HEADS, WIDTH, first.dtype, first.device)
        for index, part in zip(live, torch.split(attend(q, k_pages, v_pages, plan), counts), strict=True):
            rows[index].append(part)
    return [torch.cat(parts) for parts in rows]


def _stock(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """torch's fused attention of the last ``len(q)`` positions, causal: [R, H * D]."""
    offset = len(k) - len(q)
    mask = torch.arange(len(k), device=q.device) <= torch.arange(offset, len(k), device=q.device)[:, None]
    group = q.shape[1] // k.shape[1]
    keys, values = (part.repeat_interleave(group, 1).transpose(0, 1)[None] for part in (k, v))
    out = F.scaled_dot_product_attention(q.transpose(0, 1)[None], keys, values, attn_mask=mask)
    return out[0].transpose(0, 1).flatten(1)
