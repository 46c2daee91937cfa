"""'Nothing found' in full: the smallest change that would have been found."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from drift.measure.rates import STEPS, RateBound, log_rise

POWER = 0.8


def chance_of_finding(
    bound: RateBound, dispersion: float, rate: float, answers: float, looks: int, threshold: float
) -> float:
    """P(a rise to `rate` is reported within `looks` looks of `answers` answers each), a lower approximation.

    For one alternative the log evidence after t looks is a sum of t terms with known mean and variance; it must pass
    ln(threshold * alternatives), counted from the change alone. The normal law of that sum; best alternative, best t.
    """
    one = np.ones(1)
    hit, miss = (log_rise(bound.upper * one, dispersion * one, x * one, one)[0] for x in (1.0, 0.0))
    mean = answers * (rate * hit + (1 - rate) * miss)
    # answers are as clustered as the baseline's were, so the variance of a run is `dispersion` times the binomial one
    spread = np.sqrt(answers * dispersion * rate * (1 - rate)) * (hit - miss)
    goal = log(threshold * len(STEPS))
    return float(np.max(_beyond(mean * looks, spread * sqrt(looks), goal)))


def _beyond(mean: NDArray[np.float64], spread: NDArray[np.float64], goal: float) -> NDArray[np.float64]:
    sure = (mean >= goal).astype(np.float64)
    chance: NDArray[np.float64] = ndtr((mean - goal) / np.where(spread > 0, spread, 1.0))
    return np.where(spread > 0, chance, sure)


def smallest_rise(
    bound: RateBound, dispersion: float, answers: float, looks: int, threshold: float, power: float = POWER
) -> float | None:
    """The smallest rate of differing answers that would have been reported within `looks` looks with chance `power`.

    None where not even answers that all differ would have been: too few looks for this budget.
    """
    if looks < 1 or answers <= 0:
        return None

    def found(rate: float) -> bool:
        return chance_of_finding(bound, dispersion, rate, answers, looks, threshold) >= power

    if not found(1.0):
        return None
    low, high = bound.upper, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def looks_to_find(
    bound: RateBound, dispersion: float, rate: float, answers: float, threshold: float, power: float = POWER
) -> int | None:
    """How many looks until a rise to `rate` is reported with chance `power`; None where it may never be."""
    low, high = 0, 1
    while chance_of_finding(bound, dispersion, rate, answers, high, threshold) < power:
        low, high = high, high * 2
        if high > 1_000_000:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if chance_of_finding(bound, dispersion, rate, answers, middle, threshold) >= power:
            high = middle
        else:
            low = middle
    return high
