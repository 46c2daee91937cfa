import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from drift.measure.rates import (
    RateBaseline,
    clopper_pearson,
    departure,
    fall,
    log_fall,
    log_rise,
    rate_baseline,
    rise,
)
from drift.measure.sequential import Watch, shiryaev_roberts

HOURS = np.arange(336)
QUARTERS = HOURS % 24 // 6
DAYS = HOURS // 24


def baseline_of(rates: np.ndarray, seed: int = 1, answers: int = 5) -> RateBaseline:
    drawn = np.random.default_rng(seed).binomial(answers, rates)
    found = rate_baseline(drawn, np.full(336, answers), QUARTERS, DAYS)
    assert found is not None
    return found


def test_the_bounds_are_clopper_pearson() -> None:
    for successes, trials in ((0, 30), (3, 40), (40, 40)):
        low, high = proportion_confint(successes, trials, alpha=0.02, method="beta")
        assert clopper_pearson(successes, trials, 0.01) == pytest.approx((low, high))


def test_a_rhythm_gives_each_time_of_day_its_own_bound() -> None:
    found = baseline_of(np.where(QUARTERS == 2, 0.3, 0.02))
    assert found.bounds[2].lower > 0.2
    assert found.bounds[0].upper < 0.1
    assert found.dispersion == 1


def test_independent_answers_are_rarely_taken_for_clustered_ones_and_clustered_ones_seldom_missed() -> None:
    rng = np.random.default_rng(2)
    plain = np.array([baseline_of(np.full(336, 0.1), seed).dispersion for seed in range(200)])
    assert np.mean(plain > 1) < 0.2
    assert plain.max() < 3
    whole_runs = [rate_baseline(5 * rng.binomial(1, 0.1, 336), np.full(336, 5), QUARTERS, DAYS) for _ in range(50)]
    assert np.median([found.dispersion for found in whole_runs if found]) == pytest.approx(5, abs=0.5)
    rainy = np.repeat(rng.choice([0.02, 0.3], size=14), 24)
    assert baseline_of(rainy).dispersion > 5


@given(st.floats(0.001, 0.95), st.floats(0, 1), st.integers(1, 8))
def test_e_values_expect_at_most_one_at_any_rate_up_to_the_bound(upper: float, part: float, answers: int) -> None:
    rate = part * upper
    k = np.arange(answers + 1.0)
    chance = np.array([np.prod([(answers - i) / (i + 1) for i in range(int(x))]) for x in k])
    chance = chance * rate**k * (1 - rate) ** (answers - k)
    ones = np.ones_like(k)
    e = np.exp(log_rise(upper * ones, ones, k, answers * ones))
    assert (chance @ e <= 1 + 1e-9).all()
    mirrored = np.exp(log_fall((1 - upper) * ones, ones, answers - k, answers * ones))
    assert mirrored == pytest.approx(e)


@given(st.floats(0.01, 0.9), st.floats(0, 1))
def test_a_fractional_answer_is_worth_at_most_the_bet_on_its_share(upper: float, share: float) -> None:
    one = np.ones(1)
    part = np.exp(log_rise(upper * one, one, share * one, one))
    none, all_ = (np.exp(log_rise(upper * one, one, x * one, one)) for x in (0.0, 1.0))
    assert (part <= (1 - share) * none + share * all_ + 1e-9).all()


def test_a_run_without_answers_or_without_a_known_time_of_day_is_no_look() -> None:
    found = baseline_of(np.full(336, 0.05))
    assert rise(found, 0, 0, 0) is None
    assert rise(found, 9, 1, 5) is None
    assert fall(found, 9, 1, 5) is None
    assert rate_baseline([], [], [], []) is None
    assert rate_baseline([0], [0], [0], [0]) is None


def test_evidence_rises_when_more_answers_differ_and_falls_otherwise() -> None:
    found = baseline_of(np.full(336, 0.05))
    up, down, fewer = rise(found, 0, 4, 5), rise(found, 0, 0, 5), fall(found, 0, 0, 5)
    assert up is not None
    assert down is not None
    assert fewer is not None
    assert min(up) > 1 > max(down)
    assert min(fewer) > 1


def test_a_baseline_survives_storage() -> None:
    found = baseline_of(np.full(336, 0.05))
    assert RateBaseline.from_numbers(json.loads(json.dumps(found.to_numbers()))) == found


def test_departure_is_the_chance_that_two_answers_differ() -> None:
    assert departure([10, 0], [5, 0]) == 0
    assert departure([5, 5], [2, 2]) == 0.5
    assert departure([5, 0], [0, 3]) == 1
    assert departure([5, 0], [0, 0]) is None


def test_impossible_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="fewer than 0 or more"):
        rate_baseline([6], [5], [0], [0])
    with pytest.raises(ValueError, match="four arrays"):
        rate_baseline([1], [5, 5], [0], [0])


@pytest.mark.parametrize(
    ("name", "rates"),
    [
        ("steady", np.full(840, 0.05)),
        ("rhythm", 0.05 * (1 + 0.9 * np.sin(2 * np.pi * np.arange(840) / 24))),
        ("never", np.zeros(840)),
        ("often", np.full(840, 0.6)),
    ],
)
def test_three_weeks_of_an_unchanged_endpoint_raise_no_more_than_the_stated_five_percent(
    name: str, rates: np.ndarray
) -> None:
    series, looks, threshold = 400, 504, 504 / 0.045
    drawn = np.random.default_rng(6).binomial(5, rates, size=(series, 840)).astype(float)
    baselines = [rate_baseline(row[:336], np.full(336, 5), QUARTERS, DAYS) for row in drawn]
    spread = np.array([found.dispersion for found in baselines if found])
    uppers = np.array([[found.bounds[q].upper for q in range(4)] for found in baselines if found])
    detector, alarmed = np.zeros((series, 4)), np.zeros(series, dtype=bool)
    for hour in range(336, 336 + looks):
        e = np.exp(log_rise(uppers[:, hour % 24 // 6], spread, drawn[:, hour], np.full(series, 5.0)))
        detector = shiryaev_roberts(detector, e)
        alarmed |= detector.mean(axis=1) >= threshold
    assert alarmed.mean() <= 0.05, f"{name}: {alarmed.sum()} of {series}"


def test_a_sixfold_rise_is_found_within_twelve_hours_in_half_of_the_series() -> None:
    rng = np.random.default_rng(7)
    delays = []
    for seed in range(60):
        found = baseline_of(np.full(336, 0.05), seed)
        watch = Watch.begin(4)
        for hour in range(200):
            changed = hour >= 60
            e = rise(found, hour % 24 // 6, float(rng.binomial(5, 0.3 if changed else 0.05)), 5)
            assert e is not None
            watch = watch.look(e)
            if watch.evidence >= 504 / 0.045:
                break
        delays.append(watch.looks - 60)
        assert abs(watch.began - 61) <= 30
    assert np.median(delays) <= 12, f"median delay {np.median(delays)} hours"
