"""Suites are made and changed on a page; what is new can be tried first; a removal can be taken back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from drift.models import Canary, Endpoint, Monitor, Sample, Series, Suite, Trial, User
from tests.dashboard.conftest import signed_in
from tests.stack import answering_server
from workers.probe.trial import perform

Row = dict[str, Any]


@pytest.fixture
def server(transactional_db: None, endpoint: Endpoint) -> Iterator[list[str]]:
    with answering_server() as (url, asked):
        Endpoint.objects.filter(pk=endpoint.pk).update(base_url=url)
        yield asked


def rows_of(suite: Suite) -> list[Row]:
    return [
        {
            "canary": str(one.public_id),
            "name": one.name,
            "prompt": one.messages[0]["content"],
            "max_tokens": one.max_tokens,
        }
        for one in suite.canaries.order_by("places__position")
    ]


def posted(rows: list[Row], action: str, **more: Any) -> dict[str, Any]:
    data = {"form-TOTAL_FORMS": len(rows), "form-INITIAL_FORMS": 0, "action": action, "retention_days": 400, **more}
    for number, row in enumerate(rows):
        data |= {f"form-{number}-{name}": value for name, value in row.items()}
    return data


def fresh(name: str, prompt: str, cap: int = 32) -> Row:
    return {"name": name, "prompt": prompt, "max_tokens": cap}


def editor(suite: Suite) -> str:
    return reverse("suite-edit", args=[suite.public_id])


def test_a_suite_is_made(as_alice: Client, alice: User) -> None:
    assert "Make a suite" in as_alice.get(reverse("suites")).content.decode()
    answer = as_alice.post(
        reverse("suite-add"),
        posted([fresh("Seas", "Name three\r\nseas."), {"max_tokens": 64}], "save", name="Tides"),
        follow=True,
    )
    suite = Suite.objects.get(name="Tides")
    assert "Tides is saved" in answer.content.decode()
    assert suite.canaries.get().messages == [{"role": "user", "content": "Name three\nseas."}]


def test_what_was_left_alone_stays_the_same_canary_and_what_was_changed_is_a_new_one(
    as_alice: Client, suite: Suite
) -> None:
    fact, seas = suite.canaries.order_by("places__position")
    rows = rows_of(suite)
    rows[1]["prompt"] = "Name four seas."
    page = as_alice.post(editor(suite), posted([*rows, fresh("New", "What is a tide?")], "save"), follow=True)
    assert "Version 2 is saved: 1 added, 1 changed, 0 removed." in page.content.decode()
    after = list(Suite.objects.get(version=2).canaries.order_by("places__position"))
    assert after[0] == fact
    assert after[1].supersedes == seas
    assert seas.messages[0]["content"] == "Name three seas."
    assert after[2].name == "New"


def test_a_removal_can_be_taken_back(as_alice: Client, suite: Suite, monitor: Monitor) -> None:
    rows = rows_of(suite)
    rows[1]["remove"] = "on"
    page = as_alice.post(editor(suite), posted(rows, "save", follow="1"), follow=True).content.decode()
    assert "0 added, 0 changed, 1 removed" in page
    undo = reverse("suite-restore", args=[suite.public_id])
    assert f'action="{undo}"' in page
    monitor.refresh_from_db()
    assert not monitor.active
    page = as_alice.post(undo, follow=True).content.decode()
    assert "The canaries are those of before again, as version 1." in page
    assert Suite.objects.count() == 1, "nobody was asked the version in between"
    monitor.refresh_from_db()
    assert monitor.active


def test_taking_back_what_was_measured_meanwhile_makes_a_further_version(
    as_alice: Client, suite: Suite, endpoint: Endpoint
) -> None:
    rows = rows_of(suite)
    rows[1]["remove"] = "on"
    as_alice.post(editor(suite), posted(rows, "save"))
    second = Suite.objects.get(version=2)
    Series.objects.create(endpoint=endpoint, suite=second, transport="whole", parameters={}, digest=b"x")
    as_alice.post(reverse("suite-restore", args=[suite.public_id]))
    third = Suite.objects.get(version=3)
    assert list(third.canaries.order_by("places__position")) == list(suite.canaries.order_by("places__position"))
    assert second.canaries.count() == 1


def test_endpoints_are_asked_the_next_version_where_that_is_wished(
    as_alice: Client, suite: Suite, monitor: Monitor
) -> None:
    as_alice.post(editor(suite), posted([*rows_of(suite), fresh("New", "What is a tide?")], "save", follow="1"))
    moved = Monitor.objects.get(suite__version=2)
    assert (moved.endpoint, moved.cadence_s, moved.repeats, moved.active) == (monitor.endpoint, 300, 5, True)
    monitor.refresh_from_db()
    assert "took its place" in monitor.paused_reason


def test_an_earlier_version_is_history_and_edits_go_to_the_latest(as_alice: Client, suite: Suite) -> None:
    as_alice.post(editor(suite), posted([*rows_of(suite), fresh("New", "What is a tide?")], "save"))
    latest = Suite.objects.get(version=2)
    assert as_alice.get(editor(suite))["Location"] == editor(latest)
    assert "This is an earlier version" in as_alice.get(reverse("suite", args=[suite.public_id])).content.decode()


def test_a_dry_run_shows_answers_and_cost_and_nothing_is_saved_until_it_is(
    as_alice: Client, suite: Suite, monitor: Monitor, endpoint: Endpoint, server: list[str]
) -> None:
    Endpoint.objects.update(price_in=1000, price_out=1000)
    rows = [*rows_of(suite), fresh("Tide", "What is a tide?")]
    begun = as_alice.post(editor(suite), posted(rows, "try", endpoint=str(endpoint.public_id), repeats=2))
    trial = Trial.objects.get()
    assert begun["Location"] == reverse("trial", args=[trial.public_id])
    assert "Trying it: 0 of 2 answers" in as_alice.get(begun["Location"]).content.decode()
    perform(trial.pk)
    page = as_alice.get(begun["Location"]).content.decode()
    assert server == ["What is a tide?"] * 2
    assert "You asked: What is a tide?" in page
    assert "the same answer each time" in page
    assert "It cost $ 0.03." in page
    assert (Suite.objects.count(), Sample.objects.count(), Canary.objects.count()) == (1, 0, 2)

    back = as_alice.get(f"{editor(suite)}?trial={trial.public_id}").content.decode()
    assert "What is a tide?" in back
    saved = as_alice.post(reverse("trial-save", args=[trial.public_id]), {"follow": "1"}, follow=True)
    assert "Version 2 is saved: 1 added, 0 changed, 0 removed." in saved.content.decode()
    assert Suite.objects.get(version=2).canaries.count() == 3


def test_chat_messages_can_be_given_as_json_and_come_back_as_they_were(as_alice: Client, suite: Suite) -> None:
    said = '[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]'
    as_alice.post(editor(suite), posted([fresh("Chat", said)], "save"))
    second = Suite.objects.get(version=2)
    assert [m["role"] for m in second.canaries.get().messages] == ["system", "user"]
    page = as_alice.get(editor(second)).content.decode()
    assert "Be brief." in page
    shown = page.split("<textarea")[1].split(">", 1)[1].split("</textarea>")[0].replace("&quot;", '"').lstrip("\n")
    row = {**fresh("Chat", shown), "canary": str(second.canaries.get().public_id)}
    again = as_alice.post(editor(second), posted([row], "save"), follow=True)
    assert "No canary was changed" in again.content.decode()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "A suite has at least one canary."),
        ([fresh("Twin", "a"), fresh("Twin", "b")], "Two canaries are called Twin"),
        ([fresh("No cap", "a", 0)], "greater than or equal to 1"),
        ([fresh("Odd", '[{"role": "user"}]')], "role and content"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(
    as_alice: Client, suite: Suite, rows: list[Row], words: str
) -> None:
    answer = as_alice.post(editor(suite), posted(rows, "save"))
    assert answer.status_code == 400
    assert words in answer.content.decode().replace("&#x27;", "'")
    assert Suite.objects.count() == 1


def test_more_rows_can_be_asked_for_and_nothing_typed_is_lost(as_alice: Client, suite: Suite) -> None:
    page = as_alice.post(editor(suite), posted([*rows_of(suite), fresh("Half", "typed")], "more")).content.decode()
    assert "typed" in page
    assert page.count("<textarea") == 5


def test_a_name_that_is_taken_is_not_taken_over(as_alice: Client, suite: Suite) -> None:
    answer = as_alice.post(reverse("suite-add"), posted([fresh("A", "a")], "save", name=suite.name))
    assert "There is a suite called Two questions already" in answer.content.decode()
    assert Suite.objects.count() == 1


def test_a_viewer_and_an_outsider_change_nothing(as_vera: Client, suite: Suite, mallory: User) -> None:
    data = posted(rows_of(suite)[:1], "save")
    assert as_vera.post(editor(suite), data).status_code == 403
    assert as_vera.post(reverse("suite-restore", args=[suite.public_id])).status_code == 403
    assert "Change the canaries" not in as_vera.get(reverse("suite", args=[suite.public_id])).content.decode()
    outsider = signed_in(mallory)
    assert outsider.post(editor(suite), data).status_code == 404
    assert outsider.get(f"{reverse('suite-add')}?trial={Trial().public_id}").status_code == 200
    assert Suite.objects.count() == 1
