"""Softmax and log-softmax of single rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch


def log_softmax(logits: torch.Tensor) -> torch.Tensor:
    """Log-probabilities of [M, V] logits, in float32.

    Each row is its own call of shape [1, V]: what a kernel does with several rows at once cannot matter.
    """
    return _cuda(logits, log=True) if logits.is_cuda else _by_row(partial(torch.log_softmax, dim=-1), logits)


def softmax(logits: torch.Tensor) -> torch.Tensor:
    """Probabilities of [M, V] logits, in float32, row by row like :func:`log_softmax`."""
    return _cuda(logits, log=False) if logits.is_cuda else _by_row(partial(torch.softmax, dim=-1), logits)


def _cuda(logits: torch.Tensor, *, log: bool) -> torch.Tensor:
    from kernels.triton import rows

    return rows.softmax(logits, log=log)


def _by_row(operation: Callable[[torch.Tensor], torch.Tensor], logits: torch.Tensor) -> torch.Tensor:
    wide = logits.float()
    return torch.cat([operation(wide[row : row + 1]) for row in range(len(wide))]) if len(wide) else wide
