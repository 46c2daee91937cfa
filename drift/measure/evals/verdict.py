"""What a difference allows to say. 'Not significant' is never 'no change'."""

from __future__ import annotations

from drift.measure.evals.scopes import Difference
from drift.measure.paired import Verdict

ALPHA = 0.05


def judge(difference: Difference, margin: float, p_adjusted: float | None = None) -> Verdict:
    """The verdict on A against B.

    Better or worse: the 95 % interval excludes 0, and with several comparisons the adjusted p is under .05 too.
    Equivalent: the 90 % interval lies inside +-margin (two one-sided tests at 5 %). Else inconclusive.
    """
    if margin <= 0:
        raise ValueError(f"the margin must be above 0, not {margin}")
    estimate = difference.estimate
    if (estimate.low > 0 or estimate.high < 0) and (p_adjusted is None or p_adjusted < ALPHA):
        return Verdict.BETTER if estimate.value > 0 else Verdict.WORSE
    low, high = difference.narrow
    return Verdict.EQUIVALENT if -margin < low and high < margin else Verdict.INCONCLUSIVE
