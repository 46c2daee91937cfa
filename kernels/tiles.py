"""The fixed tile sizes: the only numbers that decide in which order a sum is taken.

None of them may ever be computed from a batch. They are read once per process from the dtype and the instruction set,
so they are part of what a build's fingerprint covers.
"""

from __future__ import annotations

import torch

from kernels.errors import UnsupportedShapeError
from kernels.prepack import has_matrix_tiles

KV_TILE = 64
"""Key positions are attended in multiples of this, so the extent a row sees depends on its own position alone."""

SIMD_LANES = 64
"""Two vectors of the widest element-wise loop (32 bf16 lanes): a whole multiple leaves no scalar tail."""

SERIAL_ELEMENTS = 32_768
"""torch shares an element-wise operation among threads only above this many elements (``at::internal::GRAIN_SIZE``)."""

CACHE_BYTES = 2 * 2**20
"""What a core with matrix tiles keeps close: its second-level cache."""


def row_tile(out_features: int, in_features: int, dtype: torch.dtype) -> int:
    """Rows of the matrix multiplication that defines a row's bits.

    16 is the smallest that costs little more than a single row. Machines with matrix tiles (AMX) sum bf16 in one order
    up to 32 rows and in another from 33 on. For a weight that stays in the core's cache, prompts may well pass 32 rows
    at a time. A larger one would be read anew for every such call, so it keeps to the order of large calls, and a
    decoding batch is filled up to 48 rows: it waits for the weight anyway. Other sizes are used only where they give
    the same bits (:mod:`kernels.row_tiles`).
    """
    if dtype == torch.bfloat16 and has_matrix_tiles():
        return 48 if out_features * in_features * dtype.itemsize > CACHE_BYTES else 32
    return 16


def check_width(name: str, width: int) -> None:
    """Refuse a width that does not consist of whole SIMD vectors.

    What is left over goes through scalar code whose ``exp`` may round otherwise, and torch decides by the size of the
    batch where a leftover falls.

    Raises:
        UnsupportedShapeError: ``width`` is not a multiple of :data:`SIMD_LANES`.
    """
    if width % SIMD_LANES:
        raise UnsupportedShapeError(
            f"{name} is {width} wide, which leaves a partial SIMD vector. Only multiples of {SIMD_LANES} can be served "
            f"in invariant mode; fast mode takes any."
        )
