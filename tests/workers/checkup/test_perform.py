"""A check-up from its start to its report: over real connections, killed, capped, stopped."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from drift.checkup import life, start, store
from drift.checkup.plan import Wish
from drift.models import Checkup, CheckupAnswer, Endpoint, EndpointCheck, Suite
from tests.stack import Processes, answering_server, wait_until
from workers.checkup.run import perform

SMALL = Wish(repeats=3, concurrencies=(1, 4), max_tokens=32, prefix_words=3, prefix_questions=2)
# quiet 4 x 2, load 3 x 2, short 3 x 2, unseeded 3 x 2, hot 3 x 2 twice, prefix 3 x 2
ANSWERS = 44


@pytest.fixture
def asked() -> Iterator[list[str]]:
    with answering_server(delay_s=0.02) as (url, asked):
        Endpoint.objects.update(base_url=url)
        yield asked


@pytest.fixture
def checkup(endpoint: Endpoint, suite: Suite, transactional_db: None) -> Checkup:
    now = timezone.now()
    EndpointCheck.objects.create(endpoint=endpoint, requested_at=now, finished_at=now, state=EndpointCheck.State.PASSED)
    return start.start(endpoint, SMALL, suite=suite)


def finished(checkup: Checkup) -> Checkup:
    for _ in range(20):
        perform(checkup.pk)
        checkup.refresh_from_db()
        if checkup.over:
            break
    return checkup


def test_it_asks_everything_once_and_reports(checkup: Checkup, asked: list[str]) -> None:
    seen: list[int] = []
    perform(checkup.pk, seen.append)
    checkup.refresh_from_db()

    assert (checkup.state, checkup.problem) == (Checkup.State.FINISHED, "")
    assert checkup.answered == checkup.wanted == ANSWERS == seen[-1]
    assert len(asked) == sum(CheckupAnswer.objects.values_list("attempts", flat=True))
    assert seen == sorted(seen)
    report = store.report_of(checkup)
    assert report is not None
    assert report.quiet is not None
    assert report.quiet.pairs_differing == 0
    assert report.identities.kind == "constant"
    row = CheckupAnswer.objects.first()
    assert row is not None
    assert b"chat.completion" in bytes(row.raw)
    assert b"messages" in bytes(row.request)


def test_killed_half_way_it_loses_nothing_and_goes_on(checkup: Checkup, asked: list[str], processes: Processes) -> None:
    code = f"import workers.celery; from workers.checkup.run import perform; perform({checkup.pk})"
    child = processes.start("checkup", "-c", code)
    wait_until(lambda: CheckupAnswer.objects.count() >= 10, 60, f"ten answers; {processes.log('checkup')[-500:]}")
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    kept = dict(CheckupAnswer.objects.values_list("pk", "public_id"))
    assert 10 <= len(kept) < ANSWERS

    assert life.reap(timezone.now() + timedelta(minutes=5)) == 1
    assert finished(checkup).state == Checkup.State.FINISHED
    assert CheckupAnswer.objects.count() == ANSWERS
    assert kept.items() <= dict(CheckupAnswer.objects.values_list("pk", "public_id")).items()
    assert len(asked) <= ANSWERS + 4  # only what was in flight was asked twice


def test_two_workers_do_not_share_one(checkup: Checkup, asked: list[str]) -> None:
    assert life.claim(checkup.pk, timezone.now()) is not None
    perform(checkup.pk)
    assert asked == []


def test_a_cap_in_tokens_is_never_passed_and_what_came_is_reported(checkup: Checkup, asked: list[str]) -> None:
    Checkup.objects.filter(pk=checkup.pk).update(token_cap=300)
    ended = finished(checkup)
    assert ended.state == Checkup.State.STOPPED
    assert "cap of 300 tokens" in ended.problem
    assert 0 < ended.tokens <= 300
    assert ended.report


def test_a_cap_in_money_needs_prices_and_holds(checkup: Checkup, asked: list[str]) -> None:
    life.stop(checkup, timezone.now())
    endpoint = checkup.endpoint
    assert endpoint is not None
    with pytest.raises(start.CheckupError, match="prices"):
        start.start(endpoint, SMALL, caps=start.Caps(cost=Decimal(1)))
    Endpoint.objects.update(price_in=Decimal(1000), price_out=Decimal(1000))
    endpoint.refresh_from_db()
    capped = start.start(endpoint, SMALL, caps=start.Caps(cost=Decimal("0.5")))
    ended = finished(capped)
    assert ended.state == Checkup.State.STOPPED
    assert 0 < ended.cost <= Decimal("0.5")


def test_stopped_by_a_person_it_keeps_what_it_has(checkup: Checkup, asked: list[str]) -> None:
    def stop(answered: int) -> None:
        if answered >= 5:
            life.stop(Checkup.objects.get(pk=checkup.pk), timezone.now())

    perform(checkup.pk, stop)
    checkup.refresh_from_db()
    assert checkup.state == Checkup.State.STOPPED
    assert 5 <= CheckupAnswer.objects.count() < ANSWERS
    assert not life.stop(checkup, timezone.now())


def test_one_of_an_endpoint_at_a_time_and_only_of_a_checked_one(checkup: Checkup) -> None:
    endpoint = checkup.endpoint
    assert endpoint is not None
    with pytest.raises(start.CheckupError, match="going on"):
        start.start(endpoint, SMALL)
    life.stop(checkup, timezone.now())
    EndpointCheck.objects.all().delete()
    with pytest.raises(start.CheckupError, match="check"):
        start.start(endpoint, SMALL)


@pytest.mark.parametrize("change", [{"repeats": 1}, {"concurrencies": ()}, {"concurrencies": (65,)}, {"max_tokens": 0}])
def test_a_wish_that_cannot_be_met_says_why(change: dict[str, object]) -> None:
    with pytest.raises(start.CheckupError):
        start.checked(replace(SMALL, **change))  # type: ignore[arg-type]


def test_places_are_asked_in_rounds_and_cold_before_warm(checkup: Checkup) -> None:
    from workers.checkup.asking import open_places

    stages = {stage.kind: stage for stage in checkup.stages.all()}
    questions = start.questions_in(checkup)
    rounds = [repeat for _, repeat in open_places(stages["quiet"], questions)]
    assert rounds == sorted(rounds)
    fresh = open_places(stages["prefix"], questions)
    assert [repeat for _, repeat in fresh] == [0, 1, 2] * 2
    assert Counter(question.key for question, _ in fresh) == {"p1": 3, "p2": 3}
