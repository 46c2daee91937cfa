"""Answers of one arm by case. An answer without a score (a provider's error, a judge that said nothing) is no fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
PASS_MARK = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """The scored answers of n cases: `scores[i]` is float64[K_i] with K_i >= 1, all in [0, 1]."""

    scores: tuple[Floats, ...]

    @classmethod
    def of(cls, per_case: Sequence[Sequence[float]]) -> Cases:
        """From scores per case. Raises ValueError on a case without scores or a score outside [0, 1]."""
        arrays = tuple(np.asarray(scores, dtype=np.float64) for scores in per_case)
        for index, array in enumerate(arrays):
            if array.size == 0:
                raise ValueError(f"case {index} has no score: leave it out")
            if not (np.isfinite(array).all() and array.min() >= 0 and array.max() <= 1):
                raise ValueError(f"case {index} has a score outside [0, 1]: {array}")
        return cls(arrays)

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def total(self) -> int:
        """Scored answers in all."""
        return sum(array.size for array in self.scores)

    @property
    def repeats(self) -> Ints:
        """K_i: int64[n]."""
        return np.array([array.size for array in self.scores], dtype=np.int64)

    @property
    def means(self) -> Floats:
        """Mean score of each case: float64[n]."""
        return np.array([array.mean() for array in self.scores])

    @property
    def variances(self) -> Floats:
        """s_i^2 with ddof = 1 of each case, NaN where it has a single answer: float64[n]."""
        return np.array([array.var(ddof=1) if array.size > 1 else np.nan for array in self.scores])

    @property
    def passes(self) -> Ints:
        """c_i: answers at `PASS_MARK`, int64[n]."""
        return np.array([int((array >= PASS_MARK - 1e-9).sum()) for array in self.scores], dtype=np.int64)

    @property
    def binary(self) -> bool:
        return all(bool(np.isin(array, (0.0, 1.0)).all()) for array in self.scores)
