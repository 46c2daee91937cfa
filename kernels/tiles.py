"""The fixed tile sizes: the only numbers that decide in which order a sum is taken.

None of them may ever be computed from a batch. They are read once per process from the dtype and the instruction set,
so they are part of what a build's fingerprint covers.
"""

from __future__ import annotations

import torch

from kernels.errors import UnsupportedShapeError
from kernels.prepack import has_matrix_tiles

QUERY_TILE = 4
"""Consecutive positions of one sequence that share an attention call. A row's place in its tile is position % 4."""

KV_TILE = 64
"""Key positions are attended in multiples of this, so the extent a row sees depends on its own position alone."""

SIMD_LANES = 64
"""Two vectors of the widest element-wise loop (32 bf16 lanes): a whole multiple leaves no scalar tail."""


def row_tile(dtype: torch.dtype) -> int:
    """Rows in every matrix multiplication of this dtype.

    A library picks its kernel by the number of rows, so that number is one constant. 16 is the smallest that costs
    little more than a single row; machines with matrix tiles (AMX) do 32 rows of bf16 in nearly the same time.
    """
    return 32 if dtype == torch.bfloat16 and has_matrix_tiles() else 16


def padded_rows(count: int, tile: int) -> int:
    """The smallest multiple of ``tile`` that holds ``count`` rows."""
    return -(-count // tile) * tile


def check_width(name: str, width: int, tile: int) -> None:
    """Refuse a width at which a tile of ``tile`` rows would end in a partial SIMD vector.

    The partial vector goes through scalar code whose ``exp`` may round otherwise, and which row it hits would depend
    on the batch.

    Raises:
        UnsupportedShapeError: ``tile * width`` is not a multiple of the SIMD lanes.
    """
    if (tile * width) % SIMD_LANES:
        raise UnsupportedShapeError(
            f"{name} is {width} wide; a tile of {tile} rows then leaves a partial SIMD vector. "
            f"Use a width that is a multiple of {SIMD_LANES // tile or 1}, or serve this model in fast mode."
        )
