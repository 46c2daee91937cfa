"""Tile sizes of the matrix multiplication: one BLOCK_K per weight shape, and nothing else that could move a sum.

The order in which a product is summed over K follows from BLOCK_K and from the tensor cores' instruction. A
:class:`WeightTiles` holds BLOCK_K once; its row buckets hold only what may follow M. Another reduction order for
another M therefore cannot be written down in this table (the idea of vLLM's pull request 53247).
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_BLOCK_M = 32
"""Below 64 rows Hopper uses the same ``mma.sync`` instruction as its predecessors; from 64 rows on, ``wgmma``, whose
inner order differs."""


@dataclass(frozen=True, slots=True)
class RowBucket:
    """Launch parameters for up to ``max_rows`` rows: they cut the output, not the sum."""

    max_rows: int
    block_m: int
    block_n: int
    warps: int
    stages: int

    def __post_init__(self) -> None:
        if not 16 <= self.block_m <= MAX_BLOCK_M:
            raise ValueError(f"BLOCK_M {self.block_m} would change the instruction; use 16 to {MAX_BLOCK_M}.")


@dataclass(frozen=True, slots=True)
class WeightTiles:
    """Everything about a weight [N, K]: its one reduction tile and the buckets by rows, ascending."""

    block_k: int
    buckets: tuple[RowBucket, ...]

    def bucket(self, rows: int) -> RowBucket:
        """The first bucket that holds ``rows``; the last for more."""
        return next((bucket for bucket in self.buckets if rows <= bucket.max_rows), self.buckets[-1])


_NARROW = (RowBucket(16, 16, 32, 4, 4), RowBucket(256, 32, 64, 4, 4), RowBucket(1 << 30, 32, 128, 4, 3))
_WIDE = (RowBucket(16, 16, 64, 4, 4), RowBucket(256, 32, 128, 4, 3), RowBucket(1 << 30, 32, 256, 8, 3))

TABLE: dict[tuple[int, int], WeightTiles] = {
    # SmolLM2-135M: qkv, attention output, gate and up, down, head.
    (960, 576): WeightTiles(64, _NARROW),
    (576, 576): WeightTiles(64, _NARROW),
    (3072, 576): WeightTiles(64, _WIDE),
    (576, 1536): WeightTiles(128, _NARROW),
    (49152, 576): WeightTiles(64, _WIDE),
}


def tiles_for(out_features: int, in_features: int) -> WeightTiles:
    """Tiles of a weight [N, K]: from the table, or by rule from N and K alone."""
    known = TABLE.get((out_features, in_features))
    if known is not None:
        return known
    return WeightTiles(128 if in_features >= 1024 else 64, _WIDE if out_features >= 2048 else _NARROW)
