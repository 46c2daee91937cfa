"""The life of an eval run: claimed, paused, taken up again, ended. What was answered stays, whatever happens."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext_noop

from drift.claims import MOST_ATTEMPTS, Claims
from drift.models import EvalRun
from drift.said import cut, said

AT_ONCE = 2
REPUBLISH_AFTER = timedelta(seconds=60)
State = EvalRun.State
claims = Claims(EvalRun, ("version__eval_set__team",))


def claim(run_id: int, now: datetime) -> tuple[EvalRun, UUID] | None:
    """Takes a due run for this worker; None if it is not due (any more)."""

    def begin(run: EvalRun) -> None:
        run.started_at = run.started_at or now
        run.problem = ""

    return claims.take(run_id, now, begin)


def renew(run: EvalRun, token: UUID, now: datetime) -> bool:
    """Prolongs the claim. False if it is lost: the run was paused, stopped, or taken over."""
    return claims.renew(run, token, now)


def put_back(run: EvalRun, token: UUID, now: datetime, why: str, after: timedelta, brought: bool) -> None:
    """Ends a claim with work left: due again after a while. One that brought nothing counts towards giving up."""
    attempts = 0 if brought else run.attempts
    if attempts >= MOST_ATTEMPTS:
        end(run, token, now, State.FAILED, why)
    else:
        _due_again(run, token, now + after, attempts, why)


def wait(run: EvalRun, token: UUID, now: datetime, why: str, after: timedelta) -> None:
    """Puts a run back that could not begin through no fault of its own; it does not count as a try."""
    _due_again(run, token, now + after, max(0, run.attempts - 1), why)


def _due_again(run: EvalRun, token: UUID, not_before: datetime, attempts: int, why: str) -> None:
    claims.let_go(
        run, token, State.DUE, not_before=not_before, published_at=None, attempts=attempts, problem=cut(why, 2000)
    )


def hold(run: EvalRun, token: UUID, why: str) -> None:
    """Pauses a run from within, as when its cap is reached. A person may raise the cap and resume."""
    claims.let_go(run, token, State.PAUSED, problem=cut(why, 2000))


def end(run: EvalRun, token: UUID, now: datetime, state: str, why: str = "") -> None:
    claims.let_go(run, token, state, finished_at=now, problem=cut(why, 2000))


def pause(run: EvalRun) -> bool:
    """A person's pause. Requests in flight are let go; their answers are asked again later."""
    return bool(
        EvalRun.objects.filter(pk=run.pk, state__in=[State.DUE, State.RUNNING]).update(
            state=State.PAUSED, claim=None, lease_until=None, problem=said(gettext_noop("paused by a person"))
        )
    )


def resume(run: EvalRun) -> bool:
    return bool(
        EvalRun.objects.filter(pk=run.pk, state=State.PAUSED).update(
            state=State.DUE, published_at=None, not_before=None, attempts=0, problem=""
        )
    )


def stop(run: EvalRun, now: datetime) -> bool:
    """Ends a run for good with what it has."""
    return bool(
        EvalRun.objects.filter(pk=run.pk, state__in=[State.DUE, State.RUNNING, State.PAUSED]).update(
            state=State.STOPPED,
            claim=None,
            lease_until=None,
            finished_at=now,
            problem=said(gettext_noop("stopped by a person")),
        )
    )


def reap(now: datetime) -> int:
    """Puts runs back whose worker is gone; returns how many."""
    return claims.reap(
        now,
        said(gettext_noop("its worker ended without an answer {number} times"), number=MOST_ATTEMPTS),
        said(gettext_noop("its worker ended; taken up again")),
    )


def to_publish(now: datetime) -> list[int]:
    """Ids of runs that are due and were not handed to a worker lately; marks them as handed over.

    At most `AT_ONCE` go on at a time, so that canaries always find a free worker; long runs take turns by slices.
    """
    with transaction.atomic():
        free = max(0, AT_ONCE - EvalRun.objects.filter(state=State.RUNNING).count())
        order = (F("published_at").asc(nulls_first=True), "created_at")
        return claims.to_publish(now, free, order, REPUBLISH_AFTER)
