import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from drift.measure.intervals import (
    Estimate,
    at_most,
    effective_n,
    modified_wilson,
    student_t,
    wilson,
    wilson_of_few_units,
)


@pytest.mark.parametrize(("successes", "trials"), [(4, 5), (5, 5), (0, 5), (19, 20), (30, 30), (2.5, 7.25), (1, 1000)])
def test_wilson_agrees_with_statsmodels(successes: float, trials: float) -> None:
    ours = wilson(successes, trials)
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx(proportion_confint(successes, trials, method="wilson"), abs=1e-12)


def test_no_trials_are_unknown_and_not_zero() -> None:
    assert wilson(0, 0) is None
    assert student_t([0.5]) is None
    assert modified_wilson([], total=0) is None
    assert at_most(0) is None


def test_more_successes_than_trials_are_refused() -> None:
    with pytest.raises(ValueError, match="6 successes of 5"):
        wilson(6, 5)
    with pytest.raises(ValueError, match="lie in"):
        modified_wilson([0.5, 1.2], total=10)
    with pytest.raises(ValueError, match="finite"):
        Estimate(float("nan"), 0, 1, 3)


def test_student_t_agrees_with_scipy() -> None:
    values = np.random.default_rng(4).normal(size=17)
    ours = student_t(values)
    theirs = stats.ttest_1samp(values, 0).confidence_interval()
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_effective_n_of_single_answers_is_their_number_and_of_equal_units_the_number_of_units() -> None:
    single = np.array([0.0] * 30 + [1.0] * 70)
    assert effective_n(single, total=100) == 100
    assert effective_n([0.25] * 8, total=80) == 8
    assert effective_n([0.2, 0.3, 0.25, 0.27], total=40) == 40


def test_no_event_in_59_trials_still_allows_five_percent() -> None:
    assert at_most(59) == pytest.approx(0.0495, abs=5e-4)
    assert at_most(5) == pytest.approx(0.4507, abs=5e-4)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(1, 50))
def test_the_interval_of_unit_means_holds_its_figure_and_stays_inside_zero_and_one(
    means: list[float], repeats: int
) -> None:
    for interval in (modified_wilson, wilson_of_few_units):
        estimate = interval(means, len(means) * repeats)
        assert estimate is not None
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
        assert estimate.high > estimate.low


def test_the_interval_for_few_units_is_never_narrower() -> None:
    means = [0.1, 0.4, 0.0, 0.9]
    plain, wide = modified_wilson(means, 40), wilson_of_few_units(means, 40)
    assert plain is not None
    assert wide is not None
    assert wide.low < plain.low < plain.high < wide.high
