"""Cases answered several times and scored: one arm of an eval. The case is the unit, repeats are not.

Scores are given case by case, float in [0, 1]; cases may have different numbers of them. A case without a score (every
answer was a provider's error) is unknown and left out, never a fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from drift.measure.intervals import Estimate, modified_wilson

Scores: TypeAlias = Sequence[Sequence[float] | NDArray[np.float64]] | NDArray[np.float64]


def case_means(scores: Scores) -> NDArray[np.float64]:
    """Mean score of each case that has one. float64[n]."""
    return np.array([float(np.mean(case)) for case in scores if len(case)], dtype=np.float64)


def suite_score(scores: Scores) -> Estimate | None:
    """Mean over cases with its interval (`modified_wilson`, the case as the unit); None without a scored case."""
    return modified_wilson(case_means(scores), total=sum(len(case) for case in scores))


def within_case_spread(scores: Scores) -> float | None:
    """Pooled standard deviation of one case's score over repeats; None where no case has two.

    sqrt(sum of squared deviations from the case's mean / sum of (K_i - 1)). Not the deviation of the runs' suite means,
    which has K - 1 degrees of freedom and hides flips that cancel.
    """
    repeated = [np.asarray(case, dtype=np.float64) for case in scores if len(case) >= 2]
    freedom = sum(case.size - 1 for case in repeated)
    if not freedom:
        return None
    return float(np.sqrt(sum(float(((case - case.mean()) ** 2).sum()) for case in repeated) / freedom))


def flipping(scores: Scores) -> list[int]:
    """Indices of the cases whose scores are not all the same, those nearest to even first.

    'Not seen to flip in K repeats' is not 'stable': see `chance_of_seeing_a_flip` and `intervals.at_most`.
    """
    found = [(abs(float(np.mean(case)) - 0.5), index) for index, case in enumerate(scores) if len(set(case)) > 1]
    return [index for _, index in sorted(found)]


def chance_of_seeing_a_flip(share: float, repeats: int) -> float:
    """P(at least one flip in K repeats of a case that passes with probability p) = 1 - p^K - (1 - p)^K."""
    return float(1 - share**repeats - (1 - share) ** repeats)


def pass_at(k: int, passes: Sequence[int], repeats: Sequence[int]) -> float | None:
    """pass@k: P(at least one of k answers passes), mean over cases of 1 - C(n - c, k) / C(n, k).

    None where a case has fewer than k answers: the unbiased estimator does not exist there. Source: Chen et al. 2021.
    """
    return _mean_of([1 - comb(n - c, k) / comb(n, k) if n >= k else None for c, n in zip(passes, repeats, strict=True)])


def pass_all(k: int, passes: Sequence[int], repeats: Sequence[int]) -> float | None:
    """pass^k: P(all of k answers pass), mean over cases of C(c, k) / C(n, k). Source: Yao et al. 2024 (tau-bench)."""
    return _mean_of([comb(c, k) / comb(n, k) if n >= k else None for c, n in zip(passes, repeats, strict=True)])


def _mean_of(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def repeats_exchangeable(scores: NDArray[np.float64]) -> float | None:
    """p of 'all repeats pass equally often' from 0/1 scores [n, K]: Cochran's Q, chi^2 with K - 1 degrees of freedom.

    Q = (K - 1)(K sum T_k^2 - N^2) / (K N - sum L_i^2), T passes of repeat k, L of case i, N all. A small p says that
    the endpoint changed during the eval. None under two repeats or where no case flips.
    """
    x = np.asarray(scores, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] < 2:
        return None
    k = x.shape[1]
    by_repeat, by_case, total = x.sum(axis=0), x.sum(axis=1), float(x.sum())
    below = k * total - float((by_case**2).sum())
    if below <= 1e-12:
        return None
    q = (k - 1) * (k * float((by_repeat**2).sum()) - total**2) / below
    return float(chi2.sf(q, k - 1))
