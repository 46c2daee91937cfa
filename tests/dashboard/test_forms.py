from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.test.utils import override_settings
from django.urls import reverse
from django.utils import timezone

from drift.models import Capability, Endpoint, EndpointCheck, Monitor, Run, Series, Suite, Team

FINE: dict[str, Any] = {
    "name": "new one",
    "base_url": "https://api.example.com/v1",
    "model": "m-1",
    "api_key": "sk-abcdefgh-4321",
    "provider": "Example",
    "tags": "prod, eval, prod",
    "parameters": '{"temperature": 0}',
    "kind": "chat",
    "transport": "whole",
    "max_concurrency": 8,
    "deadline_s": 60,
}


def test_a_new_endpoint_is_stored_and_its_check_asked_for(as_alice: Client, team: Team) -> None:
    answer = as_alice.post("/endpoints/new", FINE)
    made = Endpoint.objects.get()
    assert answer["Location"] == reverse("endpoint-check", args=[made.public_id])
    assert made.team == team
    assert made.tags == ["prod", "eval"]
    assert made.parameters == {"temperature": 0}
    assert made.api_key.reveal() == "sk-abcdefgh-4321"
    assert made.api_key_hint == "4321"
    assert made.checks.get().state == EndpointCheck.State.DUE


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "", "required"),
        ("base_url", "api.example.com", "full address"),
        ("base_url", "https://user:pw@api.example.com/v1", "own field"),
        ("base_url", "http://169.254.169.254/v1", "169.254.169.254"),
        ("base_url", "http://10.0.0.7/v1", "10.0.0.7"),
        ("base_url", "ftp://example.com/v1", "http"),
        ("parameters", "{temperature: 0}", "not JSON"),
        ("parameters", '{"temperature": NaN}', "NaN"),
        ("parameters", "[1]", "JSON object"),
        ("parameters", '{"model": "x", "messages": []}', "messages, model"),
        ("tags", "x" * 41, "40 characters"),
        ("deadline_s", "0", "Enter a number from 1 to 600"),
        ("max_concurrency", "300", "Enter a number from 1 to 256"),
    ],
)
def test_what_cannot_be_used_says_what_to_do(as_alice: Client, team: Team, field: str, value: str, words: str) -> None:
    answer = as_alice.post("/endpoints/new", {**FINE, field: value})
    assert answer.status_code == 400
    page = answer.content.decode()
    assert words in page
    assert "sk-abcdefgh" not in page, "a key is never sent back"
    assert not Endpoint.objects.exists()


@override_settings(ALLOW_PRIVATE_TARGETS=["127.0.0.0/8"])
def test_an_allowed_private_address_is_taken(as_alice: Client, team: Team) -> None:
    assert as_alice.post("/endpoints/new", {**FINE, "base_url": "http://127.0.0.1:8000/v1"}).status_code == 302


def test_a_name_is_used_once_in_a_team_but_again_after_archiving(as_alice: Client, team: Team) -> None:
    as_alice.post("/endpoints/new", FINE)
    assert "already has an endpoint of that name" in as_alice.post("/endpoints/new", FINE).content.decode()
    Endpoint.objects.update(archived_at=timezone.now())
    assert as_alice.post("/endpoints/new", FINE).status_code == 302


def test_an_empty_key_keeps_the_stored_one_and_the_box_removes_it(as_alice: Client, team: Team) -> None:
    as_alice.post("/endpoints/new", FINE)
    address = reverse("endpoint-edit", args=[Endpoint.objects.get().public_id])
    page = as_alice.get(address).content.decode()
    assert "ending in 4321" in page
    assert "sk-abcdefgh" not in page
    as_alice.post(address, {**FINE, "api_key": "", "model": "m-2"})
    changed = Endpoint.objects.get()
    assert changed.model == "m-2"
    assert changed.api_key.reveal() == "sk-abcdefgh-4321"
    as_alice.post(address, {**FINE, "api_key": "", "remove_key": "on"})
    assert Endpoint.objects.get().api_key.reveal() == ""


def test_a_refused_edit_leaves_the_endpoint_alone(as_alice: Client, endpoint: Endpoint) -> None:
    answer = as_alice.post(reverse("endpoint-edit", args=[endpoint.public_id]), {**FINE, "name": "", "model": "other"})
    assert answer.status_code == 400
    assert "Edit gpt-x" in answer.content.decode()
    endpoint.refresh_from_db()
    assert endpoint.model == "gpt-x"


def test_the_check_is_watched_until_it_ends(as_alice: Client, team: Team) -> None:
    as_alice.post("/endpoints/new", FINE)
    made = Endpoint.objects.get()
    address = reverse("endpoint-check", args=[made.public_id])
    waiting = as_alice.get(address, headers={"HX-Request": "true"}).content.decode()
    assert 'data-live="1"' in waiting
    assert "Waiting for a worker" in waiting
    assert "<html" not in waiting

    made.checks.update(
        state="failed", finished_at=timezone.now(), problem="The model m-1 is not known there. Known: m-2."
    )
    failed = as_alice.get(address).content.decode()
    assert "cannot be watched yet" in failed
    assert "Known: m-2." in failed
    assert "data-live" not in failed

    as_alice.post(address)
    assert made.checks.filter(state="due").exists()
    made.checks.filter(state="due").update(state="passed", finished_at=timezone.now())
    Capability.objects.create(
        endpoint=made, name="seed", state="honoured", evidence="equal with it", checked_at=timezone.now()
    )
    passed = as_alice.get(address).content.decode()
    assert "new one answers." in passed
    assert "Start watching it" in passed
    assert "equal with it" in passed


def test_a_monitor_is_made_with_a_first_run(as_alice: Client, endpoint: Endpoint, suite: Suite) -> None:
    address = reverse("monitor-add", args=[endpoint.public_id])
    assert "Two questions" in as_alice.get(address).content.decode()
    form = {"suite": suite.pk, "cadence_s": 120, "repeats": 5, "concurrency": 4}
    assert as_alice.post(address, form).status_code == 302
    made = Monitor.objects.get()
    assert (made.cadence_s, made.repeats, made.concurrency, made.tokens_per_day) == (120, 5, 4, None)
    assert made.runs.get().state == Run.State.DUE
    again = as_alice.post(address, form)
    assert again.status_code == 400
    assert "already has a monitor with that suite" in again.content.decode()


def test_another_teams_suite_cannot_be_chosen(as_alice: Client, endpoint: Endpoint, mallory: object) -> None:
    foreign = Suite.objects.create(team=Team.objects.get(name="Another team"), name="Theirs")
    form = {"suite": foreign.pk, "cadence_s": 120, "repeats": 5, "concurrency": 4}
    assert as_alice.post(reverse("monitor-add", args=[endpoint.public_id]), form).status_code == 400


@pytest.mark.parametrize(("field", "value"), [("repeats", 0), ("repeats", 101), ("concurrency", 65), ("cadence_s", 7)])
def test_a_monitor_out_of_bounds_is_refused(as_alice: Client, monitor: Monitor, field: str, value: int) -> None:
    form = {"cadence_s": 120, "repeats": 5, "concurrency": 4, field: value}
    assert as_alice.post(reverse("monitor-edit", args=[monitor.public_id]), form).status_code == 400
    monitor.refresh_from_db()
    assert monitor.repeats == 5


def test_a_monitor_is_changed(as_alice: Client, monitor: Monitor) -> None:
    form = {"cadence_s": 3600, "repeats": 3, "concurrency": 1, "tokens_per_day": 50_000}
    as_alice.post(reverse("monitor-edit", args=[monitor.public_id]), form)
    monitor.refresh_from_db()
    assert (monitor.cadence_s, monitor.repeats, monitor.tokens_per_day) == (3600, 3, 50_000)


def test_a_cadence_set_by_other_means_is_kept_as_a_choice(as_alice: Client, monitor: Monitor) -> None:
    Monitor.objects.update(cadence_s=77)
    assert "every 77 seconds" in as_alice.get(reverse("monitor-edit", args=[monitor.public_id])).content.decode()


def test_pausing_can_be_undone_from_its_message(as_alice: Client, monitor: Monitor) -> None:
    page = as_alice.post(reverse("monitor-pause", args=[monitor.public_id]), follow=True).content.decode()
    assert "is paused" in page
    assert "Undo" in page
    assert reverse("monitor-resume", args=[monitor.public_id]) in page
    as_alice.post(reverse("monitor-resume", args=[monitor.public_id]))
    monitor.refresh_from_db()
    assert monitor.active


def test_archiving_can_be_undone_from_its_message(as_alice: Client, monitor: Monitor, endpoint: Endpoint) -> None:
    page = as_alice.post(reverse("endpoint-archive", args=[endpoint.public_id]), follow=True).content.decode()
    assert "was archived" in page
    assert reverse("endpoint-restore", args=[endpoint.public_id]) in page
    monitor.refresh_from_db()
    assert not monitor.active
    as_alice.post(reverse("endpoint-restore", args=[endpoint.public_id]))
    endpoint.refresh_from_db()
    monitor.refresh_from_db()
    assert endpoint.archived_at is None
    assert monitor.active


def test_bringing_back_a_name_that_is_taken_says_so(as_alice: Client, endpoint: Endpoint) -> None:
    as_alice.post(reverse("endpoint-archive", args=[endpoint.public_id]))
    Endpoint.objects.create(team=endpoint.team, name="gpt-x", base_url="http://x/v1", model="m")
    page = as_alice.post(reverse("endpoint-restore", args=[endpoint.public_id]), follow=True).content.decode()
    assert "Another endpoint is called gpt-x now" in page


def test_run_now_makes_one_run_however_often_it_is_pressed(as_alice: Client, monitor: Monitor) -> None:
    for _ in range(3):
        assert as_alice.post(reverse("monitor-run", args=[monitor.public_id])).status_code == 302
    run = monitor.runs.get()
    assert run.origin == Run.Origin.PERSON
    assert run.requested_by
    assert run.requested_by.username == "alice"


def test_looking_at_a_change_address_changes_nothing(as_alice: Client, monitor: Monitor) -> None:
    for name in ("monitor-pause", "monitor-run", "monitor-resume"):
        assert as_alice.get(reverse(name, args=[monitor.public_id])).status_code == 405


def test_suites_are_listed_with_their_prompts(as_alice: Client, measured: Series, suite: Suite) -> None:
    assert "Two questions" in as_alice.get("/suites/").content.decode()
    assert "Who was Feynman?" in as_alice.get(reverse("suite", args=[suite.public_id])).content.decode()
