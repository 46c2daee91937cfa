"""Channels, drills, baselines, answers and comparisons, as a program drives them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from drift.fit.bundle import verify
from drift.models import Baseline, Channel, Delivery, Monitor, Run, Sample, Suite, Team
from tests.dashboard.api.test_api import Program, writer

__all__ = ["writer"]

HOOK = {
    "kind": "webhook",
    "name": "Pager",
    "address": "https://example.org/hooks/secret-path",
    "signing_secret": "a-long-random-text",
    "quiet_from": "22:00",
    "quiet_to": "06:30",
}


def test_a_channel_is_made_changed_tested_and_removed_and_its_address_stays_secret(writer: Program) -> None:
    status, made = writer.post("/channels", HOOK)
    assert status == 201, made
    assert (made["quiet_from"], made["quiet_to"], made["address_hint"]) == ("22:00", "06:30", "https://example.org/…")
    assert "secret-path" not in json.dumps(made)
    assert Delivery.objects.get().kind == "test"
    at = f"/channels/{made['id']}"
    status, changed = writer.send("PATCH", at, {"least_severity": "high", "tags": ["production"]})
    assert (status, changed["least_severity"], changed["tags"]) == (200, "high", ["production"])
    kept = Channel.objects.get()
    assert (kept.address.reveal(), kept.signing_secret.reveal()) == (HOOK["address"], HOOK["signing_secret"])
    assert writer.send("PATCH", at, {"quiet_to": None})[0] == 422
    assert writer.post(f"{at}/disable")[1]["disabled_at"]
    assert writer.post(f"{at}/enable")[1]["disabled_at"] is None
    assert writer.post(f"{at}/test")[0] == 201
    assert writer.client.delete(f"/api/v1{at}").status_code == 204
    assert (Channel.objects.count(), Delivery.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"address": "https://169.254.169.254/x"}, 422, "169.254.169.254"),
        ({"address": "https://user:pw@example.org/"}, 422, "Leave user name and password out"),
        ({"kind": "email", "address": "nobody"}, 422, "valid email"),
        ({"signing_secret": ""}, 422, "signing_secret"),
        ({"time_zone": "Mars/Olympus"}, 422, "No such time zone"),
        ({"quiet_to": "25:00"}, 422, "not valid"),
        ({"name": "Taken"}, 409, "already"),
    ],
)
def test_a_channel_that_cannot_be_used_is_refused_with_a_reason(
    writer: Program, team: Team, change: dict[str, Any], status: int, words: str
) -> None:
    Channel.objects.create(team=team, kind="email", name="Taken", address="a@example.org")
    found, said = writer.post("/channels", {**HOOK, **change})
    assert found == status, said
    assert words in said["detail"]
    assert Channel.objects.count() == 1


def test_one_drill_is_open_at_a_time(writer: Program) -> None:
    status, first = writer.post("/drills")
    assert (status, first["state"]) == (201, "due")
    assert writer.post("/drills")[1]["id"] == first["id"]
    assert writer.get(f"/drills/{first['id']}")[1] == first
    assert writer.get("/drills")[1]["items"] == [first]


@pytest.fixture
def answered(monitor: Monitor, record_answers: Callable[..., Run]) -> Run:
    now = timezone.now()
    for hours in (5, 4, 3):
        record_answers(monitor, [["a b", "a b", "a c"], ["x", "x", "x"]], at=now - timedelta(hours=hours))
    return record_answers(monitor, [["a b", "a b", "a c"], ["x", "x", "x"]], at=now - timedelta(hours=2))


def test_a_baseline_is_begun_named_and_pinned(writer: Program, answered: Run) -> None:
    at = f"/endpoints/{answered.monitor.endpoint.public_id}/baselines"
    status, begun = writer.post(f"{at}/begin", {})
    assert (status, begun["state"], begun["origin"]) == (201, "collecting", "person")
    status, changed = writer.send("PATCH", f"/baselines/{begun['id']}", {"name": "New", "pinned": True})
    assert (status, changed["name"], changed["pinned"]) == (200, "New", True)
    assert Baseline.objects.filter(state="collecting").count() == 1


def test_the_answers_to_a_canary_come_told_apart(writer: Program, answered: Run) -> None:
    sample = Sample.objects.filter(run=answered).select_related("canary").order_by("canary_id", "repeat")[0]
    at = f"/endpoints/{answered.monitor.endpoint.public_id}/canaries/{sample.canary.public_id}"
    seen = writer.get(f"{at}/answers")[1]
    assert [(one["text"], one["letter"]) for one in seen["distinct"]] == [("a b", "A"), ("a c", "B")]
    assert seen["trunk"].strip() == "a"
    assert seen["pairs_differing"] > 0
    pair = writer.get(f"{at}/pair")[1]
    assert (pair["a"], pair["a_rest"], pair["b_rest"]) == (seen["distinct"][0]["key"], " b", " c")
    evidence = writer.get(f"/samples/{sample.public_id}/evidence")[1]
    assert verify(base64.b64decode(evidence["bundle_base64"])).key == evidence["key"]


def test_endpoints_are_compared_over_a_time_and_as_a_file(writer: Program, answered: Run) -> None:
    endpoint = str(answered.monitor.endpoint.public_id)
    status, seen = writer.get("/compare", endpoint=endpoint)
    assert (status, seen["comparable"], seen["endpoints"][0]["name"]) == (200, True, "gpt-x")
    assert 0 < seen["endpoints"][0]["divergence"]["value"] < 1
    file = writer.get("/compare/report-file", endpoint=endpoint, form="csv")[1]
    assert file["text"].splitlines()[1].startswith("gpt-x,")
    assert writer.get("/compare", since="2026-11-20T00:00:00Z", until="2026-11-19T00:00:00Z")[0] == 422
    assert writer.get("/compare", until="1700000000")[0] == 422


def test_a_moment_is_marked_moved_and_taken_off(writer: Program, monitor: Monitor) -> None:
    endpoint = str(monitor.endpoint.public_id)
    status, made = writer.post("/annotations", {"text": "Release 4.2", "endpoint": endpoint})
    assert (status, made["endpoint"]) == (201, endpoint)
    at = f"/annotations/{made['id']}"
    moved = writer.send("PUT", at, {"text": "Release 4.2", "at": "2026-11-29T14:05:00Z"})[1]
    assert (moved["at"], moved["endpoint"]) == ("2026-11-29T14:05:00Z", None)
    assert writer.get("/annotations")[1]["items"] == [moved]
    assert writer.client.delete(f"/api/v1{at}").status_code == 204
    assert writer.get("/annotations")[1]["items"] == []


def test_an_answer_is_replayed_once_and_a_draft_is_tried_without_being_saved(writer: Program, answered: Run) -> None:
    sample = Sample.objects.filter(run=answered)[0]
    status, first = writer.post(f"/samples/{sample.public_id}/replay")
    assert (status, first["kind"], first["state"], first["replay"]) == (201, "replay", "due", None)
    assert writer.post(f"/samples/{sample.public_id}/replay")[1]["id"] == first["id"]
    assert [one["former"] for one in writer.get(f"/trials/{first['id']}")[1]["answers"]] == [True, False]
    draft = {
        "endpoint": str(answered.monitor.endpoint.public_id),
        "name": "Tried",
        "canaries": [{"name": "Sea", "messages": [{"role": "user", "content": "Name a sea."}], "max_tokens": 8}],
    }
    status, tried = writer.post("/suites/dry-run", draft)
    assert (status, tried["kind"], len(tried["answers"])) == (201, "dry_run", 2), tried
    assert not Suite.objects.filter(name="Tried").exists()


def test_a_next_version_is_asked_where_the_one_before_was_and_the_way_back_is_open(
    writer: Program, monitor: Monitor
) -> None:
    old = monitor.suite
    canaries = [{"name": "Sea", "messages": [{"role": "user", "content": "Name a sea."}], "max_tokens": 8}]
    _, new = writer.post("/suites", {"name": old.name, "canaries": canaries})
    assert writer.post(f"/suites/{new['id']}/follow", {"earlier": str(old.public_id)})[1] == {"monitors": 1}
    assert writer.post(f"/suites/{old.public_id}/follow", {"earlier": new["id"]})[0] == 409
    status, back = writer.post(f"/suites/{old.public_id}/restore")
    assert (status, back["id"]) == (200, str(old.public_id))
    monitor.refresh_from_db()
    assert monitor.active


def test_pairs_of_endpoints_say_whether_they_answer_alike(writer: Program, answered: Run, team: Team) -> None:
    assert writer.get("/compare/alike") == (200, [])
    assert writer.get("/in-house") == (200, [])
