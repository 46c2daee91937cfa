"""The one seam to torch's private operations, with a public fallback.

Packing a weight once into oneDNN's blocked layout saves re-reading it in plain layout at every call. The operations are
private (`torch.ops.mkldnn`), so every use goes through here; without them the same fixed-shape multiplication runs as
``F.linear``. Either way a call sees one constant number of rows, so both are batch-invariant; their bits differ from
each other, which is why :func:`backend` is part of the fingerprint.
"""

from __future__ import annotations

import os
from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812


class PackedWeight(Protocol):
    """A weight [N, K] ready to multiply tiles of a fixed number of rows."""

    def multiply(self, rows: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        """``rows @ weight.T + bias``: [T, K] -> [T, N]."""
        ...


class PlainWeight:
    """The public fallback: weight as given, multiplied by ``F.linear``."""

    def __init__(self, weight: torch.Tensor) -> None:
        self.weight = weight.contiguous()

    def multiply(self, rows: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        return F.linear(rows, self.weight, bias)


class BlockedWeight:
    """A weight in oneDNN's own layout for ``rows_per_call`` rows."""

    def __init__(self, weight: torch.Tensor, rows_per_call: int) -> None:
        self.weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), rows_per_call)

    def multiply(self, rows: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        result: torch.Tensor = torch.ops.mkldnn._linear_pointwise(rows, self.weight, bias, "none", [], "")
        return result


def backend() -> str:
    """``onednn`` where the private operations exist, else ``plain``. ``TIDEGAUGE_PREPACK=0`` forces ``plain``."""
    wanted = os.environ.get("TIDEGAUGE_PREPACK", "1") != "0"
    there = hasattr(torch.ops.mkldnn, "_reorder_linear_weight") and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    available: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return "onednn" if wanted and there and available else "plain"


def pack(weight: torch.Tensor, rows_per_call: int) -> PackedWeight:
    """Pack ``weight`` [N, K] for calls of exactly ``rows_per_call`` rows."""
    if backend() == "onednn":
        return BlockedWeight(weight, rows_per_call)
    return PlainWeight(weight)


def has_matrix_tiles() -> bool:
    """Whether the CPU multiplies bf16 in hardware matrix tiles (AMX). False where torch cannot tell."""
    probe = getattr(torch.cpu, "_is_amx_tile_supported", None)
    return bool(probe()) if probe is not None else False
