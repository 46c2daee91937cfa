"""Incidents, silences, channels, baselines and the gate as people use them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from drift import incidents
from drift.findings.kinds import Kind
from drift.models import (
    AlertRules,
    Baseline,
    Channel,
    Delivery,
    Drill,
    Endpoint,
    EvalArm,
    EvalRun,
    EvalSet,
    EvalVersion,
    Event,
    Finding,
    Incident,
    Monitor,
    Run,
    Silence,
    User,
)
from drift.secrets import Secret
from tests.conftest import read_text
from tests.drift.findings.simulated import fp

NOW = timezone.now()
SECRET_URL = "https://hooks.example.org/services/T000/B000/very-secret"


@pytest.fixture
def as_bob(bob: User) -> Client:
    client = Client()
    client.force_login(bob)
    return client


@pytest.fixture
def as_vera(vera: User) -> Client:
    client = Client()
    client.force_login(vera)
    return client


@pytest.fixture
def incident(endpoint: Endpoint) -> Incident:
    finding = Finding(
        team_id=endpoint.team_id,
        endpoint=endpoint,
        kind=Kind.NEW_IDENTITY,
        severity=Kind.NEW_IDENTITY.severity,
        began_at=NOW - timedelta(minutes=10),
        found_at=NOW,
        voids=True,
        chance=1e-4,
        facts={"new": [fp("fp_<b>new</b>")], "old": [fp("fp_old")], "taken_over": True},
    )
    incidents.file([finding], NOW)
    return Incident.objects.get()


def test_an_incident_is_read_acknowledged_noted_resolved_and_opened_again(as_bob: Client, incident: Incident) -> None:
    address = f"/incidents/{incident.public_id}/"
    page = as_bob.get(address).content.decode()
    assert "gpt-x: new identity" in page
    assert "fp_&lt;b&gt;new&lt;/b&gt;" in page, "what an endpoint calls itself is text, never markup"

    as_bob.post(address + "acknowledge", {"acknowledge-why": "asked OpenAI", "acknowledge-hours": "24"})
    incident.refresh_from_db()
    assert incident.state == Incident.State.ACKNOWLEDGED
    assert incident.acknowledged_by is not None
    assert incident.acknowledged_until is not None
    assert "asked OpenAI" in as_bob.get("/incidents/").content.decode()

    as_bob.post(address + "note", {"text": "They say:\nnew snapshot."})
    as_bob.post(address + "resolve", {"resolve-resolution": "a new snapshot"})
    incident.refresh_from_db()
    assert incident.state == Incident.State.RESOLVED
    assert "Nothing is open." in as_bob.get("/incidents/").content.decode()
    assert "a new snapshot" in as_bob.get("/incidents/?state=all").content.decode()

    as_bob.post(address + "reopen")
    incident.refresh_from_db()
    assert incident.state == Incident.State.OPEN
    kinds = list(Event.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds == ["opened", "finding", "acknowledged", "note", "resolved", "reopened"]
    assert "new snapshot." in as_bob.get("/feed/?kind=note").content.decode()


def test_a_viewer_reads_everything_and_is_offered_nothing(as_vera: Client, incident: Incident) -> None:
    for address in ("/incidents/", f"/incidents/{incident.public_id}/", "/feed/", "/silences/", "/channels/"):
        page = as_vera.get(address)
        assert page.status_code == 200
        offers = [
            word
            for word in (b"act-form", b"Start a fire drill", b"Plan one", b"Add a note", b"Save")
            if word in page.content
        ]
        assert not offers, f"{address} offers a viewer {offers}"


def test_a_silence_by_provider_with_an_end_and_a_reason(as_bob: Client, endpoint: Endpoint) -> None:
    ends = timezone.localtime(NOW + timedelta(hours=3)).strftime("%Y-%m-%dT%H:%M")
    answer = as_bob.post("/silences/", {"covers": "provider:Example", "ends_at": ends, "reason": "their maintenance"})
    assert answer.status_code == 302
    row = Silence.objects.get()
    assert (row.provider, row.reason) == ("Example", "their maintenance")
    assert "their maintenance" in as_bob.get("/incidents/").content.decode()

    as_bob.post(f"/silences/{row.public_id}/end")
    row.refresh_from_db()
    assert row.ended_at is not None


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"reason": ""}, "required"),
        ({"ends_at": "2020-01-01T00:00"}, "It must end after it begins."),
        ({"covers": "provider:Nobody"}, "Select a valid choice"),
        ({"ends_at": "2999-01-01T00:00"}, "A year at most"),
    ],
)
def test_a_silence_without_sense_is_refused_with_words(
    fields: dict[str, str], complaint: str, as_bob: Client, endpoint: Endpoint
) -> None:
    ends = timezone.localtime(NOW + timedelta(hours=3)).strftime("%Y-%m-%dT%H:%M")
    answer = as_bob.post("/silences/", {"covers": "provider:Example", "ends_at": ends, "reason": "x"} | fields)
    assert answer.status_code == 400
    assert complaint in answer.content.decode()
    assert not Silence.objects.exists()


def channel_form(**fields: Any) -> dict[str, Any]:
    return {"name": "Hook", "address": SECRET_URL, "signing_secret": "s3cret", "least_severity": "medium",
            "time_zone": "Europe/Berlin"} | fields  # fmt: skip


def test_a_channel_keeps_its_secrets_and_is_tested_at_once(as_bob: Client, bob: User) -> None:
    answer = as_bob.post("/channels/new?kind=webhook", channel_form(providers="OpenAI, Together"))
    assert answer.status_code == 302, answer.content.decode()
    channel = Channel.objects.get()
    assert channel.providers == ["OpenAI", "Together"]
    assert isinstance(channel.address, Secret)
    assert channel.address.reveal() == SECRET_URL
    assert Delivery.objects.get().kind == "test"
    for address in ("/channels/", f"/channels/{channel.public_id}/", f"/channels/{channel.public_id}/edit"):
        page = as_bob.get(address).content.decode()
        assert "very-secret" not in page
        assert "s3cret" not in page

    as_bob.post(f"/channels/{channel.public_id}/edit", channel_form(name="Hook 2", address="", signing_secret=""))
    channel.refresh_from_db()
    assert channel.name == "Hook 2"
    assert isinstance(channel.address, Secret)
    assert channel.address.reveal() == SECRET_URL
    assert isinstance(channel.signing_secret, Secret)
    assert channel.signing_secret.reveal() == "s3cret"


@pytest.mark.parametrize(
    ("kind", "fields", "complaint"),
    [
        ("webhook", {"address": "http://169.254.169.254/latest"}, "link-local"),
        ("webhook", {"address": "http://10.0.0.5/x"}, "private"),
        ("webhook", {"address": "ftp://example.org"}, "Enter the full address"),
        ("webhook", {"address": "https://user:pw@example.org/"}, "Leave user name and password out"),
        ("webhook", {"signing_secret": ""}, "required"),
        ("slack", {"address": "hooks"}, "Enter the full address"),
        ("email", {"address": "nobody"}, "valid email"),
        ("webhook", {"time_zone": "Mars/Olympus"}, "No such time zone"),
        ("webhook", {"quiet_from": "22:00"}, "Enter both ends"),
    ],
)
def test_a_channel_that_cannot_work_is_refused_with_words(
    kind: str, fields: dict[str, str], complaint: str, as_bob: Client
) -> None:
    answer = as_bob.post(f"/channels/new?kind={kind}", channel_form(**fields))
    assert answer.status_code == 400
    assert complaint in answer.content.decode()
    assert not Channel.objects.exists()


def test_a_channel_is_disabled_with_a_reason_and_used_again(as_bob: Client, endpoint: Endpoint) -> None:
    channel = Channel.objects.create(
        team=endpoint.team, kind="email", name="Mail", address="a@b.org", address_hint="a@b.org"
    )
    as_bob.post(f"/channels/{channel.public_id}/disable")
    channel.refresh_from_db()
    assert channel.disabled_why == "switched off by bob"
    assert "An alert would reach nobody" in as_bob.get("/incidents/").content.decode()
    as_bob.post(f"/channels/{channel.public_id}/enable")
    channel.refresh_from_db()
    assert channel.disabled_at is None


def test_the_budget_is_set_in_plain_words(as_bob: Client, endpoint: Endpoint) -> None:
    assert "at most one false alarm a quarter" in as_bob.get("/channels/").content.decode()
    as_bob.post("/channels/", {"false_alarms": "2", "period": "month", "reminder_hours": "12"})
    assert AlertRules.objects.get().team == endpoint.team
    assert "at most 2 false alarms a month" in as_bob.get("/channels/").content.decode()
    assert as_bob.post("/channels/", {"false_alarms": "0", "period": "month", "reminder_hours": "1"}).status_code == 400


def test_the_button_asks_for_a_drill(as_bob: Client, endpoint: Endpoint) -> None:
    answer = as_bob.post("/drills/start")
    drill = Drill.objects.get()
    assert answer["Location"] == f"/drills/{drill.public_id}/"
    assert "The drill is running." in as_bob.get(answer["Location"]).content.decode()


def test_a_baseline_is_taken_by_hand_named_and_pinned_and_the_gate_answers(
    as_bob: Client, monitor: Monitor, record_answers: Callable[..., Run]
) -> None:
    at = timezone.now() - timedelta(minutes=60)
    gate = f"/endpoints/{monitor.endpoint.public_id}/gate"
    for number in range(5):
        record_answers(monitor, [["a b"] * 3, ["c d"] * 3], at + timedelta(minutes=5 * number))
    assert as_bob.get(gate).status_code == 425

    wanted = {"since": local(at), "until": local(at + timedelta(minutes=30)), "name": "May", "pin": "on"}
    answer = as_bob.post(f"/endpoints/{monitor.endpoint.public_id}/baseline", wanted)
    assert answer.status_code == 302, answer.content.decode()
    baseline = Baseline.objects.get(state="valid")
    assert (baseline.name, baseline.pinned, baseline.runs_count) == ("May", True, 5)
    record_answers(monitor, [["a b"] * 3, ["c d"] * 3], timezone.now())
    assert as_bob.get(gate).json()["trust"] is True

    as_bob.post(f"/baselines/{baseline.public_id}/change", {"name": "June"})
    as_bob.post(f"/baselines/{baseline.public_id}/change", {"pinned": "false"})
    baseline.refresh_from_db()
    assert (baseline.name, baseline.pinned) == ("June", False)

    as_bob.post(f"/endpoints/{monitor.endpoint.public_id}/baseline/begin")
    assert as_bob.get(gate).status_code == 425


def test_a_baseline_of_too_few_runs_is_refused_with_words(
    as_bob: Client, monitor: Monitor, record_answers: Callable[..., Run]
) -> None:
    at = timezone.now() - timedelta(minutes=60)
    record_answers(monitor, [["a b"] * 3, ["c d"] * 3], at)
    wanted = {"since": local(at - timedelta(minutes=5)), "until": local(at + timedelta(minutes=5))}
    answer = as_bob.post(f"/endpoints/{monitor.endpoint.public_id}/baseline", wanted)

    assert answer.status_code == 400
    assert "that time holds 1" in answer.content.decode()


def local(moment: Any) -> str:
    return (timezone.localtime(moment) - timedelta(minutes=1)).strftime("%Y-%m-%dT%H:%M")


def test_an_incident_names_the_evals_that_relied_on_the_void_baseline(
    as_bob: Client, monitor: Monitor, record_answers: Callable[..., Run]
) -> None:
    at = timezone.now() - timedelta(minutes=100)
    for number in range(18):
        name = "fp_one" if number < 14 else "fp_two"
        record_answers(monitor, [[read_text("a b", fingerprint=name)] * 4] * 2, at + timedelta(minutes=5 * number))
    eval_set = EvalSet.objects.create(team=monitor.endpoint.team, name="Maths")
    version = EvalVersion.objects.create(eval_set=eval_set, number=1)
    run = EvalRun.objects.create(version=version, started_at=at + timedelta(minutes=65), repeats=5)
    EvalArm.objects.create(run=run, endpoint=monitor.endpoint, position=0)

    page = as_bob.get(f"/incidents/{Incident.objects.get().public_id}/").content.decode()
    assert "Evals that relied on it" in page
    assert "Maths" in page
