"""Whether endpoints answer alike: alarms stay rare over many pairs, differences are found, sameness is never claimed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest

from drift.alike import Counts, counts_of, pairs
from drift.endpoints import series_of
from drift.history import Window
from drift.models import Endpoint, Monitor, Run

END = datetime(2026, 11, 20, tzinfo=UTC)
HOUR = timedelta(hours=1)


def window(hours: int) -> Window:
    return Window(END - HOUR * hours, END)


def key(number: int) -> UUID:
    return UUID(int=number)


def made(
    rng: np.random.Generator, hours: int, share: float, *, canaries: int = 8, answers: int = 10, clustered: bool = False
) -> Counts:
    """Each answer is the rarer one with chance `share`; clustered: all answers of one hour together."""
    found: dict[int, dict[datetime, dict[str, int]]] = {}
    for canary in range(canaries):
        for hour in range(hours):
            rare = answers * int(rng.random() < share) if clustered else int(rng.binomial(answers, share))
            counts = {"common": answers - rare, "rare": rare}
            found.setdefault(canary, {})[END - HOUR * (hours - hour)] = {k: v for k, v in counts.items() if v}
    return found


def test_eight_alike_are_hardly_ever_told_apart() -> None:
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        counts = {key(i): made(rng, 24, 0.3) for i in range(8)}
        found = pairs(counts, window(24), seed)
        assert len(found) == 28
        alarms += any(pair.differ for pair in found)
    assert alarms <= 6, "at most 5 % of comparisons may raise one alarm among 28 pairs; 6 of 40 is the 99 % limit"


def test_answers_that_come_together_do_not_count_as_many() -> None:
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        counts = {key(i): made(rng, 48, 0.3, answers=40, clustered=True) for i in range(2)}
        alarms += pairs(counts, window(48), seed)[0].differ
    assert alarms <= 8


def test_a_real_difference_is_found_with_its_size() -> None:
    rng = np.random.default_rng(3)
    found = pairs({key(1): made(rng, 48, 0.1), key(2): made(rng, 48, 0.6)}, window(48))[0]
    assert found.differ
    assert found.adjusted is not None and found.adjusted <= 0.01  # noqa: PT018  one figure
    assert found.effect is not None
    assert found.effect.low < 0.25 < found.effect.high, "(0.6 - 0.1) ** 2: how much more often across than within"


def test_where_nothing_is_found_it_is_said_what_would_have_been_seen() -> None:
    rng = np.random.default_rng(4)
    few = pairs({key(1): made(rng, 3, 0.3), key(2): made(rng, 3, 0.3)}, window(3))[0]
    many = pairs({key(1): made(rng, 96, 0.3), key(2): made(rng, 96, 0.3)}, window(96))[0]
    assert not few.differ
    assert not many.differ
    assert few.unseen is not None
    assert many.unseen is not None
    assert 0 < many.unseen < few.unseen, "more answers leave less room"


def test_answers_that_never_differed_still_leave_room_for_a_difference() -> None:
    rng = np.random.default_rng(5)
    found = pairs({key(1): made(rng, 24, 0.0), key(2): made(rng, 24, 0.0)}, window(24))[0]
    assert found.p == 1
    assert found.unseen is not None
    assert found.unseen > 0.1


def test_only_prompts_and_hours_that_both_were_asked_count() -> None:
    rng = np.random.default_rng(6)
    left, right = made(rng, 24, 0.3), made(rng, 24, 0.3)
    apart = {canary + 100: hours for canary, hours in right.items()}
    assert pairs({key(1): left, key(2): apart}, window(24))[0].p is None
    one_shared = {0: right[0]}
    found = pairs({key(1): left, key(2): one_shared}, window(24))[0]
    assert (found.p, found.canaries) == (None, 1)
    before = {canary: {at - timedelta(days=9): c for at, c in hours.items()} for canary, hours in right.items()}
    assert pairs({key(1): left, key(2): before}, window(24))[0].p is None


def test_the_same_counts_give_the_same_figures() -> None:
    rng = np.random.default_rng(7)
    counts = {key(i): made(rng, 24, 0.2 + 0.1 * i) for i in range(3)}
    assert pairs(counts, window(24)) == pairs(counts, window(24))


@pytest.mark.django_db
def test_counts_come_from_the_recorded_hours_in_one_query(
    monitor: Monitor, record_answers: Callable[..., Run], django_assert_num_queries
) -> None:
    at = END - HOUR
    record_answers(monitor, [["a", "a", "b"], ["x", "x", "x"]], at=at)
    other = Endpoint.objects.create(team=monitor.endpoint.team, name="other", base_url="http://x/v1", model="m")
    series = {key(1): series_of(monitor.endpoint, monitor.suite).pk, key(2): series_of(other, monitor.suite).pk}
    with django_assert_num_queries(1):
        found = counts_of(series, window(24))
    assert found[key(2)] == {}
    assert sorted(sum(hour.values()) for canary in found[key(1)].values() for hour in canary.values()) == [2, 2]
