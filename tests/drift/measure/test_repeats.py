import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.measure.repeats import (
    chance_of_seeing_a_flip,
    flipping,
    pass_all,
    pass_at,
    repeats_exchangeable,
    suite_score,
    within_case_spread,
)


def test_flipping_cases_come_nearest_to_even_first() -> None:
    assert flipping([[1, 1, 1], [1, 1, 1, 0], [0, 0, 0], [1, 0]]) == [3, 1]


def test_a_case_without_a_score_is_left_out_and_never_a_fail() -> None:
    score = suite_score([[1, 1], [], [0.5]])
    assert score is not None
    assert (score.value, score.n) == (0.75, 2)
    assert suite_score([[], []]) is None
    assert within_case_spread([[1], [0]]) is None


def test_the_spread_is_within_cases_and_not_between_them() -> None:
    assert within_case_spread([[1, 1], [0, 0]]) == 0
    assert within_case_spread([[1, 0], [0, 1]]) == pytest.approx(np.sqrt(0.5))


@given(st.integers(1, 6), st.integers(0, 6), st.integers(1, 6))
def test_passing_once_in_k_is_never_rarer_than_passing_always(n: int, c: int, k: int) -> None:
    c = min(c, n)
    once, always = pass_at(k, [c], [n]), pass_all(k, [c], [n])
    if k > n:
        assert once is None
        assert always is None
    else:
        assert once is not None
        assert always is not None
        assert always <= c / n + 1e-12 <= once + 2e-12


@pytest.mark.parametrize(
    ("share", "repeats", "chance"), [(0.99, 5, 0.049), (0.95, 5, 0.226), (0.5, 5, 0.94), (0.95, 20, 0.64)]
)
def test_what_a_few_repeats_can_see(share: float, repeats: int, chance: float) -> None:
    assert chance_of_seeing_a_flip(share, repeats) == pytest.approx(chance, abs=3e-3)


def test_exchangeability_is_unknown_where_nothing_flips() -> None:
    assert repeats_exchangeable(np.ones((5, 4))) is None
    assert repeats_exchangeable(np.ones((5, 1))) is None


@pytest.mark.parametrize(("cases", "least"), [(10, 0.9), (20, 0.92), (50, 0.93)])
def test_the_interval_of_a_suite_covers_its_mean(cases: int, least: float) -> None:
    draw = np.random.default_rng(70)
    covered = []
    for _ in range(1000):
        scores = draw.binomial(1, draw.beta(0.9, 0.3, size=cases)[:, None], size=(cases, 5)).astype(float)
        score = suite_score(scores)
        assert score is not None
        covered.append(score.low <= 0.75 <= score.high)
    assert np.mean(covered) >= least
