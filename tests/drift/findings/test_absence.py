"""What is found because nothing came, and what is not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from drift.findings import absence
from drift.findings.kinds import Kind
from drift.models import Endpoint, Finding, Heartbeat, Incident, Monitor, Run
from tests.conftest import NOW

HOUR = timedelta(hours=1)


@pytest.fixture
def answered(monitor: Monitor, record_answers: Callable[..., Run]) -> Run:
    """A monitor of five-minute slots with one finished run, an hour old."""
    return record_answers(monitor, [["a"] * 3, ["b"] * 3], NOW - HOUR)


def due(monitor: Monitor, minutes_ago: int, **fields: object) -> Run:
    return Run.objects.create(
        monitor=monitor,
        scheduled_for=NOW - timedelta(minutes=minutes_ago),
        repeats=3,
        concurrency=1,
        **fields,  # type: ignore[arg-type]
    )


def look(at: object = NOW) -> list[str]:
    Heartbeat.objects.filter(part="absence").delete()
    absence.look(at)  # type: ignore[arg-type]
    return list(Finding.objects.order_by("pk").values_list("kind", flat=True))


def test_runs_that_do_not_come_back_are_no_data_once(monitor: Monitor, answered: Run) -> None:
    due(monitor, 50)

    assert look() == [Kind.NO_DATA]
    assert look(NOW + timedelta(minutes=5)) == [Kind.NO_DATA]
    assert Incident.objects.get().title == "gpt-x: no data"


def test_it_ends_when_runs_finish_again(monitor: Monitor, answered: Run, record_answers: Callable[..., Run]) -> None:
    waiting = due(monitor, 50)
    look()
    waiting.delete()
    record_answers(monitor, [["a"] * 3, ["b"] * 3], NOW)

    assert look(NOW + timedelta(minutes=1)) == [Kind.NO_DATA, Kind.DATA_AGAIN]
    assert Incident.objects.get().state == Incident.State.RESOLVED


@pytest.mark.parametrize(
    "why",
    ["the budget of 100 tokens a day is spent (120 used)", "the scheduler was not running", "the monitor was paused"],
)
def test_slots_given_up_on_purpose_are_no_silence(why: str, monitor: Monitor, answered: Run) -> None:
    for minutes in (50, 45, 40):
        due(monitor, minutes, state=Run.State.SKIPPED, missed_slots=1, problem=why)

    assert look() == []


def test_a_monitor_that_was_just_resumed_is_no_silence(monitor: Monitor, answered: Run) -> None:
    due(monitor, 1)

    assert look() == []


def test_a_paused_monitor_is_no_silence(monitor: Monitor, answered: Run) -> None:
    due(monitor, 50)
    Monitor.objects.update(active=False, paused_at=NOW)

    assert look() == []


def test_an_endpoint_that_rests_after_failures_is_down_and_not_silent(
    endpoint: Endpoint, monitor: Monitor, answered: Run
) -> None:
    due(monitor, 50)
    Endpoint.objects.update(circuit="open", rest_reason="connection refused", failures_in_a_row=9)

    assert look() == [Kind.OUTAGE]
    assert look(NOW + timedelta(minutes=9)) == [Kind.OUTAGE]
    incident = Incident.objects.get()
    assert incident.began_at == answered.finished_at
    assert "connection refused" in Finding.objects.get().facts["why"]


def test_an_outage_found_at_a_tick_ends_with_two_good_runs(
    endpoint: Endpoint, monitor: Monitor, answered: Run, record_answers: Callable[..., Run]
) -> None:
    Endpoint.objects.update(circuit="open", rest_reason="connection refused")
    look()
    Endpoint.objects.update(circuit="closed", rest_reason="")
    for minutes in (0, 5):
        record_answers(monitor, [["a"] * 3, ["b"] * 3], NOW + timedelta(minutes=minutes))
        look(NOW + timedelta(minutes=minutes + 1))

    assert look() == [Kind.OUTAGE, Kind.RECOVERY]
    assert Incident.objects.get().state == Incident.State.RESOLVED


def test_it_looks_twice_a_minute_at_most(monitor: Monitor, answered: Run) -> None:
    due(monitor, 50)
    assert absence.look(NOW) == 1
    Finding.objects.all().delete()
    assert absence.look(NOW + timedelta(seconds=10)) == 0
    assert absence.look(NOW + timedelta(seconds=40)) == 1
