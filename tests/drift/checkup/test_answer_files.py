"""Large files of recorded answers: taken at once, read by a worker, taken up again where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from drift import tokens
from drift.checkup import answer_files
from drift.models import AnswerFile, ApiToken, Checkup, CheckupAnswer, Team, User
from workers.checkup.answer_file import perform

MODELS = ("loose", "exact", "odd")


def text(last: str = "") -> bytes:
    rows: Iterator[dict[str, object]] = (
        {"model": model, "item": item, "run": run, "text": f"{item} is a number {run % 2 if model == 'loose' else 0}"}
        for model in MODELS
        for item in range(6)
        for run in range(4)
    )
    return "".join(json.dumps(row) + "\n" for row in rows).encode() + last.encode()


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_files, "AT_ONCE_UP_TO", 0)


@pytest.fixture
def as_alice(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


@pytest.fixture
def waiting(team: Team, alice: User) -> AnswerFile:
    made = answer_files.bring(team, alice, "answers.jsonl", text())
    assert isinstance(made, AnswerFile)
    return made


def test_a_large_file_is_read_by_a_worker_and_its_reports_follow(waiting: AnswerFile, as_alice: Client) -> None:
    page = as_alice.get(f"/checkups/recorded/{waiting.public_id}/")
    assert b"answers.jsonl is being read" in page.content
    assert answer_files.to_publish(timezone.now()) == [waiting.pk]
    perform(waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.answers, waiting.answers_done, bytes(waiting.raw)) == ("finished", 72, 72, b"")
    assert [one.name for one in answer_files.made_of(waiting)] == list(MODELS)
    there = as_alice.get(f"/checkups/recorded/{waiting.public_id}/")
    assert there.status_code == 302
    assert there["Location"].count("checkup=") == 3


def test_a_worker_that_dies_half_way_loses_nothing_and_nothing_is_stored_twice(
    waiting: AnswerFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = answer_files.keep

    def dies_at_the_second(*arguments: object) -> Checkup:
        if Checkup.objects.filter(group=waiting.group).exists():
            raise KeyboardInterrupt
        return keep(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(answer_files, "keep", dies_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        perform(waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.answers_done) == ("running", 24)
    monkeypatch.setattr(answer_files, "keep", keep)
    assert answer_files.reap(later()) == 1
    perform(waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.answers_done) == ("finished", 72)
    assert CheckupAnswer.objects.filter(stage__checkup__group=waiting.group).count() == 72


def test_one_that_kills_its_worker_again_and_again_is_given_up(waiting: AnswerFile) -> None:
    for _ in range(5):
        assert answer_files.claim(waiting.pk, timezone.now()) is not None
        answer_files.reap(later())
    waiting.refresh_from_db()
    assert (waiting.state, bytes(waiting.raw)) == ("failed", b"")


def test_a_mistake_in_the_file_is_told_with_its_line_and_nothing_is_kept(
    team: Team, alice: User, as_alice: Client
) -> None:
    made = answer_files.bring(team, alice, "answers.jsonl", text('{"model": "m", "item": 1}\n'))
    assert isinstance(made, AnswerFile)
    perform(made.pk)
    made.refresh_from_db()
    assert made.state == "failed"
    assert made.problem.startswith("line 73: no answer")
    assert Checkup.objects.count() == 0
    assert b"line 73: no answer" in as_alice.get(f"/checkups/recorded/{made.public_id}/").content


def test_a_program_sends_a_large_file_and_asks_how_far_it_is(team: Team, alice: User) -> None:
    key = tokens.issue(team=team, user=alice, name="ci", scope=ApiToken.Scope.WRITE)[1]
    client = Client(headers={"Authorization": f"Bearer {key}"})
    taken = client.post("/api/v1/checkups/recorded", {"file": SimpleUploadedFile("answers.jsonl", text())})
    assert (taken.status_code, taken.json()["state"]) == (202, "due")
    perform(AnswerFile.objects.get().pk)
    told = client.get(f"/api/v1/checkups/recorded/{taken.json()['id']}").json()
    assert (told["state"], told["answers_done"], len(told["checkups"])) == ("finished", 72, 3)


def later() -> datetime:
    return timezone.now() + timedelta(minutes=10)
