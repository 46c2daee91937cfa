"""Coverage, size and power by simulation: the rows of the published comparison for the methods on offer.

Case difficulties Beta(.9, .3) (mean .75, U-shaped), 5 repeats, 5 %. Seeds are fixed; bands are 3 Monte Carlo errors.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from drift.measure.evals.anytime import Discordance
from drift.measure.evals.arm import arm_score
from drift.measure.evals.cases import Cases
from drift.measure.evals.scopes import on_cases_like_these, on_exactly_these_cases
from drift.measure.paired import sign_flip

K = 5
Pair = tuple[np.ndarray, np.ndarray]


def draw(rng: np.random.Generator, chances: np.ndarray) -> Cases:
    return Cases(tuple((rng.random((chances.size, K)) < chances[:, None]).astype(np.float64)))


def same(rng: np.random.Generator, n: int) -> Pair:
    p = rng.beta(0.9, 0.3, n)
    return p, p


def both_ways(rng: np.random.Generator, n: int) -> Pair:
    """Cases differ, some up, some down, the mean stays: +-20 points where there is room."""
    p = rng.beta(0.9, 0.3, n)
    shift = np.where(rng.random(n) < 0.5, 0.2, -0.2)
    room = np.minimum(0.2, np.minimum(p, 1 - p))
    return p, p + np.sign(shift) * room


def half_lose(rng: np.random.Generator, n: int) -> Pair:
    p = rng.beta(0.9, 0.3, n)
    return p, np.clip(p - 0.2 * (rng.random(n) < 0.5), 0, 1)


def rejections(
    test: Callable[[Cases, Cases, np.random.Generator], float], make: Callable[..., Pair], n: int, sims: int
) -> float:
    rng = np.random.default_rng(20261129 + n)
    hits = 0
    for _ in range(sims):
        a, b = make(rng, n)
        hits += test(draw(rng, a), draw(rng, b), rng) < 0.05
    return hits / sims


def paired_t(a: Cases, b: Cases, rng: np.random.Generator) -> float:
    found = on_cases_like_these(a, b, rng, permutations=1)
    return found.p if found else 1.0


def flip_signs(a: Cases, b: Cases, rng: np.random.Generator) -> float:
    return sign_flip(a.means - b.means, rng, 399)


def stratified(a: Cases, b: Cases, rng: np.random.Generator) -> float:
    found = on_exactly_these_cases(a, b, rng, 199)
    return found.p if found else 1.0


def within(rate: float, expected: float, sims: int, slack: float = 0.0) -> None:
    band = 3 * np.sqrt(max(expected * (1 - expected), 0.01) / sims) + slack
    assert abs(rate - expected) <= band, f"rejected {rate:.3f}, expected {expected} +- {band:.3f}"


@pytest.mark.parametrize(
    ("make", "n", "expected"),
    [(same, 20, 0.047), (same, 50, 0.052), (both_ways, 50, 0.042), (half_lose, 50, 0.79), (half_lose, 100, 0.985)],
)
def test_paired_t(make: Callable[..., Pair], n: int, expected: float) -> None:
    within(rejections(paired_t, make, n, 1500), expected, 1500, slack=0.02)


@pytest.mark.parametrize(("make", "n", "expected"), [(same, 20, 0.030), (same, 50, 0.045), (half_lose, 50, 0.75)])
def test_sign_flip(make: Callable[..., Pair], n: int, expected: float) -> None:
    within(rejections(flip_signs, make, n, 1000), expected, 1000, slack=0.02)


@pytest.mark.parametrize(("make", "n", "expected"), [(same, 20, 0.05), (same, 50, 0.05)])
def test_stratified_permutation_holds_its_size(make: Callable[..., Pair], n: int, expected: float) -> None:
    within(rejections(stratified, make, n, 400), expected, 400)


def test_stratified_permutation_sees_that_these_cases_changed() -> None:
    assert rejections(stratified, half_lose, 50, 200) > rejections(paired_t, half_lose, 50, 200) - 0.02


def test_separate_intervals_hardly_ever_part() -> None:
    """Why overlap is never a verdict: ten points are lost, and the arms' intervals still overlap."""
    rng = np.random.default_rng(5)
    apart = 0
    for _ in range(300):
        a, b = half_lose(rng, 50)
        one, other = arm_score(draw(rng, a)), arm_score(draw(rng, b))
        assert one is not None
        assert other is not None
        apart += one.estimate.low > other.estimate.high
    assert apart / 300 < 0.05


@pytest.mark.parametrize(("n", "at_least"), [(5, 0.86), (10, 0.90), (20, 0.92), (50, 0.93)])
def test_coverage_of_an_arms_interval(n: int, at_least: float) -> None:
    rng = np.random.default_rng(n)
    truth, hits, sims = 0.75, 0, 1500
    for _ in range(sims):
        score = arm_score(draw(rng, rng.beta(0.9, 0.3, n)))
        assert score is not None
        hits += score.estimate.low <= truth <= score.estimate.high
    assert hits / sims >= at_least


def peek(make: Callable[..., Pair], sims: int, rounds: int = 30, n: int = 30) -> float:
    rng = np.random.default_rng(11)
    stopped = 0
    for _ in range(sims):
        p, q = make(rng, n)
        a, b = (rng.random((rounds, n)) < chance for chance in (p, q))
        only_a, only_b = (a & ~b).sum(axis=1).cumsum(), (b & ~a).sum(axis=1).cumsum()
        stopped += any(Discordance(int(x), int(y)).decided(0.05) for x, y in zip(only_a, only_b, strict=True))
    return stopped / sims


def test_looking_after_every_round_stays_under_the_level() -> None:
    assert peek(same, 600) <= 0.05


def test_looking_after_every_round_finds_a_real_loss() -> None:
    assert peek(half_lose, 200) >= 0.9
