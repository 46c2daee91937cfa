"""The difference of two arms on the same cases.

Two questions, two intervals. 'Cases are a sample': is A better on cases like these? Then cases vary too. 'Exactly these
cases': did this suite's score change? Then only sampling noise counts, and the interval is often half as wide.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from drift.measure.evals.cases import Cases, Floats
from drift.measure.evals.suite import cluster_robust
from drift.measure.intervals import LEVEL, Estimate, at_most


class Scope(StrEnum):
    SAMPLE = "sample"  # cases are a sample of what the arms will meet
    THESE = "these"  # exactly these cases are the question


@dataclass(frozen=True, slots=True)
class Difference:
    """A minus B. `p` two-sided, `error` the standard error; both None where nothing varied.

    `df` None: normal. `unseen`: where nothing varied, the share of cases (or answers) that could still differ, as the
    interval's half-width.
    """

    estimate: Estimate
    error: float | None
    p: float | None
    df: float | None
    scope: Scope
    method: str
    unseen: float | None = None

    def at(self, level: float) -> Estimate:
        """The same figure with an interval at another level."""
        value, n = self.estimate.value, self.estimate.n
        if self.error is None:
            return self.estimate
        half = _quantile(0.5 + level / 2, self.df) * self.error
        return Estimate(value, value - half, value + half, n)


def _quantile(p: float, df: float | None) -> float:
    return float(ndtri(p) if df is None else stdtrit(df, p))


def _two_sided(t: float, df: float | None) -> float:
    return float(2 * (ndtr(-abs(t)) if df is None else stdtr(df, -abs(t))))


def paired_t(a: Floats, b: Floats, clusters: list[str] | None = None, level: float = LEVEL) -> Difference | None:
    """Paired t of the case means float64[n] of two arms, scope 'cases are a sample'. None under two cases.

    d = a - b; SE = sd(d) / sqrt(n), df = n - 1; with `clusters` the cluster-robust error (CR1), df = groups - 1.
    Where all d are equal the interval is the exact bound 1 - .05^(1/n) on the share of cases that could differ, since
    +-0 would claim certainty.
    """
    d = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    n = d.size
    if n < 2:
        return None
    mean = float(d.mean())
    if float(np.ptp(d)) < 1e-12:
        return _nothing_varied(mean, n, n, Scope.SAMPLE)
    error: float | None = float(d.std(ddof=1)) / sqrt(n)
    df, method = float(n - 1), "paired t over cases"
    if clusters is not None:
        robust = cluster_robust(d - mean, clusters)
        groups = len(set(clusters))
        if robust is None or robust < 1e-12:
            return None
        error, df, method = robust, float(groups - 1), f"paired, clustered in {groups} groups"
    return _from_error(mean, error, df, n, Scope.SAMPLE, method, level)


def on_these_cases(a: Cases, b: Cases, level: float = LEVEL) -> Difference | None:
    """The difference on exactly these cases: +- z * sqrt(sum s_Ai^2 / K_A + s_Bi^2 / K_B) / n.

    None where a case has a single answer in an arm. Where no answer ever varied within its case, the interval is the
    exact bound on the share of answers that could, 1 - .05^(1 / answers of the smaller arm).
    """
    if len(a) != len(b):
        raise ValueError(f"the arms hold {len(a)} and {len(b)} cases: pair them first")
    variances = a.variances / a.repeats + b.variances / b.repeats
    if not len(a) or np.isnan(variances).any():
        return None
    mean = float((a.means - b.means).mean())
    error = sqrt(float(variances.sum())) / len(a)
    if error < 1e-12:
        return _nothing_varied(mean, len(a), min(a.total, b.total), Scope.THESE)
    return _from_error(mean, error, None, len(a), Scope.THESE, "within-case noise", level)


def welch(a: Floats, b: Floats, level: float = LEVEL) -> Difference | None:
    """Unpaired t with unequal variances, for arms that share too few cases to be paired. `n`: the smaller arm's cases.

    df by Welch and Satterthwaite. None under two cases in an arm, or where neither arm varied.
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if min(x.size, y.size) < 2:
        return None
    u, v = float(x.var(ddof=1)) / x.size, float(y.var(ddof=1)) / y.size
    if u + v < 1e-24:
        return None
    df = (u + v) ** 2 / (u**2 / (x.size - 1) + v**2 / (y.size - 1))
    mean = float(x.mean() - y.mean())
    return _from_error(mean, sqrt(u + v), df, min(x.size, y.size), Scope.SAMPLE, "Welch t, unpaired", level)


def _from_error(
    mean: float, error: float | None, df: float | None, n: int, scope: Scope, method: str, level: float
) -> Difference:
    if error is None or error <= 0:
        raise ValueError("a difference needs a standard error above 0")
    half = _quantile(0.5 + level / 2, df) * error
    estimate = Estimate(mean, mean - half, mean + half, n)
    return Difference(estimate, error, _two_sided(mean / error, df), df, scope, method)


def _nothing_varied(mean: float, n: int, units: int, scope: Scope) -> Difference:
    unseen = at_most(units) or 1.0
    estimate = Estimate(mean, max(-1.0, mean - unseen), min(1.0, mean + unseen), n)
    method = "exact bound: nothing varied"
    return Difference(estimate, None, None, None, scope, method, unseen)


def correlation(a: Floats, b: Floats) -> float | None:
    """Pearson correlation of the case means: what pairing gains. None where an arm does not vary."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.size < 3 or float(np.ptp(x)) < 1e-12 or float(np.ptp(y)) < 1e-12:
        return None
    return float(np.corrcoef(x, y)[0, 1])
