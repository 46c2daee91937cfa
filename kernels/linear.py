"""Linear layer whose every row is computed by the same fixed-shape multiplication."""

from __future__ import annotations

from functools import cache

import torch

from kernels.prepack import PackedWeight, pack
from kernels.row_tiles import equal_sizes, next_call
from kernels.tiles import row_tile


class CudaWeight:
    """A weight multiplied by the Triton kernel, whose sum over K is cut by (N, K) alone, for any number of rows."""

    def __init__(self, weight: torch.Tensor) -> None:
        self.weight = weight.contiguous()

    def multiply(self, rows: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        from kernels.triton.matmul import matmul

        return matmul(rows, self.weight, bias)


@cache
def _zeros(rows: int, width: int, dtype: torch.dtype) -> torch.Tensor:
    """What calls are filled up with, shared by all layers."""
    return torch.zeros(rows, width, dtype=dtype)


class TiledLinear:
    """``x @ weight.T + bias`` in calls of a few fixed numbers of rows.

    The library below picks its blocking, and with it the order of the sum over K, from the shape of a call. Here a call
    has one of the sizes that were found to agree with the base size in every bit
    (:func:`kernels.row_tiles.equal_sizes`), so what the batch decides is only how many calls of which size are made.
    Padding M to a multiple of a tile and making *one* call is not enough: with AMX, 32 and 64 rows of bf16 differ.

    Args:
        weight: [N, K].
        bias: [N] or None.
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        self.out_features, self.in_features = weight.shape
        self.bias = bias
        self.tile = row_tile(self.out_features, self.in_features, weight.dtype)
        self.sizes: tuple[int, ...] = (self.tile,)
        if weight.is_cuda:
            self._packed: PackedWeight = CudaWeight(weight)
        else:
            self._packed = pack(weight, self.tile)
            self.sizes = equal_sizes(self.out_features, self.in_features, weight.dtype, self.tile, pack)
            self._zeros = _zeros(max(self.sizes), self.in_features, weight.dtype)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """[M, K] -> [M, N] for any M; a call that is not full gets rows of zeros."""
        rows = x.shape[0]
        if rows in self.sizes or x.is_cuda:
            return self._packed.multiply(x, self.bias)
        out = x.new_empty(rows, self.out_features)
        start = 0
        while start < rows:
            size = next_call(rows - start, self.sizes)
            part = x[start : start + size]
            filled = len(part)
            if filled < size:
                part = torch.cat((part, self._zeros[: size - filled]))
            if filled == rows:
                return self._packed.multiply(part, self.bias)[:rows]
            out[start : start + filled] = self._packed.multiply(part, self.bias)[:filled]
            start += filled
        return out
