"""Where the spread comes from: which cases were asked, what was sampled, who judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from drift.measure.evals.cases import Cases


@dataclass(frozen=True, slots=True)
class Spread:
    """`run_sd`: the standard deviation of a suite mean from one run to the next, pooled from within cases.

    `repeated_sd`: of the mean over all repeats. `share`: of the variance of a single-run score that is sampling noise
    and would vanish with repeats; the rest stays however often these cases are asked.
    """

    run_sd: float
    repeated_sd: float
    share: float | None


def spread(cases: Cases) -> Spread | None:
    """sqrt(mean s_i^2 / n) over cases with two answers or more; None without any.

    Not the standard deviation of the five suite means: with 4 degrees of freedom that one is anywhere between .60 and
    2.87 times the truth. This pools n(K - 1) degrees of freedom.
    """
    variances = cases.variances
    known = ~np.isnan(variances)
    if not known.any():
        return None
    within = float(variances[known].mean())
    n = len(cases)
    repeated = sqrt(float((variances[known] / cases.repeats[known]).mean()) / n)
    between = _between(cases)
    total = within + between if between is not None else 0.0
    return Spread(sqrt(within / n), repeated, within / total if total > 0 else None)


def _between(cases: Cases) -> float | None:
    """Var of the cases' true means: var(case means) - mean(s_i^2 / K_i), at least 0."""
    variances = cases.variances
    known = ~np.isnan(variances)
    if known.sum() < 2:
        return None
    means = cases.means[known]
    return max(0.0, float(means.var(ddof=1) - (variances[known] / cases.repeats[known]).mean()))


@dataclass(frozen=True, slots=True)
class PairedNoise:
    """Variance of a difference of single answers: `data` from the cases, `prediction` from sampling, both per case.

    SE of the difference with K repeats on n cases: sqrt((data + prediction / K) / n).
    """

    data: float
    prediction: float
    n: int

    @property
    def total(self) -> float:
        return self.data + self.prediction

    def error(self, repeats: float, n: int | None = None) -> float:
        """The standard error with that many repeats (infinity allowed) on `n` cases (default: as many as here)."""
        return sqrt((max(0.0, self.data) + self.prediction / repeats) / (n or self.n))


def paired_noise(a: Cases, b: Cases) -> PairedNoise | None:
    """Splits the variance of a paired difference. None unless two cases have two answers in both arms.

    bias = mean var(A_i)/(K_A - 1) + mean var(B_i)/(K_B - 1); data = var_i(mean A_i - mean B_i) - bias; prediction =
    mean var(A_i) + mean var(B_i) + bias, all variances with ddof = 0. `data` can come out below 0 by chance; `error`
    takes it as 0. Source: S. Wang, arXiv:2512.21326, estimator `from_samples_unbiasedK`.
    """
    both = [(x, y) for x, y in zip(a.scores, b.scores, strict=True) if x.size > 1 and y.size > 1]
    if len(both) < 2:
        return None
    bias = float(np.mean([x.var() / (x.size - 1) + y.var() / (y.size - 1) for x, y in both]))
    data = float(np.var([x.mean() - y.mean() for x, y in both])) - bias
    prediction = float(np.mean([x.var() + y.var() for x, y in both])) + bias
    return PairedNoise(data, prediction, len(both))


@dataclass(frozen=True, slots=True)
class JudgeNoise:
    """A model that grades is asked more than once. `sd`: of one verdict about one and the same answer.

    `suite_sd`: what that adds to a suite mean. `changed`: share of answers whose verdicts did not all agree.
    """

    sd: float
    suite_sd: float
    changed: float
    answers: int


def judge_noise(verdicts: Sequence[Sequence[float]]) -> JudgeNoise | None:
    """From the verdicts per answer; answers with a single verdict are left out, None if none is left."""
    known = [np.asarray(scores, dtype=np.float64) for scores in verdicts if len(scores) > 1]
    if not known:
        return None
    within = float(np.mean([scores.var(ddof=1) for scores in known]))
    added = float(np.mean([scores.var(ddof=1) / scores.size for scores in known]))
    changed = sum(float(np.ptp(scores)) > 1e-9 for scores in known) / len(known)
    return JudgeNoise(sqrt(within), sqrt(added / len(known)), changed, len(known))
