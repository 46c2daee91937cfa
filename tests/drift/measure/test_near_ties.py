import numpy as np
import pytest

from drift.measure.near_ties import (
    agreement_forecast,
    check_forecast,
    flip_chances,
    margin_at_divergence,
    margins,
    near_ties,
    noise,
    signed_margins,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(50)


def test_margins_are_the_gap_between_the_two_best_and_unknown_where_a_value_is() -> None:
    found = margins([(-0.1, -3.0), (-0.9, -0.8), None])
    assert found[:2] == pytest.approx([2.9, 0.1])
    assert np.isnan(found[2])


def test_answers_part_at_the_nearest_tie_so_far_or_the_figure_says_not() -> None:
    margin = np.array([3.0, 0.5, np.nan, 0.1, 0.7])
    nearest, other = margin_at_divergence(margin, 3), margin_at_divergence(margin, 4)
    assert nearest is not None
    assert other is not None
    assert (nearest.margin, nearest.smallest_before, nearest.rank) == (0.1, 0.5, 0)
    assert other.rank == 2
    unknown = margin_at_divergence(margin, 2)
    assert unknown is not None
    assert unknown.margin is None
    assert margin_at_divergence(margin, 5) is None, "the other answer went on"


def test_noise_is_the_scatter_of_repeats_about_their_positions() -> None:
    draw = rng()
    positions = draw.uniform(0, 5, size=200)
    repeats = positions + 0.08 * draw.normal(size=(6, 200))
    repeats[4:, 150:] = np.nan  # two runs had parted from the others by then
    found = noise(repeats)
    assert found is not None
    assert found.sigma == pytest.approx(0.08, rel=0.05)
    assert found.freedom == 150 * 5 + 50 * 3


def test_noise_needs_a_position_seen_twice_and_may_be_exactly_zero() -> None:
    assert noise(np.array([[1.0, np.nan], [np.nan, 2.0]])) is None
    still = noise(np.array([[1.0, 2.0], [1.0, 2.0]]))
    assert still is not None
    assert still.sigma == 0


def test_an_endpoint_without_noise_flips_only_exact_ties() -> None:
    chances = flip_chances(np.array([0.0, 1e-6, np.nan]), 0.0)
    assert chances[:2].tolist() == [0.5, 0.0]
    assert np.isnan(chances[2])
    with pytest.raises(ValueError, match="negative"):
        flip_chances(np.array([1.0]), -1.0)


def test_near_ties_are_named_before_they_flip() -> None:
    found = near_ties(np.array([4.0, 0.02, 2.0, 0.15, np.nan]), sigma=0.1)
    assert [tie.position for tie in found] == [1, 3]
    assert found[0].chance > found[1].chance > 0.01


def test_the_forecast_holds_when_later_runs_follow_the_measured_noise() -> None:
    draw = rng()
    sigma, held, skills = 0.1, [], []
    for _ in range(200):
        truth = draw.exponential(0.4, size=300)
        seen = truth + sigma * draw.normal(size=(5, 300))
        measured = noise(seen)
        assert measured is not None
        mean = seen.mean(axis=0)
        later = signed_margins(truth + sigma * draw.normal(size=300), np.zeros(300))
        forecast = check_forecast(flip_chances(np.abs(mean), measured.sigma, 5), later * np.sign(mean) < 0)
        assert forecast is not None
        held.append(forecast.held)
        skills.append(forecast.skill)
    assert np.mean(held) >= 0.9
    assert np.mean([skill for skill in skills if skill is not None]) > 0.2


def test_agreement_falls_at_each_near_tie_and_nowhere_else() -> None:
    agreed = agreement_forecast(np.array([0.0, 0.5, 0.0, np.nan, 0.1]))
    assert agreed == pytest.approx([1, 0.5, 0.5, 0.5, 0.5 * 0.82])


def test_a_forecast_without_known_chances_is_unknown() -> None:
    assert check_forecast(np.array([np.nan]), np.array([True])) is None
    always = check_forecast(np.array([1.0, 1.0]), np.array([True, True]))
    assert always is not None
    assert always.skill is None
    assert always.held
