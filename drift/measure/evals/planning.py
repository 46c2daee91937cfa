"""What it takes to see a smaller difference, and how to spend a budget between cases and repeats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from scipy.special import ndtr, ndtri

from drift.measure.intervals import LEVEL
from drift.measure.paired import POWER, DifferenceNoise, smallest_difference

MOST_REPEATS = 100


def repeats_needed(noise: DifferenceNoise, difference: float, cases: int, power: float = POWER) -> int | None:
    """Repeats to find `difference` with these cases: ceil(prediction / (n difference^2 / (z + z)^2 - data)).

    None where no number of repeats would do, because the cases themselves differ too much: more cases are needed.
    """
    if difference <= 0:
        raise ValueError("a difference of nothing cannot be found")
    z = float(ndtri(0.5 + LEVEL / 2) + ndtri(power))
    room = cases * (difference / z) ** 2 - noise.data
    if room <= 0 or noise.prediction / room > 10_000:
        return None
    return max(1, ceil(noise.prediction / room - 1e-9))


def chance_to_find(error: float, difference: float) -> float:
    """Power of the two-sided 5 % test against a true difference, at a standard error above 0 (normal law)."""
    z, t = float(ndtri(0.5 + LEVEL / 2)), abs(difference) / error
    return float(ndtr(t - z) + ndtr(-t - z))


def detectable_by(error: float, power: float = POWER) -> float:
    """The smallest difference found with chance `power` at a standard error, whatever design it came from."""
    return float(ndtri(0.5 + LEVEL / 2) + ndtri(power)) * error


@dataclass(frozen=True, slots=True)
class Split:
    """A way to spend a budget: n cases x K repeats, and the smallest difference it would find."""

    cases: int
    repeats: int
    cost: float
    detectable: float


def splits(
    noise: DifferenceNoise,
    budget: float,
    cost_of_case: float,
    cost_of_answers: float,
    cases: int | None = None,
    least: int = 2,
) -> list[Split]:
    """Every sensible way to spend `budget`, the smallest detectable difference first, of equals the cheaper.

    `cost_of_case`: one more case before it is asked; `cost_of_answers`: one answer of each arm; `cases`: how many there
    are at most (None: as many as are paid for); `least`: splits with fewer cases are not offered, since few cases say
    little about others. Empty where not even those are affordable.
    """
    return sorted(
        _splits(noise, budget, cost_of_case, cost_of_answers, cases, least),
        key=lambda split: (split.detectable, split.cost),
    )


def _splits(
    noise: DifferenceNoise, budget: float, cost_of_case: float, cost_of_answers: float, cases: int | None, least: int
) -> Iterator[Split]:
    for repeats in range(1, MOST_REPEATS + 1):
        each = cost_of_case + repeats * cost_of_answers
        if each <= 0:
            raise ValueError("cases and answers cannot both be free")
        n = int(budget / each)
        n = n if cases is None else min(n, cases)
        if n >= max(2, least):
            yield Split(n, repeats, n * each, smallest_difference(noise, n, repeats))
