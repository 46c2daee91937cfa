"""Where the spread comes from: which cases were asked, what was sampled, who judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from drift.measure.evals.cases import Cases
from drift.measure.repeats import within_case_spread


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
    """Pooled within-case variance s^2 as sqrt(s^2 / n); None where no case has two answers.

    Not the standard deviation of the five suite means: with 4 degrees of freedom that one is anywhere between .60 and
    2.87 times the truth. This pools n(K - 1) degrees of freedom.
    """
    pooled = within_case_spread(cases.scores)
    if pooled is None:
        return None
    within, n = pooled**2, len(cases)
    repeated = sqrt(float(np.mean(within / cases.repeats)) / n)
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
