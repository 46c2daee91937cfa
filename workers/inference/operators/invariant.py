"""Batch-invariant operators: the kernels, nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from kernels.attention import attend
from kernels.attention_plan import AnyPlan, Segment, plan_attention
from kernels.linear import TiledLinear
from kernels.rms_norm import rms_norm
from kernels.rotary import rotate
from kernels.silu_gate import silu_gate
from kernels.softmax import log_softmax
from workers.inference.operators.operators import Linear


class InvariantOperators:
    """A row's bits follow from the row alone."""

    mode = "invariant"

    def linear(self, weight: torch.Tensor, bias: torch.Tensor | None) -> Linear:
        return TiledLinear(weight, bias)

    def rms_norm(self, x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        return rms_norm(x, weight, eps)

    def rotate(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        return rotate(x, cos, sin)

    def silu_gate(self, gate_up: torch.Tensor) -> torch.Tensor:
        return silu_gate(gate_up)

    def plan(
        self,
        segments: Sequence[Segment],
        page_size: int,
        group: int,
        width: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> AnyPlan:
        return plan_attention(segments, page_size, group, width, dtype, device)

    def attend(self, q: torch.Tensor, k_pages: torch.Tensor, v_pages: torch.Tensor, plan: AnyPlan) -> torch.Tensor:
        return attend(q, k_pages, v_pages, plan)

    def log_softmax(self, logits: torch.Tensor) -> torch.Tensor:
        return log_softmax(logits)
