"""What a decoder asks of its arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch

from kernels.attention_plan import Segment

Linear = Callable[[torch.Tensor], torch.Tensor]
"""[M, K] -> [M, N]."""


class Operators(Protocol):
    """Every operation whose result could depend on the batch.

    ``plan`` looks at a step's shapes once; its result is handed to ``attend`` in every layer.
    """

    mode: str

    def linear(self, weight: torch.Tensor, bias: torch.Tensor | None) -> Linear: ...

    def rms_norm(self, x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor: ...

    def rotate(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor: ...

    def silu_gate(self, gate_up: torch.Tensor) -> torch.Tensor: ...

    def plan(
        self,
        segments: Sequence[Segment],
        page_size: int,
        group: int,
        width: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> Any: ...

    def attend(self, q: torch.Tensor, k_pages: torch.Tensor, v_pages: torch.Tensor, plan: Any) -> torch.Tensor: ...

    def log_softmax(self, logits: torch.Tensor) -> torch.Tensor: ...


def operators_for(mode: str) -> Operators:
    """The operators of ``invariant`` or ``fast``."""
    from workers.inference.operators.invariant import InvariantOperators
    from workers.inference.operators.stock import StockOperators

    return InvariantOperators() if mode == "invariant" else StockOperators()
