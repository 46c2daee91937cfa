import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.measure.budget import Budget, allot, e_bh, e_value_of_period


def test_a_budget_reads_as_it_was_said() -> None:
    assert str(Budget(1, "quarter")) == "at most one false alarm a quarter"
    assert str(Budget(0.5, "year")) == "at most 0.5 false alarms a year"


def test_a_budget_of_nothing_or_of_an_unknown_period_is_refused() -> None:
    with pytest.raises(ValueError, match="never let an alarm pass"):
        Budget(0, "week")
    with pytest.raises(ValueError, match="not 'fortnight'"):
        Budget(1, "fortnight")


@given(st.lists(st.floats(0.1, 12), min_size=1, max_size=40), st.floats(0.1, 5), st.data())
def test_shares_add_up_to_the_budget(looks: list[float], alarms: float, data: st.DataObject) -> None:
    weights = data.draw(st.none() | st.lists(st.floats(0.1, 9), min_size=len(looks), max_size=len(looks)))
    shares = allot(Budget(alarms, "month"), looks, weights)
    assert sum(share.false_alarms for share in shares) == pytest.approx(alarms)
    for share in shares:
        assert share.looks / share.threshold + share.miss <= share.false_alarms * 1.0001 or share.threshold == 1


def test_looking_twice_as_often_doubles_the_threshold_and_twice_the_weight_halves_it() -> None:
    one, two, heavy = allot(Budget(1, "quarter"), [1, 2, 1], [1, 1, 2])
    assert two.threshold == pytest.approx(2 * one.threshold)
    assert heavy.threshold == pytest.approx(one.threshold / 2)
    assert allot(Budget(1, "quarter"), []) == []
    with pytest.raises(ValueError, match="positive"):
        allot(Budget(1, "quarter"), [0.0])
    with pytest.raises(ValueError, match="1 series but 2 weights"):
        allot(Budget(1, "quarter"), [1.0], [1, 2])


def test_e_bh_names_one_strong_series_or_several_that_rise_together() -> None:
    assert e_bh([250, 1, 1, 1, 1, 1, 1, 1, 1, 1], level=0.05) == [0]
    assert e_bh([150, 1, 1, 1, 1, 1, 1, 1, 1, 1], level=0.05) == []
    assert e_bh([1, 45, 50, 1, 60, 44, 48, 1, 1, 1], level=0.05) == [1, 2, 4, 5, 6]
    assert e_bh([], level=0.05) == []
    with pytest.raises(ValueError, match="between 0 and 1"):
        e_bh([1.0], level=1)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30), st.data())
def test_more_evidence_never_names_fewer_series(values: list[float], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(values) - 1))
    before = set(e_bh(values, 0.1))
    stronger = [*values]
    stronger[index] *= 2
    assert before <= set(e_bh(stronger, 0.1))


def test_the_share_of_false_names_stays_under_the_level_though_series_depend_on_each_other() -> None:
    rng = np.random.default_rng(12)
    wrong = []
    for _ in range(3000):
        shared = np.exp(rng.normal() - 0.5)
        nulls = shared * np.exp(rng.normal(size=40) * 1.5 - 1.125)  # mean 1 each, all moved by one common factor
        named = e_bh([*nulls, *np.exp(rng.normal(5, 1, size=10))], level=0.1)
        wrong.append(sum(index < 40 for index in named) / max(1, len(named)))
    assert np.mean(wrong) <= 0.1


def test_a_period_needs_a_look() -> None:
    assert e_value_of_period(1000, 500) == 2
    with pytest.raises(ValueError, match="at least one look"):
        e_value_of_period(1, 0)
