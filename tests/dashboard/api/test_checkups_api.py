"""Check-ups and fit over the API: estimate, start, report, watch; evidence; nobody else's."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from drift import tokens
from drift.checkup import start
from drift.fit.bundle import verify
from drift.models import ApiToken, Checkup, Endpoint, EndpointCheck, Series, Suite, Team, User
from tests.dashboard.api.test_api import Program
from tests.dashboard.test_checkup_pages import MADE, WISH, answered


@pytest.fixture
def writer(team: Team, alice: User) -> Program:
    return Program(tokens.issue(team=team, user=alice, name="ci", scope=ApiToken.Scope.WRITE)[1])


@pytest.fixture
def outsider(mallory: User) -> Program:
    team = mallory.teams.get()
    return Program(tokens.issue(team=team, user=mallory, name="ci", scope=ApiToken.Scope.WRITE)[1])


@pytest.fixture
def checked(endpoint: Endpoint) -> Endpoint:
    now = timezone.now()
    EndpointCheck.objects.create(endpoint=endpoint, requested_at=now, finished_at=now, state=EndpointCheck.State.PASSED)
    return endpoint


@pytest.fixture
def due(checked: Endpoint, suite: Suite) -> Checkup:
    return start.start(checked, WISH, suite=suite)


def wish(endpoint: Endpoint, suite: Suite, **fields: Any) -> dict[str, Any]:
    usual = {"endpoint": str(endpoint.public_id), "suite": str(suite.public_id), "repeats": 3, "concurrency": [1, 4]}
    return {**usual, "max_tokens": 32, **fields}


def test_a_check_up_is_priced_started_followed_and_stopped(
    writer: Program,
    checked: Endpoint,
    suite: Suite,
) -> None:
    status, planned = writer.post("/checkups/estimate", wish(checked, suite))
    assert status == 200, planned
    assert planned["requests"] > 20
    assert planned["cost"] is None
    status, made = writer.post("/checkups", wish(checked, suite))
    assert status == 201, made
    assert (made["state"], made["verdict"]) == ("due", [])
    assert writer.get("/checkups")[1]["items"] == [made]
    assert writer.get(f"/checkups/{made['id']}/report")[0] == 404
    status, again = writer.post("/checkups", wish(checked, suite))
    assert status == 422
    assert "going on" in again["detail"]
    assert writer.post(f"/checkups/{made['id']}/stop")[1]["state"] == "stopped"
    assert writer.post(f"/checkups/{made['id']}/stop")[0] == 409


def test_the_report_and_the_monitor_made_of_it(writer: Program, due: Checkup) -> None:
    answered(due)
    status, whole = writer.get(f"/checkups/{due.public_id}/report")
    assert status == 200
    assert whole["report"]["quiet"]["pairs_differing"] > 0
    assert whole["changes"] is None
    status, watched = writer.post(f"/checkups/{due.public_id}/watch")
    assert status == 200
    assert watched["baseline"]


def test_recorded_answers_come_as_a_file(team: Team, alice: User) -> None:
    text = tokens.issue(team=team, user=alice, name="ci", scope=ApiToken.Scope.WRITE)[1]
    client = Client(headers={"Authorization": f"Bearer {text}"})
    answer = client.post("/api/v1/checkups/recorded", {"file": SimpleUploadedFile("a.jsonl", MADE.read_bytes())})
    assert answer.status_code == 201, answer.content
    assert [one["name"] for one in answer.json()] == ["loose", "exact"]


def test_fit_thresholds_and_evidence(writer: Program, measured: Series) -> None:
    key = measured.endpoint.public_id
    verdicts = writer.get(f"/endpoints/{key}/fit")[1]["verdicts"]
    assert {one["job"]: one["word"] for one in verdicts}["creative"] == "not fit"
    assert writer.send("PATCH", "/fit/thresholds", {"audit_cap": 512})[1]["audit_cap"] == 512
    assert writer.send("PATCH", "/fit/thresholds", {"audit_cap": 0})[0] == 422
    evidence = writer.get(f"/endpoints/{key}/evidence")[1]
    assert verify(base64.b64decode(evidence["bundle_base64"])).key == evidence["key"]


def test_an_outsider_gets_none_of_it(outsider: Program, due: Checkup, suite: Suite, checked: Endpoint) -> None:
    assert outsider.get("/checkups")[1]["items"] == []
    for path in (f"/checkups/{due.public_id}", f"/endpoints/{checked.public_id}/fit"):
        assert outsider.get(path)[0] == 404
    assert outsider.post("/checkups", wish(checked, suite))[0] == 404
