"""Performs one check-up for a while: stage by stage, what is missing; the rest goes back into the queue."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext_noop

from drift.checkup import life, store
from drift.checkup.packed import unpack
from drift.checkup.plan import Kind
from drift.checkup.start import questions_in
from drift.models import Checkup, CheckupStage
from drift.said import said
from workers.checkup.asking import Holder, Turn, ask_scores, ask_stage, open_places
from workers.checkup.budget import Budget, CapReachedError
from workers.probe.caching import mark_cached
from workers.probe.holding import ClaimLostError
from workers.probe.traffic import Share

log = logging.getLogger(__name__)

SLICE = timedelta(minutes=10)  # then others get their turn; well under Celery's time limit
RESTING, BUSY, FAILED = timedelta(seconds=60), timedelta(seconds=10), timedelta(seconds=30)


class WaitError(Exception):
    """The endpoint cannot be asked now."""

    def __init__(self, why: str, after: timedelta) -> None:
        super().__init__(why)
        self.why, self.after = why, after


def perform(checkup_id: int, on_answer: Callable[[int], None] = lambda _: None) -> None:
    """Does some of the check-up, if it is due; `on_answer` is told how many answers are stored.

    A failure of our own gives it back; an endpoint's failure is a result.
    """
    claimed = life.claim(checkup_id, timezone.now())
    if claimed is None:
        return
    checkup, token = claimed
    try:
        _advance(checkup, token, timezone.now() + SLICE, on_answer)
    except ClaimLostError:
        log.info("check-up %s was stopped or taken over", checkup.public_id)
    except WaitError as waiting:
        life.wait(checkup, token, timezone.now(), waiting.why, waiting.after)
    except CapReachedError as cap:
        life.end(
            checkup,
            token,
            timezone.now(),
            Checkup.State.STOPPED,
            said(gettext_noop("Ended early: {cap}."), cap=cap.args[0]),
        )
    except Exception as error:
        life.put_back(checkup, token, timezone.now(), f"{type(error).__name__}: {error}", FAILED)
        raise


def _advance(checkup: Checkup, token: UUID, until: datetime, on_answer: Callable[[int], None]) -> None:
    endpoint = checkup.endpoint
    if endpoint is None:
        raise ValueError(f"check-up {checkup.pk} was recorded elsewhere")
    questions = questions_in(checkup)
    turn = Turn(checkup, token, Budget(checkup, endpoint), until, on_answer)
    for stage in checkup.stages.filter(finished_at__isnull=True).order_by("position"):
        while places := open_places(stage, questions):
            if timezone.now() >= until:
                life.put_back(checkup, token, timezone.now(), "", timedelta(0))
                return
            share = Share(endpoint, Holder(f"checkup-{checkup.pk}", stage.concurrency))
            refusal = share.enter()
            if refusal is not None:
                raise WaitError(refusal.why, RESTING if refusal.resting else BUSY)
            try:
                ask = ask_scores if stage.kind == Kind.SCORED else ask_stage
                asyncio.run(ask(turn, stage, places, share))
            finally:
                share.leave()
            if not share.may_go_on():
                raise WaitError(said(gettext_noop("the endpoint rests after failures")), RESTING)
        _finish(stage, share_note(stage))
    life.end(checkup, token, timezone.now(), Checkup.State.FINISHED)


def share_note(stage: CheckupStage) -> str:
    """Why the stage is less than planned, where the endpoint's own limit held it back."""
    endpoint = stage.checkup.endpoint
    if endpoint is not None and stage.concurrency > endpoint.max_concurrency:
        return said(
            gettext_noop("asked with {max_concurrency} in flight, which is the endpoint's limit"),
            max_concurrency=endpoint.max_concurrency,
        )
    return ""


def _finish(stage: CheckupStage, note: str) -> None:
    """Closes a stage: repeats that came out of a cache are told apart, which takes all of them."""
    rows = list(stage.answers.order_by("started_at"))
    if stage.kind != Kind.SCORED:
        exchanges = [store.exchange_of(row) for row in rows]
        before = [unpack(bytes(row.decoded)) for row in rows]
        for row, was, now in zip(rows, before, mark_cached(before, exchanges), strict=True):
            if now is not was:
                store.replace_decoded(row, now)
    stage.note = note
    stage.finished_at = timezone.now()
    stage.save(update_fields=["note", "finished_at"])
