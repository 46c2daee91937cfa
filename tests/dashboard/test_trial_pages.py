"""'Replay this' and the result that can be sent to a colleague."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from drift import trials
from drift.models import AuditEntry, Canary, Endpoint, Monitor, Run, Sample, Series, Trial, User
from tests.conftest import read_text
from tests.dashboard.conftest import signed_in
from tests.stack import answering_server
from workers.probe.trial import perform


@pytest.fixture
def server(transactional_db: None, endpoint: Endpoint) -> Iterator[list[str]]:
    with answering_server() as (url, asked):
        Endpoint.objects.filter(pk=endpoint.pk).update(base_url=url)
        yield asked


@pytest.fixture
def begun(as_alice: Client, sample: Sample) -> Trial:
    answer = as_alice.post(reverse("replay", args=[sample.public_id]))
    trial = Trial.objects.get()
    assert answer["Location"] == reverse("trial", args=[trial.public_id])
    return trial


def told(trial: Trial, then: str, now: str, **now_facts: object) -> None:
    """Both answers as a worker would have stored them."""
    from dataclasses import replace

    from tests.conftest import exchange

    claimed = trials.claim(trial.pk, timezone.now())
    assert claimed
    held, token = claimed
    for row in trials.open_answers(held):
        decoded = read_text(then) if row.former else replace(read_text(now), **now_facts)
        given = exchange(row.started_at or timezone.now())
        assert trials.store(held, token, row, given, decoded)
    assert trials.end(held, token, timezone.now())


def test_each_answer_and_its_own_page_offer_the_replay(as_alice: Client, sample: Sample, endpoint: Endpoint) -> None:
    action = reverse("replay", args=[sample.public_id])
    canary = Canary.objects.get(pk=sample.canary_id)
    assert action in as_alice.get(reverse("canary", args=[endpoint.public_id, canary.public_id])).content.decode()
    assert action in as_alice.get(reverse("sample", args=[sample.public_id])).content.decode()


def test_it_waits_for_a_worker_and_renews_itself_until_it_is_over(as_alice: Client, begun: Trial) -> None:
    address = reverse("trial", args=[begun.public_id])
    page = as_alice.get(address).content.decode()
    assert "Sending the same request again" in page
    assert f'data-live="1" hx-get="{address}"' in page
    part = as_alice.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    told(begun, "the tide is out", "the tide is out")
    page = as_alice.get(address).content.decode()
    assert "data-live" not in page
    assert "The same answer again." in page
    assert "The endpoint calls itself the same as then." in page


def test_the_first_differing_token_is_marked_on_both_sides(as_alice: Client, begun: Trial) -> None:
    told(begun, "the tide is out", "the tide was in")
    page = as_alice.get(reverse("trial", args=[begun.public_id])).content.decode()
    assert "Another answer: they part at token 3." in page
    assert "<mark> is</mark> out" in page
    assert "<mark> was</mark> in" in page
    assert "It enters no figure" in page


def test_another_identity_is_said_and_marked(as_alice: Client, begun: Trial) -> None:
    other = read_text("x", fingerprint="fp_two").identity
    told(begun, "the tide is out", "the tide is out", identity=other)
    page = as_alice.get(reverse("trial", args=[begun.public_id])).content.decode()
    assert "The endpoint does not call itself the same as then." in page
    assert "fp_one" in page
    assert "fp_two" in page
    assert page.count("differs") == 1


def test_a_replay_that_brought_no_answer_says_what_came(
    as_alice: Client, begun: Trial, server: list[str], settings
) -> None:
    settings.ALLOW_PRIVATE_TARGETS = []
    perform(begun.pk)
    page = as_alice.get(reverse("trial", args=[begun.public_id])).content.decode()
    assert "No two answers to compare." in page
    assert "refused address" in page
    assert server == []


def test_an_answer_cannot_carry_markup_into_the_result(as_alice: Client, begun: Trial) -> None:
    told(begun, "a <script>x</script>", "a <img src=x> \x00\ud800")
    page = as_alice.get(reverse("trial", args=[begun.public_id])).content.decode()
    assert "<script>x" not in page
    assert "<img" not in page


def test_the_page_is_right_when_the_sample_is_no_longer_kept(as_alice: Client, begun: Trial) -> None:
    told(begun, "the tide is out", "the tide was in")
    Sample.objects.all().delete()
    page = as_alice.get(reverse("trial", args=[begun.public_id])).content.decode()
    assert "<mark> is</mark> out" in page
    assert "Send it once more" not in page


def test_a_viewer_reads_the_result_and_starts_nothing(as_vera: Client, begun: Trial, sample: Sample) -> None:
    told(begun, "the tide is out", "the tide was in")
    page = as_vera.get(reverse("trial", args=[begun.public_id]))
    assert page.status_code == 200
    assert "Send it once more" not in page.content.decode()
    assert as_vera.post(reverse("replay", args=[sample.public_id])).status_code == 403
    assert Trial.objects.count() == 1


def test_mallory_neither_reads_nor_replays(mallory: User, begun: Trial, sample: Sample) -> None:
    outsider = signed_in(mallory)
    assert outsider.get(reverse("trial", args=[begun.public_id])).status_code == 404
    assert outsider.post(reverse("replay", args=[sample.public_id])).status_code == 404
    assert outsider.post(reverse("trial-save", args=[begun.public_id])).status_code == 404
    assert Trial.objects.count() == 1


def test_who_replayed_what_is_in_the_audit_log(as_alice: Client, alice: User, begun: Trial) -> None:
    line = AuditEntry.objects.get(subject="trial")
    assert (line.actor_id, line.via, line.subject_name) == (alice.pk, "page", begun.name)


def test_replays_stay_out_of_the_canary_page(
    as_alice: Client, begun: Trial, measured: Series, canary: Canary, endpoint: Endpoint
) -> None:
    told(begun, "the tide is out", "something else entirely")
    page = as_alice.get(reverse("canary", args=[endpoint.public_id, canary.public_id])).content.decode()
    assert "5 answers to one prompt, 2 different ones" in page


def test_an_archived_endpoint_offers_no_replay(
    as_alice: Client, monitor: Monitor, record_answers: Callable[..., Run]
) -> None:
    record_answers(monitor, [["a", "a"], ["x", "x"]], at=timezone.now())
    Endpoint.objects.update(archived_at=timezone.now())
    sample = Sample.objects.order_by("repeat")[0]
    action = reverse("replay", args=[sample.public_id])
    assert action not in as_alice.get(reverse("sample", args=[sample.public_id])).content.decode()
    answer = as_alice.post(action, follow=True)
    assert "is archived: bring it back" in answer.content.decode()
