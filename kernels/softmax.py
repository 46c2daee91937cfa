"""Softmax and log-softmax of single rows."""

from __future__ import annotations

import torch


def log_softmax(logits: torch.Tensor) -> torch.Tensor:
    """Log-probabilities of [M, V] logits, in float32.

    Each row is its own call of shape [1, V]: what a kernel does with several rows at once cannot matter.
    """
    return _by_row(torch.log_softmax, logits)


def softmax(logits: torch.Tensor) -> torch.Tensor:
    """Probabilities of [M, V] logits, in float32, row by row like :func:`log_softmax`."""
    return _by_row(torch.softmax, logits)


def _by_row(operation: object, logits: torch.Tensor) -> torch.Tensor:
    assert callable(operation)
    wide = logits.float()
    return torch.cat([operation(wide[row : row + 1], -1) for row in range(wide.shape[0])]) if len(wide) else wide
