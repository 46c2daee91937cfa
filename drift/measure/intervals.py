"""The interval of one figure. Every interval here is two-sided at 95 % unless a level is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

LEVEL = 0.95

Figures: TypeAlias = Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, its 95 % interval, and the number of independent units (not answers) it rests on."""

    value: float
    low: float
    high: float
    n: int

    def __post_init__(self) -> None:
        if not (isfinite(self.value) and isfinite(self.low) and isfinite(self.high)):
            raise ValueError(f"an estimate needs finite numbers, got {self.value}, [{self.low}, {self.high}]")


def wilson(successes: float, trials: float, level: float = LEVEL) -> Estimate | None:
    """Wilson's score interval of a share. None without trials.

    centre = (p + z^2/2n) / (1 + z^2/n), half = z / (1 + z^2/n) * sqrt(p(1 - p)/n + z^2/4n^2).

    Both counts may be fractional (an effective number of trials); `n` is then rounded down. At 0 successes the upper
    end is z^2 / (n + z^2), never 0. Source: Wilson 1927; Brown, Cai, DasGupta 2001.
    """
    if trials <= 0:
        return None
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials")
    share = successes / trials
    low, high = _wilson_bounds(share, trials, level)
    return Estimate(share, low, high, int(trials))


def _wilson_bounds(share: float, trials: float, level: float) -> tuple[float, float]:
    z2 = float(ndtri(0.5 + level / 2)) ** 2
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = sqrt(z2) / (1 + z2 / trials) * sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials))
    # the ends meet the figure at 0 and 1; rounding may put them a hair beyond it
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


def student_t(values: Figures, level: float = LEVEL) -> Estimate | None:
    """Student's t interval of a mean: mean +- t(n - 1) * sd / sqrt(n), sd with ddof = 1. None under two values.

    Not clamped: on scores in [0, 1] it can leave the range when there are few cases near an end; `modified_wilson`
    is the one for those. Equal values give a zero width, which is not evidence of certainty.
    """
    array = np.asarray(values, dtype=np.float64)
    n = array.size
    if n < 2:
        return None
    mean = float(array.mean())
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * standard_error(array)
    return Estimate(mean, mean - half, mean + half, n)


def standard_error(values: Figures) -> float:
    """sd / sqrt(n) with ddof = 1: the standard error of a mean of independent units. Needs two values.

    With an equal number of repeats per case and `values` the case means, this is the standard error clustered by case
    (Miller 2024, eq. for clustered errors) with the finite-cluster correction C / (C - 1).
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size < 2:
        raise ValueError("a standard error needs at least two values")
    return float(array.std(ddof=1)) / sqrt(array.size)


def effective_n(unit_means: Figures, total: float) -> float:
    """How many independent yes/no answers carry as much information as these unit means.

    n_eff = mean(1 - mean) / SE^2, clamped to [n, total]; n where the units do not differ, since equal units say
    nothing about the spread between units. `total` is the number of answers behind the means.
    """
    array = np.asarray(unit_means, dtype=np.float64)
    n = array.size
    if n < 2:
        return float(n)
    mean, error = float(array.mean()), standard_error(array)
    if error < 1e-12:
        return float(n)
    return float(min(max(mean * (1 - mean) / error**2, n), max(total, n)))


def modified_wilson(unit_means: Figures, total: float, level: float = LEVEL) -> Estimate | None:
    """Wilson's interval of a mean of scores in [0, 1] with the unit (case, canary) as what was sampled.

    Wilson(mean * n_eff, n_eff) with `effective_n`; stays inside [0, 1] and keeps a width where all units agree.
    Coverage of the nominal 95 % with 5 repeats: .89 to .96 at 5 cases, .94 at 20, .95 from 50 on.
    Source: Korn and Graubard 1998 with Wilson in the place of Clopper-Pearson, without their degrees-of-freedom
    factor (`wilson_of_few_units` has it).
    """
    return _wilson_of_units(unit_means, total, level, adjust=False)


def wilson_of_few_units(unit_means: Figures, total: float, level: float = LEVEL) -> Estimate | None:
    """`modified_wilson` for a handful of units: n_eff is multiplied by (z / t(n - 1))^2 where the spread was estimated.

    Holds its 95 % from 4 units on, also where most units are exactly zero, at the price of a wider interval
    (Korn and Graubard 1998, eq. for the adjusted effective sample size). One unit says almost nothing about others,
    and its interval says so.
    """
    return _wilson_of_units(unit_means, total, level, adjust=True)


def _wilson_of_units(unit_means: Figures, total: float, level: float, adjust: bool) -> Estimate | None:
    array = np.asarray(unit_means, dtype=np.float64)
    n = array.size
    if n == 0:
        return None
    if float(array.min()) < 0 or float(array.max()) > 1:
        raise ValueError("unit means must lie in [0, 1]")
    mean = min(1.0, max(0.0, float(array.mean())))
    size = effective_n(array, total)
    if adjust and n >= 2 and standard_error(array) >= 1e-12:
        size *= float((ndtri(0.5 + level / 2) / stdtrit(n - 1, 0.5 + level / 2)) ** 2)
    low, high = _wilson_bounds(mean, size, level)
    return Estimate(mean, low, high, n)


def at_most(trials: int, level: float = LEVEL) -> float | None:
    """The share that `trials` trials without a single event still allow: 1 - (1 - level)^(1 / trials), one-sided.

    5 without a flip allow 45 %, 30 allow 9.5 %, 59 allow 5 %. None without trials.
    """
    return None if trials < 1 else float(1 - (1 - level) ** (1 / trials))
