import numpy as np
import pytest

from drift.measure.dating import date_change, date_shift, segments


def test_a_clear_change_is_dated_to_its_run() -> None:
    found = date_change([0] * 20 + [5] * 10, [5] * 30)
    assert found is not None
    assert (found.first, found.low, found.high) == (20, 20, 20)
    assert found.before.value == 0
    assert found.after.value == 1


def test_runs_without_answers_are_skipped_but_keep_their_place() -> None:
    found = date_change([0] * 10 + [0] * 5 + [5] * 10, [5] * 10 + [0] * 5 + [5] * 10)
    assert found is not None
    assert found.low == 10
    assert found.high == 15


def test_one_run_has_no_before_and_after() -> None:
    assert date_change([1], [5]) is None
    assert date_change([1, 0], [5, 0]) is None
    assert date_shift([1.0, 2.0, 1.0]) is None
    assert date_shift([1.0] * 9) is None
    with pytest.raises(ValueError, match="2 runs"):
        date_change([1, 1], [5])


@pytest.mark.parametrize("after", [0.15, 0.3])
def test_the_range_of_dates_holds_the_true_one_as_often_as_it_says(after: float) -> None:
    rng = np.random.default_rng(13)
    held = []
    for _ in range(400):
        true = int(rng.integers(1, 120))
        found = date_change(rng.binomial(5, np.where(np.arange(120) < true, 0.05, after)), np.full(120, 5))
        assert found is not None
        assert found.low <= found.first <= found.high
        held.append(found.low <= true <= found.high)
    assert np.mean(held) >= 0.92


def test_the_range_of_a_shift_holds_the_true_date_as_often_as_it_says() -> None:
    rng = np.random.default_rng(14)
    held = []
    for _ in range(400):
        true = int(rng.integers(1, 80))
        found = date_shift(rng.normal(np.where(np.arange(80) < true, 0, 1.2)))
        assert found is not None
        held.append(found[1] <= true <= found[2])
    assert np.mean(held) >= 0.92


def test_a_history_is_cut_where_its_level_changed_and_left_whole_where_it_did_not() -> None:
    rng = np.random.default_rng(15)
    level = np.repeat([0.0, 4.0, 1.0], [40, 50, 30])
    found = segments(level + rng.normal(size=120))
    assert len(found) == 2
    assert abs(found[0] - 40) <= 2
    assert abs(found[1] - 90) <= 2
    assert np.mean([bool(segments(rng.normal(size=120))) for _ in range(40)]) <= 0.2
    assert segments([1.0] * 30) == []
    assert segments([1.0] * 3) == []
