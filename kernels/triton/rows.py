"""Row operations on CUDA: one program owns one row, and its blocks follow from the width alone."""

# Triton reads its own annotations: a kernel's arguments are pointers and scalars without Python types.
# mypy: disable-error-code="no-untyped-def,untyped-decorator"
from __future__ import annotations

import torch
import triton
import triton.language as tl

SOFTMAX_BLOCK = 4096


@triton.jit
def _rms_norm(x_ptr, weight_ptr, out_ptr, width, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < width
    x = tl.load(x_ptr + row * width + columns, mask=inside, other=0.0).to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(x * x, axis=0) / width + eps)
    weight = tl.load(weight_ptr + columns, mask=inside, other=0.0)
    product = x * scale * weight.to(tl.float32)
    tl.store(out_ptr + row * width + columns, product.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _silu_gate(x_ptr, out_ptr, width, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < width
    gate = tl.load(x_ptr + row * 2 * width + columns, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(x_ptr + (row * 2 + 1) * width + columns, mask=inside, other=0.0).to(tl.float32)
    silu = (gate / (1.0 + tl.exp(-gate))).to(out_ptr.dtype.element_ty)
    gated = (silu.to(tl.float32) * up).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + row * width + columns, gated, mask=inside)


@triton.jit
def _softmax(x_ptr, out_ptr, width, LOG: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * width
    columns = tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, width, BLOCK):
        x = tl.load(x_ptr + row + start + columns, mask=start + columns < width, other=float("-inf"))
        best = tl.maximum(best, x.to(tl.float32))
    top = tl.max(best, axis=0)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, width, BLOCK):
        x = tl.load(x_ptr + row + start + columns, mask=start + columns < width, other=float("-inf"))
        sums += tl.exp(x.to(tl.float32) - top)
    total = tl.sum(sums, axis=0)
    for start in range(0, width, BLOCK):
        inside = start + columns < width
        x = tl.load(x_ptr + row + start + columns, mask=inside, other=float("-inf")).to(tl.float32) - top
        result = x - tl.log(total) if LOG else tl.exp(x) / total
        tl.store(out_ptr + row + start + columns, result, mask=inside)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """As :func:`kernels.rms_norm.rms_norm`. The block is the width's next power of two, whatever the number of rows."""
    x = x.contiguous()
    width = x.shape[-1]
    out = torch.empty_like(x)
    rows = x.numel() // width
    if rows:
        _rms_norm[(rows,)](x, weight, out, width, eps, BLOCK=triton.next_power_of_2(width), num_warps=4)
    return out


def silu_gate(gate_up: torch.Tensor) -> torch.Tensor:
    """As :func:`kernels.silu_gate.silu_gate`, for CUDA."""
    gate_up = gate_up.contiguous()
    rows, width = gate_up.shape[0], gate_up.shape[1] // 2
    out = gate_up.new_empty(rows, width)
    if rows:
        _silu_gate[(rows, triton.cdiv(width, 1024))](gate_up, out, width, BLOCK=1024, num_warps=4)
    return out


def softmax(logits: torch.Tensor, *, log: bool) -> torch.Tensor:
    """Softmax or log-softmax of [M, V], in float32."""
    logits = logits.contiguous()
    out = torch.empty_like(logits, dtype=torch.float32)
    if len(logits):
        _softmax[(len(logits),)](logits, out, logits.shape[1], LOG=log, BLOCK=SOFTMAX_BLOCK, num_warps=8)
    return out
