"""Linear layer whose every row is computed by the same fixed-shape multiplication."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812

from kernels.prepack import PackedWeight, pack
from kernels.tiles import row_tile


class CudaWeight:
    """A weight multiplied by the Triton kernel, whose sum over K is cut by (N, K) alone, for any number of rows."""

    def __init__(self, weight: torch.Tensor) -> None:
        self.weight = weight.contiguous()

    def multiply(self, rows: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        from kernels.triton.matmul import matmul

        return matmul(rows, self.weight, bias)


class TiledLinear:
    """``x @ weight.T + bias`` in calls of exactly ``tile`` rows.

    The library below picks its blocking, and with it the order of the sum over K, from the shape of a call. All calls
    here have one shape, [tile, K] x [K, N], so nothing about the batch can reach that choice: it decides only how many
    calls are made. Padding M to a multiple of a tile and making *one* call is not enough: with AMX, 16 and 64 rows of
    bf16 differ in bits.

    Args:
        weight: [N, K].
        bias: [N] or None.
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        self.out_features, self.in_features = weight.shape
        self.bias = bias
        self.tile = row_tile(weight.dtype)
        self._packed: PackedWeight = CudaWeight(weight) if weight.is_cuda else pack(weight, self.tile)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """[M, K] -> [M, N] for any M; the last tile is filled up with rows of zeros."""
        rows = x.shape[0]
        if rows == self.tile or x.is_cuda:
            return self._packed.multiply(x, self.bias)
        if 0 < rows < self.tile:
            return self._packed.multiply(F.pad(x, (0, 0, 0, self.tile - rows)), self.bias)[:rows]
        out = x.new_empty(rows, self.out_features)
        for start in range(0, rows, self.tile):
            part = x[start : start + self.tile]
            filled = len(part)
            if filled < self.tile:
                part = F.pad(part, (0, 0, 0, self.tile - filled))
            out[start : start + filled] = self._packed.multiply(part, self.bias)[:filled]
        return out
