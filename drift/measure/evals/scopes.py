"""The difference of two arms as an answer to two questions, each with its own interval.

'Cases are a sample': is A better on cases like these? Then cases vary too. 'Exactly these cases': did this suite's
score change? Then only sampling noise counts, and the interval is often half as wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from drift.measure.evals.arm import clustered_error
from drift.measure.evals.cases import Cases
from drift.measure.intervals import LEVEL, Estimate, at_most
from drift.measure.paired import (
    PERMUTATIONS,
    difference_on_these_cases,
    paired_difference,
    sign_flip,
    unpaired_difference,
)


class Scope(StrEnum):
    SAMPLE = "sample"  # cases are a sample of what the arms will meet
    THESE = "these"  # exactly these cases are the question


@dataclass(frozen=True, slots=True)
class Difference:
    """A minus B with its 95 % interval; `narrow` is the 90 % one, for equivalence. `p` is two-sided.

    `permuted_p`: the same question by permutation; None where arms are unpaired. `error`: None where nothing varied;
    the interval is then an exact bound on what could have gone unseen.
    """

    estimate: Estimate
    narrow: tuple[float, float]
    p: float
    permuted_p: float | None
    error: float | None
    scope: Scope
    method: str


def on_cases_like_these(
    a: Cases,
    b: Cases,
    rng: np.random.Generator,
    clusters: Sequence[str] | None = None,
    permutations: int = PERMUTATIONS,
) -> Difference | None:
    """Paired t over case means; with `clusters`, the cluster-robust error and one degree of freedom per group less one.

    None under two cases, or two clusters.
    """
    if clusters is not None:
        return _clustered(a, b, clusters, rng, permutations)
    found = paired_difference(a.means, b.means, rng, permutations)
    if found is None:
        return None
    varied = float(np.ptp(a.means - b.means)) > 1e-12
    error = float((a.means - b.means).std(ddof=1)) / sqrt(len(a)) if varied else None
    return Difference(
        estimate=found.difference,
        narrow=(found.narrow_low, found.narrow_high),
        p=found.p,
        permuted_p=found.sign_flip_p,
        error=error,
        scope=Scope.SAMPLE,
        method="paired t over cases" if varied else "exact bound: all cases differ alike",
    )


def _clustered(
    a: Cases, b: Cases, clusters: Sequence[str], rng: np.random.Generator, permutations: int
) -> Difference | None:
    d = a.means - b.means
    error, groups = clustered_error(d, clusters), len(set(clusters))
    if error is None:
        return None
    if error < 1e-12:
        return on_cases_like_these(a, b, rng, permutations=permutations)
    sums = np.bincount(np.unique(np.asarray(clusters), return_inverse=True)[1], weights=d).astype(np.float64)
    half, narrow = (float(stdtrit(groups - 1, q)) * error for q in (0.5 + LEVEL / 2, LEVEL))
    gap = float(d.mean())
    return Difference(
        estimate=Estimate(gap, gap - half, gap + half, groups),
        narrow=(gap - narrow, gap + narrow),
        p=2 * float(stdtr(groups - 1, -abs(gap) / error)),
        permuted_p=sign_flip(sums, rng, permutations),
        error=error,
        scope=Scope.SAMPLE,
        method=f"paired t, clustered in {groups} groups",
    )


def on_exactly_these_cases(
    a: Cases, b: Cases, rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> Difference | None:
    """Sampling noise alone: normal interval, p by shuffling each case's answers between the arms.

    None where no case has two answers in both arms. Where no answer ever left its case's usual score, +-0 would claim
    certainty: the interval is the exact bound on the share of answers that could, 1 - .05^(1 / answers of an arm).
    """
    found = difference_on_these_cases(a.scores, b.scores, rng, permutations)
    if found is None:
        return None
    estimate, p = found
    half = estimate.high - estimate.value
    if half < 1e-12:
        unseen = at_most(min(a.total, b.total)) or 1.0
        low, high = max(-1.0, estimate.value - unseen), min(1.0, estimate.value + unseen)
        bound = Estimate(estimate.value, low, high, estimate.n)
        return Difference(bound, (low, high), p, p, None, Scope.THESE, "exact bound: no answer varied within its case")
    error = half / float(ndtri(0.5 + LEVEL / 2))
    narrow = float(ndtri(LEVEL)) * error
    return Difference(
        estimate=estimate,
        narrow=(estimate.value - narrow, estimate.value + narrow),
        p=p,
        permuted_p=p,
        error=error,
        scope=Scope.THESE,
        method="sampling noise within cases",
    )


def unpaired(a: Cases, b: Cases) -> Difference | None:
    """Welch's t, for arms that share too few cases to be paired. None where it does not exist."""
    found = unpaired_difference(a.means, b.means)
    if found is None:
        return None
    estimate, p = found
    error = sqrt(float(a.means.var(ddof=1)) / len(a) + float(b.means.var(ddof=1)) / len(b))
    half = float(ndtri(LEVEL)) * error
    return Difference(
        estimate=estimate,
        narrow=(estimate.value - half, estimate.value + half),
        p=p,
        permuted_p=None,
        error=error,
        scope=Scope.SAMPLE,
        method="Welch's t, unpaired",
    )
