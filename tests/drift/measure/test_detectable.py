import numpy as np
import pytest

from drift.measure.detectable import chance_of_finding, looks_to_find, smallest_rise
from drift.measure.rates import RateBound, log_rise
from drift.measure.sequential import shiryaev_roberts

BOUND = RateBound(value=0.05, lower=0.03, upper=0.085, answers=420)
THRESHOLD = 11_200.0


def share_found(rate: float, looks: int, series: int = 3000) -> float:
    rng = np.random.default_rng(16)
    detector, found = np.zeros((series, 4)), np.zeros(series, dtype=bool)
    for _ in range(looks):
        k = rng.binomial(5, rate, size=series).astype(float)
        ones = np.ones(series)
        detector = shiryaev_roberts(detector, np.exp(log_rise(BOUND.upper * ones, ones, k, 5 * ones)))
        found |= detector.mean(axis=1) >= THRESHOLD
    return float(found.mean())


@pytest.mark.parametrize("looks", [12, 24, 72])
def test_the_smallest_rise_named_is_found_as_often_as_claimed_and_half_of_it_is_not(looks: int) -> None:
    rate = smallest_rise(BOUND, 1.0, 5, looks, THRESHOLD)
    assert rate is not None
    assert share_found(rate, looks) >= 0.78
    assert share_found(0.5 * rate, looks) < 0.5


def test_longer_watching_and_more_answers_find_less() -> None:
    rates = [smallest_rise(BOUND, 1.0, 5, looks, THRESHOLD) for looks in (6, 24, 168)]
    more = [smallest_rise(BOUND, 1.0, answers, 24, THRESHOLD) for answers in (5, 20, 60)]
    for found in (rates, more):
        assert all(rate is not None for rate in found)
        assert found == sorted(found, key=lambda rate: -(rate or 0))


def test_too_few_looks_for_the_budget_find_nothing() -> None:
    assert smallest_rise(BOUND, 1.0, 1, 1, THRESHOLD) is None
    assert smallest_rise(BOUND, 1.0, 5, 0, THRESHOLD) is None


def test_the_looks_needed_are_the_first_number_with_enough_power() -> None:
    looks = looks_to_find(BOUND, 1.0, 0.3, 5, THRESHOLD)
    assert looks is not None
    assert chance_of_finding(BOUND, 1.0, 0.3, 5, looks, THRESHOLD) >= 0.8
    assert chance_of_finding(BOUND, 1.0, 0.3, 5, looks - 1, THRESHOLD) < 0.8
    assert looks_to_find(BOUND, 1.0, BOUND.upper, 5, THRESHOLD) is None
