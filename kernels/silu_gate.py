"""The gated activation of the feed-forward block."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812

from kernels.tiles import SERIAL_ELEMENTS


def silu_gate(gate_up: torch.Tensor) -> torch.Tensor:
    """``silu(gate) * up`` for [M, 2 * W] holding gate then up: -> [M, W].

    ``silu`` calls ``exp``, whose vector and scalar versions round differently. A row of whole SIMD vectors (see
    :func:`kernels.tiles.check_width`) has no scalar tail, unless torch cuts it to share the work among threads. It cuts
    nothing that is small, so a large batch is gone through in small parts.
    """
    if gate_up.is_cuda:
        from kernels.triton import rows as cuda_rows

        return cuda_rows.silu_gate(gate_up)
    rows, width = gate_up.shape[0], gate_up.shape[1] // 2
    step = max(1, SERIAL_ELEMENTS // width)
    if rows <= step:
        return F.silu(gate_up[:, :width]) * gate_up[:, width:]
    out = gate_up.new_empty(rows, width)
    for start in range(0, rows, step):
        part = gate_up[start : start + step]
        torch.mul(F.silu(part[:, :width]), part[:, width:], out=out[start : start + step])
    return out
