"""Root-mean-square normalisation, one row at a time."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812

MAX_WIDTH = 32_768
"""torch splits the sum of a longer row over threads when there are few rows, so longer rows are refused at load."""


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """``x / sqrt(mean(x^2) + eps) * weight``, in float32 inside: [..., W] -> [..., W] of x's dtype.

    The mean runs inside one row of at most :data:`MAX_WIDTH`; the rest is element-wise and exactly rounded.
    """
    if x.is_cuda:
        from kernels.triton import rows

        return rows.rms_norm(x, weight, eps)
    return F.rms_norm(x, (x.shape[-1],), weight, eps)
