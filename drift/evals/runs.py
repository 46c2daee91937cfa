"""The life of an eval run: claimed, paused, taken up again, ended. What was answered stays, whatever happens."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext_noop

from drift.models import EvalRun
from drift.runs import lease
from drift.said import cut, said

MOST_ATTEMPTS = 5
AT_ONCE = 2
REPUBLISH_AFTER = timedelta(seconds=60)
State = EvalRun.State


def claim(run_id: int, now: datetime) -> tuple[EvalRun, UUID] | None:
    """Takes a due run for this worker; None if it is not due (any more)."""
    token = uuid4()
    with transaction.atomic():
        run = (
            EvalRun.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(Q(not_before__isnull=True) | Q(not_before__lte=now), pk=run_id, state=State.DUE)
            .select_related("version__eval_set__team")
            .first()
        )
        if run is None:
            return None
        run.state = State.RUNNING
        run.claim = token
        run.attempts += 1
        run.lease_until = now + lease()
        run.started_at = run.started_at or now
        run.problem = ""
        run.save()
    return run, token


def renew(run: EvalRun, token: UUID, now: datetime) -> bool:
    """Prolongs the claim. False if it is lost: the run was paused, stopped, or taken over."""
    return bool(_held(run, token).update(lease_until=now + lease()))


def _held(run: EvalRun, token: UUID) -> QuerySet[EvalRun]:
    return EvalRun.objects.filter(pk=run.pk, state=State.RUNNING, claim=token)


def put_back(run: EvalRun, token: UUID, now: datetime, why: str, after: timedelta, brought: bool) -> None:
    """Ends a claim with work left: due again after a while. One that brought nothing counts towards giving up."""
    attempts = 0 if brought else run.attempts
    if attempts >= MOST_ATTEMPTS:
        end(run, token, now, State.FAILED, why)
        return
    _held(run, token).update(
        state=State.DUE,
        claim=None,
        lease_until=None,
        not_before=now + after,
        published_at=None,
        attempts=attempts,
        problem=cut(why, 2000),
    )


def wait(run: EvalRun, token: UUID, now: datetime, why: str, after: timedelta) -> None:
    """Puts a run back that could not begin through no fault of its own; it does not count as a try."""
    _held(run, token).update(
        state=State.DUE,
        claim=None,
        lease_until=None,
        not_before=now + after,
        published_at=None,
        attempts=max(0, run.attempts - 1),
        problem=cut(why, 2000),
    )


def hold(run: EvalRun, token: UUID, why: str) -> None:
    """Pauses a run from within, as when its cap is reached. A person may raise the cap and resume."""
    _held(run, token).update(state=State.PAUSED, claim=None, lease_until=None, problem=cut(why, 2000))


def end(run: EvalRun, token: UUID, now: datetime, state: str, why: str = "") -> None:
    _held(run, token).update(state=state, claim=None, lease_until=None, finished_at=now, problem=cut(why, 2000))


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
    with transaction.atomic():
        stuck = EvalRun.objects.filter(state=State.RUNNING, lease_until__lt=now)
        given_up = stuck.filter(attempts__gte=MOST_ATTEMPTS).update(
            state=State.FAILED,
            claim=None,
            lease_until=None,
            finished_at=now,
            problem=said(gettext_noop("its worker ended without an answer {number} times"), number=MOST_ATTEMPTS),
        )
        back = stuck.update(
            state=State.DUE,
            claim=None,
            lease_until=None,
            published_at=None,
            problem=said(gettext_noop("its worker ended; taken up again")),
        )
    return given_up + back


def to_publish(now: datetime) -> list[int]:
    """Ids of runs that are due and were not handed to a worker lately; marks them as handed over.

    At most `AT_ONCE` go on at a time, so that canaries always find a free worker; long runs take turns by slices.
    """
    with transaction.atomic():
        free = max(0, AT_ONCE - EvalRun.objects.filter(state=State.RUNNING).count())
        ids = list(
            EvalRun.objects.select_for_update(skip_locked=True)
            .filter(state=State.DUE)
            .filter(Q(not_before__isnull=True) | Q(not_before__lte=now))
            .filter(Q(published_at__isnull=True) | Q(published_at__lt=now - REPUBLISH_AFTER))
            .order_by(F("published_at").asc(nulls_first=True), "created_at")
            .values_list("pk", flat=True)[:free]
        )
        EvalRun.objects.filter(pk__in=ids).update(published_at=now)
    return ids
