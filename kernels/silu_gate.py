"""The gated activation of the feed-forward block."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812

from kernels.errors import UnsupportedShapeError
from kernels.tiles import row_tile


def silu_gate(gate_up: torch.Tensor) -> torch.Tensor:
    """``silu(gate) * up`` for [M, 2 * W] holding gate then up: -> [M, W].

    ``silu`` calls ``exp``, whose vector and scalar versions round differently, and torch places the scalar tail by the
    number of elements. Tiles of fixed size with no tail (see :func:`kernels.tiles.check_width`) keep it out of reach.

    Raises:
        UnsupportedShapeError: M is not a whole number of row tiles.
    """
    if gate_up.is_cuda:
        from kernels.triton import rows as cuda_rows

        return cuda_rows.silu_gate(gate_up)
    rows, width = gate_up.shape[0], gate_up.shape[1] // 2
    tile = row_tile(gate_up.dtype)
    if rows == tile:
        return F.silu(gate_up[:, :width]) * gate_up[:, width:]
    if rows % tile:
        raise UnsupportedShapeError(f"{rows} rows are not a multiple of the row tile {tile}; pad them first.")
    out = gate_up.new_empty(rows, width)
    for start in range(0, rows, tile):
        part = gate_up[start : start + tile]
        torch.mul(F.silu(part[:, :width]), part[:, width:], out=out[start : start + tile])
    return out
