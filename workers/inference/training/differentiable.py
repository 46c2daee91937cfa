"""Operators whose forward is a served kernel and whose backward is the plain formula's gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

from kernels.attention_plan import Segment
from workers.inference.operators.operators import Linear, Operators

Formula = Callable[..., torch.Tensor]


class Recomputed(torch.autograd.Function):
    """Forward by ``kernel``; backward by differentiating ``formula`` at the same inputs.

    The two agree to rounding, so the gradient is that of the served function to rounding, while the value is the served
    value to the bit.
    """

    @staticmethod
    def forward(ctx: Any, kernel: Formula, formula: Formula, *inputs: torch.Tensor) -> torch.Tensor:
        ctx.formula = formula
        ctx.save_for_backward(*inputs)
        return kernel(*inputs)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        inputs = [tensor.detach().requires_grad_() for tensor in ctx.saved_tensors]
        with torch.enable_grad():
            output = ctx.formula(*inputs)
        return None, None, *torch.autograd.grad(output, inputs, gradients[0].to(output.dtype))


def recomputed(kernel: Formula, formula: Formula, *inputs: torch.Tensor) -> torch.Tensor:
    """Typed door to :class:`Recomputed`."""
    result: torch.Tensor = Recomputed.apply(kernel, formula, *inputs)  # type: ignore[no-untyped-call]
    return result


@dataclass(frozen=True, slots=True)
class TracedPlan:
    """The kernels' plan, and what the formula needs to know about the same step."""

    inner: Any
    segments: tuple[Segment, ...]


class DifferentiableOperators:
    """Wraps either mode's operators. A decoder built on these is the served decoder, with gradients."""

    def __init__(self, inner: Operators) -> None:
        self.inner = inner
        self.mode = inner.mode

    def linear(self, weight: torch.Tensor, bias: torch.Tensor | None) -> Linear:
        served = self.inner.linear(weight.detach(), None if bias is None else bias.detach())
        if bias is None:
            return lambda x: recomputed(lambda x_, _: served(x_), F.linear, x, weight)
        return lambda x: recomputed(lambda x_, *_: served(x_), F.linear, x, weight, bias)

    def rms_norm(self, x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        width = (x.shape[-1],)
        return recomputed(
            lambda x_, w: self.inner.rms_norm(x_, w, eps), lambda x_, w: F.rms_norm(x_, width, w, eps), x, weight
        )

    def rotate(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        def formula(heads: torch.Tensor) -> torch.Tensor:
            return heads * cos + torch.roll(heads, heads.shape[-1] // 2, -1) * sin

        return recomputed(lambda heads: self.inner.rotate(heads, cos, sin), formula, x)

    def silu_gate(self, gate_up: torch.Tensor) -> torch.Tensor:
        def formula(both: torch.Tensor) -> torch.Tensor:
            gate, up = both.chunk(2, -1)
            return F.silu(gate) * up

        return recomputed(self.inner.silu_gate, formula, gate_up)

    def log_softmax(self, logits: torch.Tensor) -> torch.Tensor:
        return recomputed(self.inner.log_softmax, lambda rows: torch.log_softmax(rows.float(), -1), logits)

    def plan(
        self,
        segments: Sequence[Segment],
        page_size: int,
        group: int,
        width: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> TracedPlan:
        return TracedPlan(self.inner.plan(segments, page_size, group, width, dtype, device), tuple(segments))

    def attend(self, q: torch.Tensor, k_pages: torch.Tensor, v_pages: torch.Tensor, plan: TracedPlan) -> torch.Tensor:
        def kernel(q_: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            return self.inner.attend(q_, k, v, plan.inner)

        def formula(q_: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            return _plain_attention(q_, k, v, plan.segments)

        return recomputed(kernel, formula, q, k_pages, v_pages)


def _plain_attention(
    q: torch.Tensor, k_pages: torch.Tensor, v_pages: torch.Tensor, segments: Sequence[Segment]
) -> torch.Tensor:
    """Causal attention sequence by sequence, in float32: [M, Hq, D] -> [M, Hq * D]; padding rows come to 0."""
    rows, heads, width = q.shape
    group = heads // k_pages.shape[2]
    outputs: list[torch.Tensor] = []
    row = 0
    for segment in segments:
        length = segment.start + segment.count
        pages = torch.tensor(list(segment.pages), device=q.device)
        k, v = (
            part.index_select(0, pages).flatten(0, 1)[:length].repeat_interleave(group, 1).float()
            for part in (k_pages, v_pages)
        )
        scores = torch.einsum("qhd,khd->hqk", q[row : row + segment.count].float(), k) * width**-0.5
        places = torch.arange(length, device=q.device)
        hidden = places > places[segment.start :, None]
        weights = torch.softmax(scores.masked_fill(hidden, float("-inf")), -1)
        outputs.append(torch.einsum("hqk,khd->qhd", weights, v).flatten(1))
        row += segment.count
    outputs.append(q.new_zeros(rows - row, heads * width, dtype=torch.float32))
    return torch.cat(outputs).to(q.dtype)
