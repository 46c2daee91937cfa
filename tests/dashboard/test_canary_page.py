from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from drift.answers import Decoded, Outcome
from drift.models import Canary, Endpoint, Monitor, Output, Run, Sample, Series
from tests.conftest import read_text


@pytest.fixture
def address(endpoint: Endpoint, canary: Canary) -> str:
    return reverse("canary", args=[endpoint.public_id, canary.public_id])


def test_the_sentence_the_trunk_and_the_marked_branches(as_alice: Client, measured: Series, address: str) -> None:
    page = as_alice.get(address).content.decode()
    assert "5 answers to one prompt, 2 different ones" in page
    assert "<mark> is</mark> out" in page
    assert "<mark> was</mark> in" in page
    assert page.index("<mark> is</mark>") < page.index("<mark> was</mark>"), "the commoner branch comes first"
    assert "the tide</p>" in page
    assert "At token 3 the best token was 7 times as likely as the second" in page


def test_equal_answers_are_said_to_be_the_same(
    as_alice: Client, measured: Series, monitor: Monitor, endpoint: Endpoint
) -> None:
    second = monitor.suite.canaries.order_by("places__position")[1]
    page = as_alice.get(reverse("canary", args=[endpoint.public_id, second.public_id])).content.decode()
    assert "5 answers to one prompt, all the same" in page
    assert "<mark>" not in page


def test_failures_are_listed_and_not_compared(
    as_alice: Client, monitor: Monitor, record_answers: Callable[..., Run], address: str
) -> None:
    failed = Decoded(version=1, outcome=Outcome.TIMEOUT, error_message="no answer within 120 s")
    record_answers(monitor, [[failed, failed], ["x"]], at=timezone.now())
    page = as_alice.get(address).content.decode()
    assert "No answer to compare yet" in page
    assert "None of the last 2 requests" in page
    assert "timeout" in page


def test_answers_cannot_carry_markup(
    as_alice: Client, monitor: Monitor, record_answers: Callable[..., Run], address: str
) -> None:
    record_answers(monitor, [["a <script>x</script>", "a <img src=x>", "a \x00\ud800 b"], ["x"]], at=timezone.now())
    page = as_alice.get(address).content.decode()
    assert "<script>x" not in page
    assert "<img" not in page
    assert "␀" in page, "a NUL is shown as a sign"


def test_two_answers_beside_each_other(as_alice: Client, measured: Series, address: str) -> None:
    page = as_alice.get(f"{address}pair").content.decode()
    assert "The same up to token 3" in page
    assert "<mark> is</mark> out" in page
    assert "<mark> was</mark> in" in page


def test_any_two_answers_can_be_picked(
    as_alice: Client, monitor: Monitor, record_answers: Callable[..., Run], address: str
) -> None:
    record_answers(monitor, [["a b c", "a b d", "a x y"], ["x"]], at=timezone.now())
    keys = {o.text: str(o.public_id) for o in Output.objects.all()}
    page = as_alice.get(f"{address}pair?a={keys['a b d']}&b={keys['a x y']}").content.decode()
    assert "The same up to token 2" in page
    same = as_alice.get(f"{address}pair?a={keys['a b d']}&b={keys['a b d']}").content.decode()
    assert "These two are the same answer" in same
    assert as_alice.get(f"{address}pair?a=nonsense").status_code == 200


def test_one_ending_where_the_other_goes_on(
    as_alice: Client, monitor: Monitor, record_answers: Callable[..., Run], address: str
) -> None:
    record_answers(monitor, [["a b", "a b", "a b c"], ["x"]], at=timezone.now())
    assert "ends here" in as_alice.get(address).content.decode()


def test_without_real_tokens_positions_are_approximate(
    as_alice: Client, monitor: Monitor, record_answers: Callable[..., Run], address: str
) -> None:
    record_answers(
        monitor,
        [[read_text("the tide is out", tokens=False), read_text("the tide was in", tokens=False)], ["x"]],
        at=timezone.now(),
    )
    page = as_alice.get(address).content.decode()
    assert "2 approximate tokens" in page
    assert "At approximate token 3" in page
    assert "no log probabilities" not in page


def test_more_answers_can_be_asked_for_within_reason(as_alice: Client, measured: Series, address: str) -> None:
    for amount in ("100", "0", "-5", "999999", "x"):
        assert as_alice.get(f"{address}?answers={amount}").status_code == 200


def test_a_canary_this_endpoint_was_never_asked(as_alice: Client, measured: Series, endpoint: Endpoint) -> None:
    stray = Canary.objects.create(team=endpoint.team, name="stray", messages=[], max_tokens=8)
    assert as_alice.get(reverse("canary", args=[endpoint.public_id, stray.public_id])).status_code == 404


def test_queries_do_not_grow_with_answers(
    as_alice: Client, monitor: Monitor, measured: Series, record_answers: Callable[..., Run], address: str
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            as_alice.get(address)
        return len(seen)

    few = queries()
    record_answers(monitor, [[f"answer {i}" for i in range(15)], ["x"]], at=timezone.now() - timedelta(hours=1))
    assert queries() == few <= 20


def test_the_bytes_are_one_click_away(as_alice: Client, sample: Sample, address: str) -> None:
    assert reverse("sample", args=[sample.public_id]) in as_alice.get(address).content.decode()
    page = as_alice.get(reverse("sample", args=[sample.public_id])).content.decode()
    assert "One answer, as it came" in page
    assert "the tide is out" in page
    raw = as_alice.get(reverse("sample-raw", args=[sample.public_id]))
    assert raw.content == b"{}"
    assert raw["Content-Disposition"].startswith("attachment")
    assert raw["Content-Type"] == "application/octet-stream"


def test_tokens_that_another_endpoint_told_us_are_not_taken_for_ours(
    as_alice: Client, measured: Series, monitor: Monitor, record_answers: Callable[..., Run], canary: Canary
) -> None:
    """An output is stored once for all who gave it; `measured` gave it with tokens."""
    other = Endpoint.objects.create(team=monitor.endpoint.team, name="mute", base_url="http://x/v1", model="m")
    more = Monitor.objects.create(endpoint=other, suite=monitor.suite, next_due_at=timezone.now())
    texts = ("the tide is out", "the tide was in")
    record_answers(more, [[read_text(text, tokens=False) for text in texts], ["x"]], at=timezone.now())
    page = as_alice.get(reverse("canary", args=[other.public_id, canary.public_id])).content.decode()
    assert "2 approximate tokens" in page
