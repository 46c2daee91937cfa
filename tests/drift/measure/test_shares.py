import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.measure import tallies
from drift.measure.budget import Budget, allot
from drift.measure.shares import ShareWatch, begin, tie_break
from drift.measure.tallies import bets, place, tally

HOURS = np.arange(336)
QUARTERS = HOURS % 24 // 6
DAYS = HOURS // 24
(SHARE,) = allot(Budget(0.05 / 3, "week"), [1.0])


def watch_over(rate: float, rng: np.random.Generator) -> ShareWatch:
    found = begin(rng.binomial(5, rate, size=336), np.full(336, 5), QUARTERS, DAYS, SHARE.miss)
    assert found is not None
    return found


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(0, 5))
def test_ranks_of_all_possible_orders_expect_at_most_one(base: list[int], new: int) -> None:
    # under exchangeability each of the scores in the tally is equally likely to be the one that came last
    scores = [*base, new]
    ties = (np.arange(2000) + 0.5) / 2000
    expected = np.zeros(6)
    for score in scores:
        above, equal = sum(other > score for other in scores), sum(other == score for other in scores)
        ones = np.ones(2000)
        expected += bets(above * ones, equal * ones, len(scores) * ones, ties).mean(axis=0) / len(scores)
    assert (expected <= 1.01).all()


def test_ties_alone_never_raise_an_alarm() -> None:
    rng = np.random.default_rng(90)
    watch = begin(np.zeros(336), np.full(336, 5), QUARTERS, DAYS, SHARE.miss)
    assert watch is not None
    for hour in range(2000):
        watch = watch.look(hour % 24 // 6, 0, 5, float(rng.random()))
    assert watch.evidence < 10


def test_on_an_endpoint_that_never_differed_a_few_differing_runs_are_enough() -> None:
    watch = begin(np.zeros(336), np.full(336, 5), QUARTERS, DAYS, SHARE.miss)
    assert watch is not None
    for hour in range(4):
        watch = watch.look(hour % 24 // 6, 2, 5, 0.5)
    assert watch.evidence > SHARE.threshold
    assert watch.more


def test_a_watch_resumed_from_storage_continues_bit_for_bit() -> None:
    rng = np.random.default_rng(91)
    watch = watch_over(0.05, rng)
    stored = ShareWatch.from_numbers(json.loads(json.dumps(watch.to_numbers())))
    assert stored == watch
    for hour in range(30):
        look = (hour % 24 // 6, float(rng.binomial(5, 0.1)), 5.0, float(rng.random()))
        watch, stored = watch.look(*look), stored.look(*look)
        stored = ShareWatch.from_numbers(json.loads(json.dumps(stored.to_numbers())))
    assert stored == watch


def test_the_stored_state_stays_small() -> None:
    rng = np.random.default_rng(92)
    watch = watch_over(0.3, rng)
    for hour in range(500):
        watch = watch.look(hour % 24 // 6, float(rng.binomial(5, 0.3)), 5, float(rng.random()))
    assert len(json.dumps(watch.to_numbers())) < 4000


def test_a_run_that_says_nothing_changes_nothing() -> None:
    watch = watch_over(0.05, np.random.default_rng(93))
    assert watch.look(0, 0, 0, 0.5) is watch
    assert watch.look(17, 1, 5, 0.5) is watch
    assert begin([], [], [], []) is None
    with pytest.raises(ValueError, match="tie"):
        watch.look(0, 1, 5, 1.0)


def test_answers_that_settle_are_a_change_too() -> None:
    rng = np.random.default_rng(94)
    watch = watch_over(0.5, rng)
    for hour in range(48):
        watch = watch.look(hour % 24 // 6, 0, 5, float(rng.random()))
    assert watch.evidence > SHARE.threshold
    assert not watch.more
    assert watch.restarted().evidence == 0


def test_tie_breaks_are_fixed_by_their_key_and_even_over_keys() -> None:
    drawn = np.array([tie_break(f"run {number}") for number in range(4000)])
    assert tie_break("run 7") == drawn[7]
    assert ((drawn >= 0) & (drawn < 1)).all()
    assert np.abs(np.histogram(drawn, bins=10, range=(0, 1))[0] - 400).max() < 90


def test_a_tally_grows_by_what_it_places() -> None:
    state = tally([0.0, 0.2, 0.2])
    _, grown = place(state, 0.4, 0.1)
    assert grown.counts == ((0, 1), (20, 2), (40, 1))
    assert tallies.from_numbers(json.loads(json.dumps(tallies.to_numbers({3: grown})))) == {3: grown}
