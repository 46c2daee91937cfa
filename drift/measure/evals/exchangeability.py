"""Whether rounds are alike. If the fifth round is worse than the others, something changed while the eval ran."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drift.measure.evals.cases import PASS_MARK, Floats
from drift.measure.repeats import repeats_exchangeable


@dataclass(frozen=True, slots=True)
class Rounds:
    """`p` of 'the rounds pass equally often', None where nothing varies; `means`: each round's score; over n cases."""

    p: float | None
    means: tuple[float, ...]
    n: int


def rounds_alike(scores: Floats) -> Rounds | None:
    """Compares the K rounds of float64[n, K] (NaN: unscored) on the cases that have all of them.

    Cochran's Q on passes. None under two rounds or without a complete case.
    """
    table = np.asarray(scores, dtype=np.float64)
    table = table[~np.isnan(table).any(axis=1)]
    if not table.size or table.shape[1] < 2:
        return None
    passed = (table >= PASS_MARK - 1e-9).astype(np.float64)
    return Rounds(repeats_exchangeable(passed), tuple(table.mean(axis=0).tolist()), table.shape[0])
