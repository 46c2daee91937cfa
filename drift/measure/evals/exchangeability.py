"""Whether repeats are alike. If the fifth round is worse than the others, something changed while the eval ran."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincc

from drift.measure.evals.cases import Floats


@dataclass(frozen=True, slots=True)
class Exchangeable:
    """`p` of 'the rounds do not differ'; `means`: the suite mean of each round; `n` cases had all rounds."""

    statistic: float
    p: float
    means: tuple[float, ...]
    n: int


def rounds_alike(scores: Floats) -> Exchangeable | None:
    """Tests whether the K rounds of float64[n, K] (NaN: unscored) differ. None under two rounds, or if nothing varies.

    Cases that lack a round are left out. Q = (K - 1) sum_j (C_j - mean C)^2 K / sum_i (K R_i2 - R_i^2) with C_j the
    round's and R_i the case's sums: Cochran's Q for 0/1 scores (Cochran 1950), and its direct extension to others;
    chi^2 with K - 1 degrees of freedom.
    """
    table = np.asarray(scores, dtype=np.float64)
    table = table[~np.isnan(table).any(axis=1)]
    n, rounds = table.shape
    if n == 0 or rounds < 2:
        return None
    sums = table.sum(axis=0)
    within = float((rounds * (table**2).sum(axis=1) - table.sum(axis=1) ** 2).sum())
    if within < 1e-12:
        return None
    q = float((rounds - 1) * rounds * ((sums - sums.mean()) ** 2).sum() / within)
    p = float(gammaincc((rounds - 1) / 2, q / 2))
    return Exchangeable(q, p, tuple((sums / n).tolist()), n)
