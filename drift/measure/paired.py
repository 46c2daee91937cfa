"""Two arms over the same cases: the difference decides, not whether the arms' intervals overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, exp, log, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, ndtri, stdtr, stdtrit

from drift.measure.intervals import LEVEL, Estimate, at_most, student_t
from drift.measure.repeats import Scores

Floats = NDArray[np.float64]
Means: TypeAlias = Sequence[float] | Floats

PERMUTATIONS = 10_000
POWER = 0.8
CASES_FOR_ALL_SIGNS = 14


class Verdict(StrEnum):
    """What a difference with its interval allows to say."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """a - b over cases: 95 % interval and t-test `p`, 90 % interval for equivalence, and a sign-flip p as a check."""

    difference: Estimate
    p: float
    narrow_low: float
    narrow_high: float
    sign_flip_p: float

    def verdict(self, margin: float) -> Verdict:
        """Better or worse where the 95 % interval excludes 0; equivalent where the 90 % one is inside +- margin (TOST).

        Anything else is inconclusive, which is never 'no change'.
        """
        if self.difference.low > 0:
            return Verdict.BETTER
        if self.difference.high < 0:
            return Verdict.WORSE
        inside = -margin < self.narrow_low and self.narrow_high < margin
        return Verdict.EQUIVALENT if inside else Verdict.INCONCLUSIVE


def paired_difference(
    a: Means, b: Means, rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> PairedDifference | None:
    """The difference of two arms from the case means of the same cases, which are a sample: Student's t on a_i - b_i.

    d +- t(n - 1) sd(d) / sqrt(n). Where all cases differ by the same amount, the interval allows for the share of
    cases that could differ unseen (`at_most`). None under two cases. Source: Miller 2024, paired differences.
    """
    d = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    wide, narrow = student_t(d), student_t(d, 1 - 2 * (1 - LEVEL))
    if wide is None or narrow is None:
        return None
    flips = sign_flip(d, rng, permutations)
    error = float(d.std(ddof=1)) / sqrt(d.size)
    if error < 1e-12:
        unseen = at_most(d.size) or 1.0
        same = Estimate(wide.value, max(-1.0, wide.value - unseen), min(1.0, wide.value + unseen), d.size)
        return PairedDifference(same, flips, same.low, same.high, flips)
    p = 2 * float(stdtr(d.size - 1, -abs(wide.value) / error))
    return PairedDifference(wide, p, narrow.low, narrow.high, flips)


def sign_flip(differences: Means, rng: np.random.Generator, permutations: int = PERMUTATIONS) -> float:
    """Two-sided p of a mean of differences that are symmetric about 0: the arms' names are exchanged case by case.

    All 2^n sign patterns up to 14 cases, else (1 + #) / (1 + B) of random ones.
    """
    d = np.asarray(differences, dtype=np.float64)
    observed = abs(float(d.sum())) - 1e-12
    if d.size <= CASES_FOR_ALL_SIGNS:
        patterns = (np.arange(2**d.size)[:, None] >> np.arange(d.size)) & 1
        return float((np.abs((2 * patterns - 1) @ d) >= observed).mean())
    signs = 2 * rng.integers(0, 2, size=(permutations, d.size), dtype=np.int8) - 1
    return float((1 + (np.abs(signs @ d) >= observed).sum()) / (1 + permutations))


def unpaired_difference(a: Means, b: Means) -> tuple[Estimate, float] | None:
    """Welch's difference of means with its p, for arms that share too few cases. None under two cases on a side."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.size < 2 or y.size < 2:
        return None
    of_x, of_y = float(x.var(ddof=1)) / x.size, float(y.var(ddof=1)) / y.size
    error, gap = sqrt(of_x + of_y), float(x.mean() - y.mean())
    if error < 1e-12:
        return None
    freedom = (of_x + of_y) ** 2 / (of_x**2 / (x.size - 1) + of_y**2 / (y.size - 1))
    half = float(stdtrit(freedom, 0.5 + LEVEL / 2)) * error
    return Estimate(gap, gap - half, gap + half, min(x.size, y.size)), 2 * float(stdtr(freedom, -abs(gap) / error))


def difference_on_these_cases(
    a: Scores, b: Scores, rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> tuple[Estimate, float] | None:
    """a - b where exactly these cases are meant (one endpoint at two dates), with a permutation p within cases.

    Only repeats are random: SE = sqrt(sum s_ai^2 / K_ai + s_bi^2 / K_bi) / n. p = (1 + #) / (1 + B), the answers of
    each case exchanged between the arms. None where no case has two scores in both arms; such cases are left out.
    """
    pairs = [
        (np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
        for x, y in zip(a, b, strict=True)
        if len(x) >= 2 and len(y) >= 2
    ]
    if not pairs:
        return None
    gap = float(np.mean([x.mean() - y.mean() for x, y in pairs]))
    error = sqrt(sum(x.var(ddof=1) / x.size + y.var(ddof=1) / y.size for x, y in pairs)) / len(pairs)
    permuted = np.zeros(permutations)
    for x, y in pairs:
        pool = np.concatenate([x, y])
        order = rng.random((permutations, pool.size)).argsort(axis=1)
        sums = pool[order[:, : x.size]].sum(axis=1)
        permuted += sums / x.size - (pool.sum() - sums) / y.size
    at_least = int((np.abs(permuted / len(pairs)) >= abs(gap) - 1e-12).sum())
    half = float(ndtri(0.5 + LEVEL / 2)) * error
    return Estimate(gap, gap - half, gap + half, len(pairs)), (1 + at_least) / (1 + permutations)


@dataclass(frozen=True, slots=True)
class DifferenceNoise:
    """Variance of one case's difference: `data` between cases, `prediction` between repeats of a case (K = 1)."""

    data: float
    prediction: float
    cases: int

    def standard_error(self, cases: int, repeats: int) -> float:
        """sqrt((data + prediction / K) / n)."""
        return sqrt((self.data + self.prediction / repeats) / cases)


# Without a pilot: scores spread evenly over [0, 1] and answered by chance (Miller 2024's worked example).
NO_PILOT = DifferenceNoise(data=1 / 9, prediction=1 / 3, cases=0)


def difference_noise(a: Scores, b: Scores) -> DifferenceNoise | None:
    """Split the noise of a paired difference, from a pilot with at least two scores per case and arm. None without one.

    prediction = mean of s_ai^2 + s_bi^2 (ddof = 1); data = var_i(mean a_i - mean b_i, ddof = 0) - mean of
    s_ai^2 / K_ai + s_bi^2 / K_bi, not under 0. Source: Wang, arXiv:2512.21326, unbiased paired estimator.
    """
    pairs = [
        (np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
        for x, y in zip(a, b, strict=True)
        if len(x) >= 2 and len(y) >= 2
    ]
    if len(pairs) < 2:
        return None
    gaps = np.array([x.mean() - y.mean() for x, y in pairs])
    prediction = float(np.mean([x.var(ddof=1) + y.var(ddof=1) for x, y in pairs]))
    bias = float(np.mean([x.var(ddof=1) / x.size + y.var(ddof=1) / y.size for x, y in pairs]))
    return DifferenceNoise(max(0.0, float(gaps.var()) - bias), prediction, len(pairs))


def smallest_difference(
    noise: DifferenceNoise, cases: int, repeats: int, power: float = POWER, level: float = LEVEL
) -> float:
    """Minimum detectable effect: (z_level + z_power) * SE(n, K). What 'no difference found' could have missed."""
    return float(ndtri(0.5 + level / 2) + ndtri(power)) * noise.standard_error(cases, repeats)


def cases_needed(
    noise: DifferenceNoise, difference: float, repeats: int, power: float = POWER, level: float = LEVEL
) -> int:
    """Cases for finding `difference` with chance `power`: ceil((z + z)^2 (data + prediction / K) / difference^2)."""
    if difference <= 0:
        raise ValueError("a difference of nothing cannot be found")
    z = float(ndtri(0.5 + level / 2) + ndtri(power))
    return ceil(z**2 * (noise.data + noise.prediction / repeats) / difference**2 - 1e-9)


def best_repeats(noise: DifferenceNoise, cost_of_case: float, cost_of_answer: float) -> int | None:
    """Repeats per case that find most for the money: sqrt(case cost / answer cost * prediction / data), at least 1.

    None where cases do not differ (data = 0): then more repeats are always as good as more cases.
    """
    if noise.data <= 0:
        return None
    return max(1, round(sqrt(cost_of_case / cost_of_answer * noise.prediction / noise.data)))


def discordant_evidence(only_a: int, only_b: int) -> float:
    """Anytime-valid evidence that an arm is better on these cases; look after every answer, stop at 1 / alpha.

    Over pairs of which exactly one passed: E = 2^(a + b) B(a + 1/2, b + 1/2) / B(1/2, 1/2), the Beta(1/2, 1/2) mixture
    against a fair coin, a test martingale (Ville).
    """
    return float(exp((only_a + only_b) * log(2) + betaln(only_a + 0.5, only_b + 0.5) - betaln(0.5, 0.5)))
