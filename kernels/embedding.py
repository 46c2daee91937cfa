"""Token embedding: a copy of one row per token, so there is no order to vary."""

from __future__ import annotations

import torch


def embed(token_ids: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Rows of ``table`` [V, W] at ``token_ids`` [M]: -> [M, W]."""
    return table.index_select(0, token_ids)
