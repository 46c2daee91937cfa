"""One arm's figure: the mean over cases, with the interval that its question deserves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import ndtri

from drift.measure.evals.cases import Cases, Floats
from drift.measure.intervals import LEVEL, Estimate, effective_n, modified_wilson, standard_error, student_t


@dataclass(frozen=True, slots=True)
class ArmScore:
    """`estimate`: mean over cases, interval with the case as the unit (cases like these).

    `error`: standard error over cases, None with one case. `naive_error`: as if all answers were independent.
    `effective_n`: how many independent answers this is worth. `on_these`: the interval of the mean on exactly these
    cases, None where some case has a single answer.
    """

    estimate: Estimate
    method: str
    error: float | None
    naive_error: float | None
    effective_n: float
    on_these: Estimate | None

    @property
    def inflation(self) -> float | None:
        """How many times too narrow the naive error is: what counting repeats as new cases hides."""
        return self.error / self.naive_error if self.error and self.naive_error else None


def arm_score(cases: Cases) -> ArmScore | None:
    """The score of one arm. None without a case.

    0/1 scores: modified Wilson, which never leaves [0, 1] and keeps a width where all cases agree. Other scores:
    Student's t over case means, cut to [0, 1]; where all case means agree it has no width, and Wilson takes its place.
    """
    means = cases.means
    by_t = None if cases.binary or not len(cases) or float(np.ptp(means)) < 1e-12 else student_t(means)
    estimate = by_t or modified_wilson(means, cases.total)
    if estimate is None:
        return None
    answers = np.concatenate(cases.scores)
    return ArmScore(
        estimate=Estimate(estimate.value, max(0.0, estimate.low), min(1.0, estimate.high), estimate.n),
        method="Student's t over cases" if by_t else "Wilson with the effective number of cases",
        error=standard_error(means) if len(cases) > 1 else None,
        naive_error=standard_error(answers) if answers.size > 1 else None,
        effective_n=effective_n(means, cases.total),
        on_these=on_these_cases(cases),
    )


def on_these_cases(cases: Cases) -> Estimate | None:
    """The mean and its interval if exactly these cases are the question: mean +- z * sqrt(sum s_i^2 / K_i) / n.

    Holds sampling noise alone. None where some case has a single answer, which says nothing of that noise.
    """
    variances = cases.variances
    if not len(cases) or np.isnan(variances).any():
        return None
    error = sqrt(float((variances / cases.repeats).sum())) / len(cases)
    mean, half = float(cases.means.mean()), float(ndtri(0.5 + LEVEL / 2)) * error
    return Estimate(mean, max(0.0, mean - half), min(1.0, mean + half), len(cases))


def clustered_error(values: Floats, clusters: Sequence[str]) -> float | None:
    """Standard error of a mean when cases come in groups that stand or fall together; `clusters[i]` names one.

    sqrt(C / (C - 1) * sum over groups of (sum of deviations)^2) / n: CR1. None under two groups. Source: Miller 2024,
    clustered errors; the factor C / (C - 1) as in Inspect and statsmodels, unlike the paper.
    """
    names, places = np.unique(np.asarray(clusters), return_inverse=True)
    if names.size < 2:
        return None
    sums = np.bincount(places, weights=values - values.mean())
    return sqrt(names.size / (names.size - 1) * float((sums**2).sum())) / values.size
