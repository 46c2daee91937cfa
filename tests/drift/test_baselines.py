"""A baseline's life on the real road: runs recorded, one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from drift import baselines
from drift.answers import Outcome
from drift.baselines import BaselineError
from drift.findings.kinds import Kind
from drift.gate import Answer, gate
from drift.models import (
    Baseline,
    Channel,
    Delivery,
    Endpoint,
    Event,
    Finding,
    Incident,
    Monitor,
    Run,
    SeriesWatch,
    User,
)
from tests.conftest import NOW, read_text

SLOT = timedelta(minutes=5)
Record = Callable[..., Run]


@pytest.fixture
def runs(monitor: Monitor, record_answers: Record) -> Callable[..., list[Run]]:
    """Records runs five minutes apart; `texts` per canary, every answer with `fingerprint`."""
    at = [NOW]

    def record(
        times: int,
        texts: Sequence[str] = ("He was an American physicist", "Red, Black, North"),
        fingerprint: str = "fp_one",
        **fields: Any,
    ) -> list[Run]:
        made = []
        for _ in range(times):
            answers = [[read_text(text, fingerprint=fingerprint, **fields)] * 5 for text in texts]
            made.append(record_answers(monitor, answers, at[0]))
            at[0] += SLOT
        return made

    return record


def state_of(endpoint: Endpoint) -> list[str]:
    return list(Baseline.objects.filter(series__endpoint=endpoint).order_by("pk").values_list("state", flat=True))


def test_the_first_twelve_runs_are_the_first_baseline(endpoint: Endpoint, runs: Callable[..., list[Run]]) -> None:
    runs(11)
    assert state_of(endpoint) == ["collecting"]
    runs(1)

    baseline = Baseline.objects.get()
    assert baseline.state == Baseline.State.VALID
    assert baseline.runs_count == 12
    assert baseline.answers_count == 12 * 2 * 4, "the first answer of each canary and run may be cold and is left out"
    assert baseline.divergence == 0
    assert list(baseline.prompt_tokens.values()) == [11, 11]
    assert gate(endpoint, NOW + 12 * SLOT).answer is Answer.VALID


def test_a_fingerprint_that_takes_over_is_asked_about_twice_at_once_and_then_voids_it(
    endpoint: Endpoint, monitor: Monitor, runs: Callable[..., list[Run]]
) -> None:
    """GIVEN a valid baseline WHEN every answer carries another fingerprint THEN the incident names both."""
    Channel.objects.create(team=endpoint.team, kind="email", name="Mail", address="a@example.org", address_hint="a@…")
    runs(14)
    [first] = runs(1, fingerprint="fp_two")

    extra = Run.objects.get(state=Run.State.DUE)
    assert extra.origin == Run.Origin.EXTRA, "asked again at once, without waiting for the slot"
    assert not Incident.objects.exists(), "one run is no change"
    assert gate(endpoint, NOW + 15 * SLOT).answer is Answer.NOT_ENOUGH
    extra.delete()
    runs(1, fingerprint="fp_two")
    Run.objects.get(state=Run.State.DUE, origin=Run.Origin.EXTRA).delete()
    runs(1, fingerprint="fp_two")

    assert state_of(endpoint) == ["invalidated", "collecting"]
    void = Baseline.objects.get(state=Baseline.State.INVALIDATED)
    assert "fp_two" in void.reason
    assert void.evidence["kind"] == Kind.NEW_IDENTITY
    finding = Finding.objects.get(kind=Kind.NEW_IDENTITY)
    assert finding.baseline == void
    assert finding.began_at == first.scheduled_for
    incident = Incident.objects.get()
    assert incident.title == "gpt-x: new identity"
    delivery = Delivery.objects.get()
    assert delivery.state == Delivery.State.DUE
    answer = gate(endpoint, NOW + 17 * SLOT)
    assert answer.answer is Answer.VOID
    assert answer.baseline == void


def test_the_next_baseline_counts_from_the_first_changed_run_and_says_what_moved(
    endpoint: Endpoint, runs: Callable[..., list[Run]]
) -> None:
    runs(14)
    runs(baselines.AFTER_CHANGE_RUNS + 1, fingerprint="fp_two")

    assert state_of(endpoint) == ["superseded", "valid"]
    valid = Baseline.objects.get(state=Baseline.State.VALID)
    assert valid.since == NOW + 14 * SLOT
    assert Finding.objects.filter(kind=Kind.COSMETIC).count() == 1
    incident = Incident.objects.get()
    assert incident.state == Incident.State.RESOLVED
    assert incident.resolution == "It ended by itself."


def test_a_change_that_moves_answers_shows_the_token_at_which_they_part(
    endpoint: Endpoint, runs: Callable[..., list[Run]]
) -> None:
    runs(14)
    runs(9, texts=("He was a physicist from New York", "Red, Black, North"), fingerprint="fp_two")

    moved = Finding.objects.get(kind=Kind.BEHAVIOURAL)
    assert moved.facts["old_token"] == " an"
    assert moved.facts["new_token"] == " a"
    assert moved.facts["token"] == 2
    assert Incident.objects.get().title == "gpt-x: new identity, answers moved"


def test_a_silent_change_is_dated_and_voids(endpoint: Endpoint, runs: Callable[..., list[Run]]) -> None:
    runs(14)
    runs(6, texts=("He was a physicist", "Baltic, White, Yellow"))

    finding = Finding.objects.get(kind=Kind.SILENT_CHANGE)
    assert NOW + 13 * SLOT <= finding.began_at <= NOW + 15 * SLOT
    assert finding.facts["canaries_moved"] == 2
    assert "silent" not in state_of(endpoint)
    assert state_of(endpoint)[0] == "invalidated"


def test_white_space_alone_is_told_as_formatting(endpoint: Endpoint, runs: Callable[..., list[Run]]) -> None:
    runs(14)
    runs(6, texts=("He was an American  physicist", "Red,  Black, North"))

    assert [f.kind for f in Finding.objects.filter(voids=True)] == [Kind.FORMATTING]


def test_another_prompt_count_voids(monitor: Monitor, record_answers: Record, runs: Callable[..., list[Run]]) -> None:
    runs(14)
    for slot in (20, 21):
        text = read_text("He was an American physicist")
        longer = replace(text, usage=replace(text.usage, prompt_tokens=13))
        record_answers(monitor, [[longer] * 5, [longer] * 5], NOW + slot * SLOT)

    finding = Finding.objects.get(kind=Kind.PROMPT_TOKENS)
    assert (finding.facts["old"], finding.facts["new"]) == (11, 13)
    assert finding.voids


def test_an_outage_is_one_incident_that_ends_with_the_answers(
    endpoint: Endpoint, runs: Callable[..., list[Run]]
) -> None:
    runs(14)
    runs(3, outcome=Outcome.HTTP_ERROR, error_message="upstream is down")
    incident = Incident.objects.get()
    assert incident.title == "gpt-x: does not answer"
    assert state_of(endpoint) == ["valid"], "an outage says nothing about the model"
    runs(2)

    incident.refresh_from_db()
    assert incident.state == Incident.State.RESOLVED


def test_the_database_allows_one_valid_baseline_per_series(endpoint: Endpoint, runs: Callable[..., list[Run]]) -> None:
    runs(12)
    valid = Baseline.objects.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        Baseline.objects.create(
            series=valid.series, state="valid", valid_at=NOW, since=NOW, wanted_runs=1, origin="person"
        )


def test_this_week_is_the_datum(endpoint: Endpoint, alice: User, runs: Callable[..., list[Run]]) -> None:
    made = runs(20)
    series = made[0].series
    assert series is not None
    baseline = baselines.set_by_hand(series, NOW, NOW + 20 * SLOT, alice, NOW + 21 * SLOT, name="May", pin=True)

    assert state_of(endpoint) == ["superseded", "valid"]
    assert baseline.runs_count == 20
    assert baseline.pinned
    runs(6, texts=("Other", "Answers"))
    assert "May" in Finding.objects.get(kind=Kind.SILENT_CHANGE).baseline.name  # type: ignore[union-attr]


def test_a_datum_of_too_few_runs_is_refused_and_the_old_one_stays(
    endpoint: Endpoint, alice: User, runs: Callable[..., list[Run]]
) -> None:
    made = runs(13)
    assert made[0].series is not None
    with pytest.raises(BaselineError, match="holds 2"):
        baselines.set_by_hand(made[0].series, NOW, NOW + SLOT, alice, NOW)

    assert state_of(endpoint) == ["valid"]


def test_the_state_of_a_series_stays_small(runs: Callable[..., list[Run]]) -> None:
    runs(40)

    import json

    assert len(json.dumps(SeriesWatch.objects.get().state)) < 20_000


@pytest.mark.parametrize(("times", "status"), [(1, 4), (13, 0)])
def test_the_gate_command_exits_with_its_answer(
    times: int,
    status: int,
    endpoint: Endpoint,
    runs: Callable[..., list[Run]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs(times)
    later: datetime = NOW + times * SLOT
    monkeypatch.setattr("django.utils.timezone.now", lambda: later)
    with pytest.raises(SystemExit) as ended:
        call_command("gate", "gpt-x", json=True)

    assert ended.value.code == status
    assert '"exit_status": ' + str(status) in capsys.readouterr().out


def test_a_fault_in_the_rules_costs_the_judgement_and_not_the_answers(
    runs: Callable[..., list[Run]], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs(3)

    def fails(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("drift.findings.apply.judge", fails)
    [run] = runs(1)
    monkeypatch.undo()
    runs(1)

    assert run.state == Run.State.FINISHED
    assert run.samples_comparable == 10
    assert "could not be judged (ZeroDivisionError)" in Event.objects.get().text
    assert Baseline.objects.get().runs_count == 4, "nothing of the failed judgement is kept, and the next one goes on"
