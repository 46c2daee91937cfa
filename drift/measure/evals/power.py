"""How small a difference would be seen, and what it takes to see a smaller one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, inf, sqrt

from scipy.special import ndtr, ndtri

from drift.measure.evals.noise import PairedNoise

ALPHA, POWER = 0.05, 0.8
WITHOUT_PILOT = PairedNoise(data=1 / 9, prediction=1 / 3, n=1)  # Miller 2024: omega^2 = 1/9, sigma^2 = 1/6 per arm
MOST_REPEATS = 100


def _z_sum(alpha: float, power: float) -> float:
    return float(ndtri(1 - alpha / 2) + ndtri(power))


def detectable(noise: PairedNoise, n: int, repeats: float, alpha: float = ALPHA, power: float = POWER) -> float:
    """The smallest true difference found with chance `power`: (z_{1-alpha/2} + z_power) sqrt((omega^2 + sigma^2/K)/n).

    Source: Miller, arXiv:2411.00640, with sigma^2 the sum over both arms.
    """
    return _z_sum(alpha, power) * noise.error(repeats, n)


def detectable_by(error: float, alpha: float = ALPHA, power: float = POWER) -> float:
    """The same from the standard error of a difference, whatever design it came from."""
    return _z_sum(alpha, power) * error


def cases_needed(
    noise: PairedNoise, difference: float, repeats: float, alpha: float = ALPHA, power: float = POWER
) -> int:
    """Cases to find a true difference with chance `power`: (z + z)^2 (omega^2 + sigma^2/K) / difference^2, upwards."""
    if difference <= 0:
        raise ValueError(f"the difference must be above 0, not {difference}")
    per_case = noise.error(repeats, 1) ** 2
    return ceil(_z_sum(alpha, power) ** 2 * per_case / difference**2 - 1e-9)


def repeats_needed(
    noise: PairedNoise, difference: float, n: int, alpha: float = ALPHA, power: float = POWER
) -> int | None:
    """Repeats to find a true difference with these n cases; None where no number of repeats would do."""
    room = n * (difference / _z_sum(alpha, power)) ** 2 - max(0.0, noise.data)
    if room <= 0:
        return None
    needed = max(1, ceil(noise.prediction / room - 1e-9))
    return needed if needed <= 10_000 else None


def chance_to_find(error: float, difference: float, alpha: float = ALPHA) -> float:
    """Power against a true difference at a standard error, two-sided normal."""
    if error <= 0:
        return 1.0
    z = float(ndtri(1 - alpha / 2))
    t = abs(difference) / error
    return float(ndtr(t - z) + ndtr(-t - z))


def best_repeats(noise: PairedNoise, cost_case: float, cost_repeat: float) -> float:
    """K = sqrt((cost_case / cost_repeat) * sigma^2 / omega^2): two-stage sampling. Infinite where cases add no noise.

    `cost_case`: what one more case costs before it is asked (writing it, its cached prompt); `cost_repeat`: one answer
    of each arm.
    """
    data = max(0.0, noise.data)
    return sqrt(cost_case / cost_repeat * noise.prediction / data) if data > 0 else inf


@dataclass(frozen=True, slots=True)
class Split:
    """A way to spend a budget: n cases x K repeats, and the difference that it would find."""

    n: int
    repeats: int
    cost: float
    detectable: float


def splits(
    noise: PairedNoise, budget: float, cost_case: float, cost_repeat: float, cases: int | None = None
) -> list[Split]:
    """Every sensible way to spend `budget`, the one that finds the smallest difference first.

    `cases`: how many there are at most (None: as many as are paid for). Empty where not even two cases are affordable.
    """
    return sorted(_splits(noise, budget, cost_case, cost_repeat, cases), key=lambda s: (s.detectable, s.cost))


def _splits(
    noise: PairedNoise, budget: float, cost_case: float, cost_repeat: float, cases: int | None
) -> Iterable[Split]:
    for repeats in range(1, MOST_REPEATS + 1):
        each = cost_case + repeats * cost_repeat
        n = int(budget / each) if each > 0 else 0
        n = min(n, cases) if cases is not None else n
        if n >= 2:
            yield Split(n, repeats, n * each, detectable(noise, n, repeats))
