"""Rotary position embedding, with the tables computed once per position."""

from __future__ import annotations

import torch


def rotary_tables(
    inverse_frequencies: torch.Tensor, length: int, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and *signed* sines for positions 0..length-1, each [length, 1, D].

    The sine's first half carries the minus of ``rotate_half``, so applying it needs no negation. Reading a table makes
    a row's angle depend on its position only; a ``cos`` taken per batch could meet another SIMD tail.

    Args:
        inverse_frequencies: [D / 2], radians per position.
    """
    angles = torch.outer(torch.arange(length, dtype=torch.float32), inverse_frequencies.float().cpu())
    cos = torch.cat((angles.cos(), angles.cos()), -1)
    sin = torch.cat((-angles.sin(), angles.sin()), -1)
    return cos.to(dtype)[:, None], sin.to(dtype)[:, None]


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotate heads [M, H, D] by the angles of their positions, [M, 1, D] each.

    Two products and a sum, each rounded on its own: a fused multiply-add would round once in vector code and could
    round twice in a scalar tail.
    """
    return x * cos + torch.roll(x, x.shape[-1] // 2, -1) * sin
