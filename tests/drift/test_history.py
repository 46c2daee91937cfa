from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from drift.answers import Decoded, Outcome
from drift.history import Window, canary_buckets, canary_figures, changes, gaps, heatmap, lanes, points
from drift.models import Finding, Identity, Monitor, Run, Series, Span
from tests.conftest import read_text

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def series_of(run: Run) -> Series:
    assert run.series
    return run.series


def test_short_windows_are_told_by_hour_and_long_ones_by_day() -> None:
    assert Window(NOON - 24 * HOUR, NOON).span == Span.HOUR
    assert len(Window(NOON - 24 * HOUR, NOON).starts()) == 24
    assert Window(NOON - timedelta(days=30), NOON).span == Span.DAY
    assert len(Window(NOON - timedelta(days=30), NOON).starts()) == 31, "both ends are parts of a day"
    assert Window(NOON - HOUR / 2, NOON).starts() == [NOON - HOUR]


def test_what_was_not_asked_is_an_empty_point(monitor: Monitor, record_answers: Callable[..., Run]) -> None:
    record_answers(monitor, [["a", "a", "b"], ["c"] * 3], at=NOON - 5 * HOUR)
    run = record_answers(monitor, [["a", "a", "b"], ["c"] * 3], at=NOON - 2 * HOUR)
    found = points(series_of(run), Window(NOON - 6 * HOUR, NOON))
    assert [p.samples for p in found] == [0, 6, 0, 0, 6, 0]
    assert [p.divergence for p in found] == [None, 0.5, None, None, 0.5, None]
    assert found[0].p50_ms is None


def test_failures_leave_divergence_unknown_and_are_counted(
    monitor: Monitor, record_answers: Callable[..., Run]
) -> None:
    down = Decoded(version=1, outcome=Outcome.TIMEOUT)
    run = record_answers(monitor, [[down] * 3, [down] * 3], at=NOON)
    [point] = points(series_of(run), Window(NOON, NOON + HOUR))
    assert point.samples == 6
    assert point.comparable == 0
    assert point.divergence is None
    assert point.outcomes == {"timeout": 6}


def test_lanes_hold_the_share_of_each_identity(monitor: Monitor, record_answers: Callable[..., Run]) -> None:
    record_answers(monitor, [[read_text("a", fingerprint="old")] * 4], at=NOON - 3 * HOUR)
    mixed = [read_text("a", fingerprint="old")] * 3 + [read_text("a", fingerprint="new")]
    run = record_answers(monitor, [mixed], at=NOON - HOUR)
    found = lanes(points(series_of(run), Window(NOON - 3 * HOUR, NOON)))
    assert [(lane.label, lane.shares) for lane in found] == [("old", (1.0, 0.0, 0.75)), ("new", (0.0, 0.0, 0.25))]
    assert found[0].detail == "model gpt-x-2026"


def test_rare_identities_share_a_lane(monitor: Monitor, record_answers: Callable[..., Run]) -> None:
    run = record_answers(monitor, [[read_text("a", fingerprint=f"fp{i}") for i in range(9)]], at=NOON)
    found = lanes(points(series_of(run), Window(NOON, NOON + HOUR)))
    assert len(found) == 6
    assert found[-1].label == "4 others"
    assert sum(lane.shares[0] for lane in found) == pytest.approx(1)


def test_no_answer_no_lane(monitor: Monitor, record_answers: Callable[..., Run]) -> None:
    run = record_answers(monitor, [[Decoded(version=1, outcome=Outcome.TIMEOUT)]], at=NOON)
    assert lanes(points(series_of(run), Window(NOON, NOON + HOUR))) == []
    assert not Identity.objects.exists()


def test_the_first_answer_of_a_run_is_left_out_of_a_canarys_figures(
    monitor: Monitor, record_answers: Callable[..., Run]
) -> None:
    run = record_answers(monitor, [["cold", "warm", "warm", "other"], ["x", "x"]], at=NOON)
    canaries = list(monitor.suite.canaries.order_by("places__position"))
    first, second = canary_figures(canary_buckets(series_of(run), Window(NOON, NOON + HOUR)), canaries)
    assert (first.answers, first.distinct, first.pairs, first.pairs_differing) == (3, 2, 3, 2)
    assert first.modal_share == pytest.approx(2 / 3)
    assert second.divergence is None, "one warm answer makes no pair"


def test_the_heatmap_is_none_where_there_is_no_pair(monitor: Monitor, record_answers: Callable[..., Run]) -> None:
    run = record_answers(monitor, [["a", "b", "c"], ["x", "x", "x"]], at=NOON - HOUR)
    canaries = list(monitor.suite.canaries.order_by("places__position"))
    window = Window(NOON - 2 * HOUR, NOON)
    rows = heatmap(canary_buckets(series_of(run), window), canaries, window)
    assert [row.divergences for row in rows] == [(None, 1.0), (None, 0.0)]


def test_long_gaps_carry_their_reason(monitor: Monitor, record_answers: Callable[..., Run]) -> None:
    run = record_answers(monitor, [["a"]], at=NOON - 9 * HOUR)
    common = {"monitor": monitor, "state": "skipped", "repeats": 5, "concurrency": 1}
    Run.objects.create(scheduled_for=NOON - 8 * HOUR, missed_slots=36, problem="the scheduler was away", **common)
    Run.objects.create(scheduled_for=NOON - 2 * HOUR, missed_slots=1, problem="still busy", **common)
    found = gaps(series_of(run), Window(NOON - 24 * HOUR, NOON))
    assert found == [(NOON - 8 * HOUR, NOON - 5 * HOUR, "the scheduler was away")]


def test_what_was_found_to_change_is_told_in_a_few_words(monitor: Monitor, record_answers: Callable[..., Run]) -> None:
    run = record_answers(monitor, [["a"]], at=NOON - 3 * HOUR)
    common = {
        "team": monitor.endpoint.team, "endpoint": monitor.endpoint, "series": run.series, "severity": "high", "found_at": NOON,
    }  # fmt: skip
    for kind in ("new_identity", "behavioural", "silent_change", "outage"):
        Finding.objects.create(kind=kind, began_at=NOON - 2 * HOUR, **common)
    Finding.objects.create(kind="new_identity", began_at=NOON - 30 * HOUR, **common)
    found = changes(series_of(run), Window(NOON - 24 * HOUR, NOON))
    assert found == [(NOON - 2 * HOUR, "new identity, answers moved, no identity did")]
