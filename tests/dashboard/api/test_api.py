"""The API as a program meets it: tokens, pages, repeats, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from drift import tokens
from drift.models import ApiToken, AuditEntry, Endpoint, IdempotentAnswer, Monitor, Run, Team, User

ENDPOINT = {"name": "gpt-y", "base_url": "https://api.example.com/v1", "model": "gpt-y", "api_key": "sk-abcdefghijkl"}


class Program:
    """Speaks JSON with a token."""

    def __init__(self, text: str) -> None:
        self.client = Client(headers={"Authorization": f"Bearer {text}"})

    def get(self, path: str, **query: Any) -> tuple[int, Any]:
        answer = self.client.get(f"/api/v1{path}", query)
        return answer.status_code, answer.json()

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        answer = self.client.generic(
            method, f"/api/v1{path}", json.dumps(body), content_type="application/json", headers=headers
        )
        return answer.status_code, answer.json()

    def post(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        return self.send("POST", path, body, **headers)


@pytest.fixture
def writer(team: Team, alice: User) -> Program:
    return Program(tokens.issue(team=team, user=alice, name="ci", scope=ApiToken.Scope.WRITE)[1])


@pytest.fixture
def reader(team: Team, alice: User) -> Program:
    return Program(tokens.issue(team=team, user=alice, name="grafana")[1])


def test_an_endpoint_is_registered_found_changed_and_archived(writer: Program) -> None:
    status, made = writer.post("/endpoints", ENDPOINT)
    assert status == 201, made
    assert made["has_key"] is True
    assert "sk-" not in json.dumps(made)
    assert writer.get("/endpoints")[1]["items"] == [made]

    status, changed = writer.send("PATCH", f"/endpoints/{made['id']}", {"tags": ["eval", "eval"]})
    assert (status, changed["tags"], changed["has_key"]) == (200, ["eval"], True)
    assert writer.get(f"/endpoints/{made['id']}/checks")[1]["items"][0]["state"] == "due"

    assert writer.post(f"/endpoints/{made['id']}/archive")[0] == 200
    assert writer.get("/endpoints")[1]["items"] == []
    assert writer.get("/endpoints", archived="true")[1]["items"][0]["id"] == made["id"]


def test_a_suite_grows_a_version_only_when_its_canaries_change(writer: Program) -> None:
    fact = {"name": "Fact", "messages": [{"role": "user", "content": "Who?"}], "max_tokens": 8}
    _, first = writer.post("/suites", {"name": "S", "canaries": [fact]})
    _, same = writer.post("/suites", {"name": "S", "canaries": [fact]})
    _, second = writer.post("/suites", {"name": "S", "canaries": [fact, {**fact, "name": "Again"}]})
    assert (first["version"], same["version"], second["version"]) == (1, 1, 2)
    assert second["canaries"][0]["id"] == first["canaries"][0]["id"]


def test_a_monitor_is_made_and_run_and_its_answers_read(
    writer: Program, monitor: Monitor, record_answers: Callable[..., Run]
) -> None:
    run = record_answers(monitor, [["a b", "a b", "a c"], ["x", "x", "x"]])
    status, page = writer.get(f"/runs/{run.public_id}/samples", limit=4)
    assert (status, len(page["items"])) == (200, 4)
    rest = writer.get(f"/runs/{run.public_id}/samples", limit=4, cursor=page["next"])[1]
    assert (len(rest["items"]), rest["next"]) == (2, None)
    whole = writer.get(f"/samples/{page['items'][0]['id']}")[1]
    assert whole["text"] == "a b"
    assert (
        writer.get(
            f"/endpoints/{monitor.endpoint.public_id}/history",
            since="2026-11-20T00:00:00Z",
            until="2026-11-21T00:00:00Z",
        )[1][0]["points"][0]["samples"]
        == 6
    )
    assert writer.get(f"/endpoints/{monitor.endpoint.public_id}/identities")[1][0]["label"] == "fp_one"
    assert writer.get("/overview")[1]["endpoints"][0]["name"] == monitor.endpoint.name
    assert writer.post(f"/monitors/{monitor.public_id}/pause", {"reason": "moving"})[1]["active"] is False
    assert writer.post(f"/monitors/{monitor.public_id}/resume")[1]["active"] is True
    assert writer.post(f"/monitors/{monitor.public_id}/run")[1]["state"] == "due"


def test_a_repeat_with_the_same_key_is_answered_once(writer: Program) -> None:
    key = {"Idempotency-Key": uuid4().hex}
    first = writer.post("/endpoints", ENDPOINT, **key)
    again = writer.post("/endpoints", ENDPOINT, **key)
    assert first == again
    assert Endpoint.objects.count() == 1
    status, said = writer.post("/endpoints", {**ENDPOINT, "name": "other"}, **key)
    assert (status, said["status"]) == (422, 422)


def test_a_repeat_while_the_first_is_under_way_waits(writer: Program, team: Team) -> None:
    token = ApiToken.objects.get(team=team)
    import hashlib

    digest = hashlib.sha256(b"\n".join((b"POST", b"/api/v1/endpoints", json.dumps(ENDPOINT).encode()))).digest()
    IdempotentAnswer.objects.create(token=token, key="k", request_digest=digest, created_at=timezone.now())
    assert writer.post("/endpoints", ENDPOINT, **{"Idempotency-Key": "k"})[0] == 409
    IdempotentAnswer.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    assert writer.post("/endpoints", ENDPOINT, **{"Idempotency-Key": "k"})[0] == 201


def test_a_reading_token_cannot_write(reader: Program) -> None:
    status, said = reader.post("/endpoints", ENDPOINT)
    assert (status, said["title"]) == (403, "Forbidden")
    assert Endpoint.objects.count() == 0


@pytest.mark.parametrize("way", ["none", "wrong", "expired", "revoked"])
def test_a_token_that_does_not_hold_is_refused(team: Team, alice: User, way: str) -> None:
    token, text = tokens.issue(
        team=team, user=alice, name="t", expires_at=timezone.now() - timedelta(1) if way == "expired" else None
    )
    if way == "revoked":
        tokens.revoke(token, timezone.now())
    sent = {"none": "", "wrong": text[:-1] + ("a" if text[-1] != "a" else "b")}.get(way, text)
    answer = Client(headers={"Authorization": f"Bearer {sent}"} if sent else {}).get("/api/v1/endpoints")
    assert answer.status_code == 401
    assert answer["Content-Type"] == "application/problem+json"
    assert "Bearer" in answer["WWW-Authenticate"]


def test_a_valid_token_opens_the_door_and_notes_its_use(team: Team, alice: User) -> None:
    token, text = tokens.issue(team=team, user=alice, name="t")
    assert Program(text).get("/endpoints")[0] == 200
    token.refresh_from_db()
    assert token.last_used_at is not None
    assert text.encode() not in bytes(token.digest)


def test_another_teams_things_are_not_found(writer: Program, mallory: User) -> None:
    theirs = Endpoint.objects.create(team=mallory.teams.get(), name="theirs", base_url="https://x.example", model="m")
    assert writer.get(f"/endpoints/{theirs.public_id}")[0] == 404
    assert writer.get("/endpoints")[1]["items"] == []


@pytest.mark.parametrize(
    "body",
    [
        {**ENDPOINT, "base_url": "http://169.254.169.254/latest"},
        {**ENDPOINT, "name": "a\x00b"},
        {**ENDPOINT, "parameters": {"messages": []}},
        {**ENDPOINT, "parameters": {"a": "\ud800"}},
        {**ENDPOINT, "deadline_s": 1e9},
    ],
)
def test_what_cannot_be_used_is_refused_with_a_reason(writer: Program, body: dict[str, Any]) -> None:
    status, said = writer.post("/endpoints", body)
    assert status == 422
    assert said["detail"]


def test_errors_outside_the_api_are_problems_too(writer: Program) -> None:
    assert writer.get("/nothing")[1]["status"] == 404
    status, said = writer.send("DELETE", "/endpoints")
    assert (status, said["status"]) == (405, 405)


def test_changes_over_the_api_are_in_the_audit_log(writer: Program) -> None:
    writer.post("/endpoints", ENDPOINT, **{"X-Request-ID": "deploy-7"})
    entry = AuditEntry.objects.get(subject="endpoint")
    assert (entry.actor_name, entry.via, entry.request_id) == ("token ci", "api", "deploy-7")
    assert "sk-" not in json.dumps(entry.changes)
    listed = writer.get("/audit")[1]["items"]
    assert listed[0]["subject_name"] == "gpt-y"
