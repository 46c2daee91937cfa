"""Check-ups on pages: start, progress, report, one click to a monitor, recorded answers; who may do what."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from drift.checkup import life, start, store
from drift.checkup.plan import Wish
from drift.checkup.store import Asked
from drift.models import Baseline, Checkup, CheckupAnswer, Endpoint, EndpointCheck, Monitor, Reading, Suite
from tests.conftest import exchange, read_text

WISH = Wish(repeats=8, concurrencies=(1,), max_tokens=32, prefix_words=3, prefix_questions=2)
MADE = Path(__file__).parent.parent / "drift" / "checkup" / "recorded.jsonl"


@pytest.fixture
def checked(endpoint: Endpoint) -> Endpoint:
    now = timezone.now()
    EndpointCheck.objects.create(endpoint=endpoint, requested_at=now, finished_at=now, state=EndpointCheck.State.PASSED)
    return endpoint


@pytest.fixture
def due(checked: Endpoint, suite: Suite) -> Checkup:
    return start.start(checked, WISH, suite=suite)


def answered(checkup: Checkup, texts: tuple[str, ...] = ("the tide is out", "the tide was in")) -> Checkup:
    """As a worker would have left it: the first question differs, the second does not."""
    claimed = life.claim(checkup.pk, timezone.now())
    assert claimed is not None
    held, token = claimed
    for stage in held.stages.all():
        keys = stage.only or []
        asked = [
            Asked(key, repeat, exchange(timezone.now()), read_text(texts[repeat % len(texts)] if i == 0 else "one two"))
            for repeat in range(stage.repeats)
            for i, key in enumerate(keys)
        ]
        assert store.store(held, token, stage, asked)
    assert life.end(held, token, timezone.now(), Checkup.State.FINISHED)
    checkup.refresh_from_db()
    return checkup


def test_the_form_says_what_it_costs_and_starts_it(as_alice: Client, checked: Endpoint) -> None:
    address = f"{reverse('checkup-add')}?endpoint={checked.public_id}"
    page = as_alice.get(address).content.decode()
    assert "requests" in page
    assert "what that costs is not known" in page
    form = {"endpoint": str(checked.public_id), "repeats": 3, "concurrency": "1, 4", "max_tokens": 16}
    again = as_alice.post(address, {**form, "estimate": ""})
    assert again.status_code == 200
    assert Checkup.objects.count() == 0
    begun = as_alice.post(address, {**form, "start": ""})
    checkup = Checkup.objects.get()
    assert begun["Location"] == reverse("checkup", args=[checkup.public_id])
    assert (checkup.repeats, checkup.concurrencies, checkup.max_tokens) == (3, [1, 4], 16)
    assert checkup.state == Checkup.State.DUE


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"concurrency": "many"}, "whole numbers"),
        ({"concurrency": "100"}, "from 1 to 64"),
        ({"repeats": 1}, "2"),
        ({"cost_cap": "1"}, "prices"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_reason(as_alice: Client, checked: Endpoint, wrong, said) -> None:
    form = {"endpoint": str(checked.public_id), "repeats": 3, "concurrency": "1", "max_tokens": 16, "start": ""}
    answer = as_alice.post(reverse("checkup-add"), {**form, **wrong})
    assert answer.status_code == 400
    assert said in answer.content.decode()
    assert Checkup.objects.count() == 0


def test_progress_renews_itself_until_it_is_over(as_alice: Client, due: Checkup) -> None:
    address = reverse("checkup", args=[due.public_id])
    assert "data-live" in as_alice.get(address).content.decode()
    part = as_alice.get(address, headers={"HX-Request": "true"}).content.decode()
    assert part.strip().startswith('<div id="progress"')
    as_alice.post(reverse("checkup-stop", args=[due.public_id]))
    due.refresh_from_db()
    assert due.state == Checkup.State.STOPPED
    assert "gave no answer" in as_alice.get(address).content.decode()


def test_the_report_speaks_first_and_comes_as_a_file(as_alice: Client, due: Checkup) -> None:
    answered(due)
    page = as_alice.get(reverse("checkup", args=[due.public_id])).content.decode()
    assert "Two answers of gpt-x to one question differ in" in page
    for title in (
        "Settings to use",
        "Do answers repeat?",
        "What does a seed do?",
        "Who answers?",
        "What could have been",
    ):
        assert title in page
    file = as_alice.get(reverse("checkup-export", args=[due.public_id, "html"]))
    text = file.content.decode()
    assert file["Content-Disposition"].startswith("attachment")
    assert "<script" not in text
    assert "http" not in text.replace("http_error", "")
    whole = json.loads(as_alice.get(reverse("checkup-export", args=[due.public_id, "json"])).content)
    assert whole["report"]["quiet"]["pairs_differing"] > 0
    assert as_alice.get(reverse("checkup-export", args=[due.public_id, "pdf"])).status_code == 404


def test_hostile_texts_stay_text(as_alice: Client, due: Checkup) -> None:
    answered(due, ("<script>alert(1)</script> x", "<img src=x onerror=alert(1)> \x00\ud800"))
    for address in (
        reverse("checkup", args=[due.public_id]),
        reverse("checkup-export", args=[due.public_id, "html"]),
    ):
        page = as_alice.get(address).content.decode()
        assert "<script>alert" not in page
        assert "<img src" not in page


def test_one_click_makes_a_monitor_and_a_baseline(as_alice: Client, due: Checkup) -> None:
    answered(due)
    answer = as_alice.post(reverse("checkup-watch", args=[due.public_id]))
    monitor = Monitor.objects.get()
    assert answer["Location"] == reverse("endpoint", args=[monitor.endpoint.public_id])
    assert monitor.suite == due.suite
    baseline = Baseline.objects.get(state=Baseline.State.VALID)
    assert baseline.runs_count >= 4
    assert baseline.answers_count >= 4
    assert Reading.objects.get().comparable > 0
    as_alice.post(reverse("checkup-watch", args=[due.public_id]))
    assert Monitor.objects.count() == 1


def test_a_second_check_up_is_compared_with_the_first(as_alice: Client, due: Checkup, suite: Suite) -> None:
    answered(due)
    assert due.endpoint is not None
    second = answered(start.start(due.endpoint, WISH, suite=suite), ("quite another answer", "and one more answer"))
    page = as_alice.get(reverse("checkup", args=[second.public_id])).content.decode()
    assert "Other answers come than before" in page
    picks = f"?checkup={due.public_id}&checkup={second.public_id}"
    assert as_alice.get(reverse("checkup-beside") + picks).status_code == 200
    rows = as_alice.get(reverse("checkup-beside") + picks + "&as=csv").content.decode().splitlines()
    assert len(rows) == 3


def test_recorded_answers_become_reports_side_by_side(as_alice: Client) -> None:
    packed = gzip.compress(MADE.read_bytes())
    answer = as_alice.post(reverse("checkup-bring"), {"file": SimpleUploadedFile("answers.jsonl.gz", packed)})
    assert answer.status_code == 302, answer.content.decode()
    assert {row.name for row in Checkup.objects.all()} == {"loose", "exact"}
    page = as_alice.get(answer["Location"]).content.decode()
    assert "loose" in page
    assert "exact" in page
    bad = as_alice.post(reverse("checkup-bring"), {"file": SimpleUploadedFile("answers.csv", b"model,item\na,1\n")})
    assert bad.status_code == 400
    assert "line 2" in bad.content.decode()


def test_mallory_finds_no_check_up_and_a_viewer_changes_none(as_mallory: Client, as_vera: Client, due: Checkup) -> None:
    key = due.public_id
    changes = [reverse("checkup-stop", args=[key]), reverse("checkup-watch", args=[key])]
    for address in (reverse("checkup", args=[key]), reverse("checkup-export", args=[key, "json"])):
        assert as_mallory.get(address).status_code == 404
    for address in changes:
        assert as_mallory.post(address).status_code == 404
        assert as_vera.post(address).status_code == 403
    for address in (reverse("checkup-add"), reverse("checkup-bring")):
        assert as_vera.get(address).status_code == 403
        assert as_vera.post(address).status_code == 403
    assert "gpt-x" not in as_mallory.get(reverse("checkups")).content.decode()
    assert "gpt-x" not in as_mallory.get(f"{reverse('checkup-beside')}?checkup={key}").content.decode()
    stolen = {"endpoint": str(due.endpoint.public_id if due.endpoint else ""), "repeats": 3, "concurrency": "1"}
    assert as_mallory.post(reverse("checkup-add"), {**stolen, "max_tokens": 8, "start": ""}).status_code == 400
    assert as_vera.get(reverse("checkup", args=[key])).status_code == 200
    assert CheckupAnswer.objects.count() == 0
    due.refresh_from_db()
    assert due.state == Checkup.State.DUE
