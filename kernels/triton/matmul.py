"""Linear layer on CUDA: each output element is one program's sum over K, in ascending blocks."""

# Triton reads its own annotations: a kernel's arguments are pointers and scalars without Python types.
# mypy: disable-error-code="no-untyped-def,untyped-decorator"
from __future__ import annotations

import torch
import triton
import triton.language as tl

from kernels.triton.interpreter import interpreting
from kernels.triton.matmul_tiles import tiles_for


# Triton compiles another kernel for M = 1 or M divisible by 16 unless told not to look.
@triton.jit(do_not_specialize=["M"])
def _matmul(
    x_ptr, w_ptr, bias_ptr, out_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    HAS_BIAS: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    x_block = x_ptr + rows[:, None].to(tl.int64) * K + inner[None, :]
    w_block = w_ptr + columns[None, :].to(tl.int64) * K + inner[:, None]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        inside = start + inner < K
        x = tl.load(x_block + start, mask=(rows[:, None] < M) & inside[None, :], other=0.0)
        w = tl.load(w_block + start, mask=(columns[None, :] < N) & inside[:, None], other=0.0)
        if WIDE:
            x = x.to(tl.float32)
            w = w.to(tl.float32)
        total = tl.dot(x, w, total, input_precision="ieee")
    if HAS_BIAS:
        total += tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)[None, :]
    out_block = out_ptr + rows[:, None].to(tl.int64) * N + columns[None, :]
    tl.store(out_block, total.to(out_ptr.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


def matmul(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """``x @ weight.T + bias``: [M, K] x [N, K] -> [M, N], accumulated in float32.

    M chooses a bucket, and with it how the output is cut into programs; BLOCK_K comes from (N, K).
    """
    x, weight = x.contiguous(), weight.contiguous()
    (rows, in_features), out_features = x.shape, weight.shape[0]
    tiles = tiles_for(out_features, in_features)
    bucket = tiles.bucket(rows)
    out = x.new_empty(rows, out_features)
    grid = (triton.cdiv(rows, bucket.block_m), triton.cdiv(out_features, bucket.block_n))
    _matmul[grid](
        x, weight, bias if bias is not None else x, out, rows, out_features, in_features,
        BLOCK_M=bucket.block_m, BLOCK_N=bucket.block_n, BLOCK_K=tiles.block_k,
        HAS_BIAS=bias is not None, WIDE=interpreting(),
        num_warps=bucket.warps, num_stages=bucket.stages,
    )  # fmt: skip
    return out
