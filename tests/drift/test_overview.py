from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from drift.models import Baseline, Endpoint, Finding, Identity, Incident, Monitor, Reading, Run, Series, Team
from drift.overview import overview
from drift.rows import CHURNING, identity_now
from drift.states import State, state_of


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def identity(label: str, now: datetime, born: timedelta, last: timedelta = timedelta(0), known: int = 2) -> Identity:
    row = Identity(
        fingerprint_state="value", fingerprint=label, first_seen=now - born, last_seen=now - last, samples_count=10
    )
    row.values_known = known  # type: ignore[attr-defined]
    return row


DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def test_on_the_first_day_no_identity_is_new(now: datetime) -> None:
    found = identity_now([identity("a", now, 3 * HOUR), identity("b", now, 1 * HOUR)], now)
    assert not found.new
    assert found.labels == ("a", "b")


def test_a_new_identity_in_every_answer(now: datetime) -> None:
    found = identity_now([identity("b", now, 3 * HOUR), identity("a", now, 19 * DAY, last=4 * HOUR)], now)
    assert found.new
    assert found.all_new
    assert found.labels == ("b",)
    assert found.former == ("a",)
    assert found.seen_since == now - 3 * HOUR


def test_a_new_identity_beside_a_known_one(now: datetime) -> None:
    found = identity_now([identity("a", now, 19 * DAY), identity("b", now, 2 * HOUR)], now)
    assert found.new
    assert not found.all_new
    assert found.labels[0] == "b", "the news comes first"


def test_an_identity_is_no_longer_new_after_a_day(now: datetime) -> None:
    found = identity_now([identity("b", now, 25 * HOUR), identity("a", now, 19 * DAY, last=25 * HOUR)], now)
    assert not found.new
    assert found.former == ()


def test_many_values_in_a_week_are_churn(now: datetime) -> None:
    many = [identity("a", now, 2 * DAY, known=CHURNING), identity("b", now, 2 * HOUR, known=CHURNING)]
    assert identity_now(many, now).churning


def an_incident(team: Team, family: str, severity: str, title: str, state: str = "open") -> Incident:
    now = timezone.now()
    times = {"began_at": now - 2 * HOUR, "opened_at": now, "last_finding_at": now, "acknowledged_at": now}
    return Incident.objects.create(team=team, family=family, severity=severity, title=title, state=state, **times)


@pytest.mark.parametrize(
    ("change", "state", "words"),
    [
        ({}, State.STABLE, ""),
        ({"reading": None}, State.NO_DATA, "No answers yet"),
        ({"divergence": None, "comparable": 3}, State.NO_DATA, "Not enough data: 3 of 4"),
        ({"age": 30 * HOUR}, State.NO_DATA, "No answers for 1 d"),
        ({"circuit": "open", "rest_reason": "503 six times"}, State.DOWN, "503 six times"),
        ({"circuit": "half_open"}, State.DOWN, "failures in a row"),
        ({"active": False, "paused_reason": "budget"}, State.PAUSED, "budget"),
        ({"monitors": []}, State.PAUSED, "No monitor yet"),
        ({"active": False, "circuit": "open"}, State.PAUSED, "Paused"),
        ({"watching": "fp_new"}, State.WATCHING, "May be changing: fp_new"),
        (
            {"incident": ("change", "high", "gpt-x: new identity, answers moved")},
            State.CHANGED,
            "New identity, answers moved",
        ),
        ({"incident": ("change", "medium", "gpt-x: only white space moved")}, State.WATCHING, "Only white space moved"),
        ({"incident": ("outage", "high", "gpt-x: does not answer")}, State.DOWN, "Does not answer"),
        ({"incident": ("data", "medium", "gpt-x: no data")}, State.NO_DATA, "No data"),
        ({"incident": ("change", "high", "a: b", "acknowledged")}, State.CHANGED, "B, acknowledged"),
        ({"incident": ("change", "high", "a: b"), "active": False}, State.PAUSED, "Paused"),
    ],
)
def test_the_state_is_the_first_line_that_applies(
    change: dict[str, Any], state: State, words: str, endpoint: Endpoint, monitor: Monitor, now: datetime
) -> None:
    monitor.canaries_count = 2  # type: ignore[attr-defined]
    monitor.active = change.get("active", True)
    monitor.paused_reason = change.get("paused_reason", "")
    endpoint.circuit = change.get("circuit", "closed")
    endpoint.rest_reason = change.get("rest_reason", "")
    reading = Reading(
        taken_at=now - change.get("age", HOUR),
        comparable=change.get("comparable", 10),
        divergence=change.get("divergence", 0.2),
    )
    reading.watching = change.get("watching", "")  # type: ignore[attr-defined]
    incidents = [an_incident(endpoint.team, *change["incident"])] if "incident" in change else []
    found = state_of(endpoint, change.get("monitors", [monitor]), change.get("reading", reading), incidents, now)
    assert found[0] == state
    assert words in found[1]


def test_worst_first_then_by_divergence(
    team: Team, monitor: Monitor, record_answers: Callable[..., Run], now: datetime
) -> None:
    def another(name: str, answers: Sequence[Sequence[str]], **fields: Any) -> None:
        made = Endpoint.objects.create(team=team, name=name, base_url="http://x/v1", model="m", **fields)
        watched = Monitor.objects.create(endpoint=made, suite=monitor.suite, next_due_at=now)
        record_answers(watched, answers, at=now)

    record_answers(monitor, [["a"] * 5, ["b"] * 5], at=now)
    another("wild", [["a", "b", "c", "d", "e"], ["x"] * 5])
    another("gone", [["a"] * 5, ["b"] * 5], circuit="open", failures_in_a_row=5)
    rows = overview(team, now).rows
    assert [(row.name, row.state) for row in rows] == [
        ("gone", State.DOWN),
        ("wild", State.STABLE),
        ("gpt-x", State.STABLE),
    ]
    assert "1 of 3 endpoints cannot be asked." in overview(team, now).verdict.headline


def test_nothing_diverged_is_said_with_what_it_rests_on(
    team: Team, monitor: Monitor, record_answers: Callable[..., Run], now: datetime
) -> None:
    record_answers(monitor, [["a"] * 5, ["b"] * 5], at=now)
    said = overview(team, now).verdict
    assert said.headline == "No endpoint changed."
    assert said.detail == "0 of 12 pairs of answers differed in the last 24 hours."


def test_a_change_heads_the_page_with_what_it_voids(
    team: Team, monitor: Monitor, record_answers: Callable[..., Run], now: datetime
) -> None:
    for back in (4, 3, 2):
        run = record_answers(monitor, [["a", "a", "b"], ["c"] * 3], at=now - back * HOUR)
    Incident.objects.all().delete()
    Baseline.objects.all().delete()
    made = an_incident(team, "change", "high", "gpt-x: new identity")
    made.endpoints.add(monitor.endpoint)
    times = {"since": now - DAY, "wanted_runs": 8, "runs_count": 8}
    baseline = Baseline.objects.create(
        series=run.series, name="May", state="invalidated", reason="new identity", invalidated_at=now, **times
    )
    Baseline.objects.create(series=run.series, since=now - HOUR, wanted_runs=8, runs_count=3)
    Finding.objects.create(
        team=team,
        endpoint=monitor.endpoint,
        series=run.series,
        baseline=baseline,
        incident=made,
        kind="new_identity",
        severity="high",
        voids=True,
        began_at=now - 2 * HOUR,
        found_at=now,
    )
    found = overview(team, now)
    assert found.rows[0].state == State.CHANGED
    assert found.verdict.headline.startswith("gpt-x changed since ")
    assert found.verdict.consequence == "Baseline “May” of gpt-x no longer holds."
    assert "A new baseline is being taken: 3 of 8 runs." in found.verdict.detail
    assert [cell.kind for cell in found.rows[0].cells].count("changed") == 1, (
        "the hours since it began that have answers"
    )
    assert [card.incident for card in found.cards] == [made]


def test_resolved_incidents_are_over(
    team: Team, monitor: Monitor, record_answers: Callable[..., Run], now: datetime
) -> None:
    record_answers(monitor, [["a"] * 5, ["b"] * 5], at=now)
    made = an_incident(team, "change", "high", "gpt-x: new identity")
    made.endpoints.add(monitor.endpoint)
    Incident.objects.update(state="resolved", resolved_at=now)
    assert overview(team, now).rows[0].state == State.STABLE


def test_gaps_stay_gaps(team: Team, monitor: Monitor, record_answers: Callable[..., Run], now: datetime) -> None:
    record_answers(monitor, [["a"] * 3, ["b"] * 3], at=now - 5 * HOUR)
    cells = overview(team, now).rows[0].cells
    assert len(cells) == 24
    assert [cell.kind for cell in cells].count("gap") == 23
    assert all(cell.divergence is None for cell in cells if cell.kind == "gap")


def test_an_endpoint_that_mostly_fails_shows_it(
    team: Team, monitor: Monitor, record_answers: Callable[..., Run], now: datetime
) -> None:
    from drift.answers import Decoded, Outcome

    bad = Decoded(version=1, outcome=Outcome.TIMEOUT)
    record_answers(monitor, [["a", bad, bad, bad], [bad] * 4], at=now)
    assert overview(team, now).rows[0].cells[-1].kind == "failing"


def test_other_teams_are_not_seen(mallory: Any, monitor: Monitor, now: datetime) -> None:
    assert overview(mallory.teams.get(), now).rows == ()


def test_status_prints_the_overview(
    team: Team, monitor: Monitor, record_answers: Callable[..., Run], now: datetime
) -> None:
    record_answers(monitor, [["a", "a", "b"], ["c"] * 3], at=now)
    out = StringIO()
    call_command("status", stdout=out)
    assert "gives different answers to the same prompt" in out.getvalue()
    line = next(line for line in out.getvalue().splitlines() if line.startswith("Stable"))
    assert "gpt-x" in line
    assert "50.0 %" in line
    assert "fp_one" in line


def test_status_as_json_keeps_unknown_as_null(team: Team, monitor: Monitor) -> None:
    out = StringIO()
    call_command("status", "--json", stdout=out)
    [seen_team] = json.loads(out.getvalue())
    assert seen_team["team"] == "Eval team"
    [row] = seen_team["endpoints"]
    assert row["state"] == "no data"
    assert row["divergence"] is None


def test_status_of_an_unknown_team_is_an_error(db: None) -> None:
    with pytest.raises(CommandError, match="no team called"):
        call_command("status", "--team", "nobody")


def test_a_row_speaks_of_the_first_active_monitor(team: Team, monitor: Monitor, now: datetime) -> None:
    series = Series.objects.create(
        endpoint=monitor.endpoint, suite=monitor.suite, transport="whole", parameters={}, digest=b"1"
    )
    older = Series.objects.create(
        endpoint=monitor.endpoint, suite=monitor.suite, transport="whole", parameters={}, digest=b"2"
    )
    Reading.objects.create(series=series, taken_at=now, divergence=0.5)
    Reading.objects.create(series=older, taken_at=now - DAY, divergence=0.1)
    row = overview(team, now).rows[0]
    assert row.reading
    assert row.reading.divergence == 0.5, "the latest reading counts"
