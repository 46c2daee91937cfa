"""The life of a run: claimed, finished or failed, and put back when its worker is gone."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_noop

from drift.endpoints import CHECK_ATTEMPTS, series_of
from drift.models import Canary, EndpointCheck, Heartbeat, Run
from drift.said import cut, said

MOST_ATTEMPTS = 5


def lease() -> timedelta:
    """How long a claim holds without being renewed."""
    return timedelta(seconds=settings.RUN_LEASE_SECONDS)


def claim(run_id: int, now: datetime) -> tuple[Run, UUID] | None:
    """Takes a due run for this worker and settles its series. None if it is not due (any more)."""
    token = uuid4()
    with transaction.atomic():
        run = (
            Run.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(pk=run_id, state=Run.State.DUE)
            .select_related("monitor__endpoint__team", "monitor__suite")
            .first()
        )
        if run is None:
            return None
        run.series = series_of(run.monitor.endpoint, run.monitor.suite)
        run.state = Run.State.RUNNING
        run.claim = token
        run.attempts += 1
        run.lease_until = now + lease()
        run.started_at = now
        run.samples_done = 0
        run.save()
    return run, token


def renew(run: Run, token: UUID, now: datetime, samples_done: int) -> bool:
    """Prolongs the lease and notes progress. False if the run is no longer held under this claim."""
    return bool(
        Run.objects.filter(pk=run.pk, state=Run.State.RUNNING, claim=token).update(
            lease_until=now + lease(), samples_done=samples_done
        )
    )


def give_back(run: Run, token: UUID, now: datetime, problem: str) -> None:
    """Ends a claim without a result: due again, or failed for good after `MOST_ATTEMPTS`."""
    held = Run.objects.filter(pk=run.pk, state=Run.State.RUNNING, claim=token)
    if run.attempts >= MOST_ATTEMPTS:
        held.update(state=Run.State.FAILED, claim=None, lease_until=None, finished_at=now, problem=problem[:2000])
    else:
        held.update(state=Run.State.DUE, claim=None, lease_until=None, published_at=now, problem=problem[:2000])


def postpone(run: Run, token: UUID, now: datetime, why: str) -> None:
    """Puts a run back that could not begin through no fault of its own; it does not count as a try."""
    Run.objects.filter(pk=run.pk, state=Run.State.RUNNING, claim=token).update(
        state=Run.State.DUE,
        claim=None,
        lease_until=None,
        published_at=now,
        attempts=run.attempts - 1,
        problem=cut(why, 2000),
    )


def skip(run: Run, token: UUID, why: str) -> None:
    """Gives a slot up without asking anything, with the reason."""
    Run.objects.filter(pk=run.pk, state=Run.State.RUNNING, claim=token).update(
        state=Run.State.SKIPPED, claim=None, lease_until=None, missed_slots=1, problem=cut(why, 2000)
    )


def canaries_of(run: Run) -> list[Canary]:
    """The canaries of the run's suite, in their order."""
    return list(Canary.objects.filter(places__suite=run.monitor.suite_id).order_by("places__position"))


def reap(now: datetime) -> tuple[int, int]:
    """Puts runs and checks whose worker is gone back into the queue; returns how many of each.

    A run that was tried `MOST_ATTEMPTS` times fails, so that a run that kills its worker does not do so for ever.
    """
    with transaction.atomic():
        stuck = Run.objects.filter(state=Run.State.RUNNING, lease_until__lt=now)
        given_up = stuck.filter(attempts__gte=MOST_ATTEMPTS).update(
            state=Run.State.FAILED,
            claim=None,
            lease_until=None,
            finished_at=now,
            problem=said(gettext_noop("its worker ended without a result {number} times"), number=MOST_ATTEMPTS),
        )
        back = stuck.update(
            state=Run.State.DUE,
            claim=None,
            lease_until=None,
            published_at=None,
            problem=said(gettext_noop("its worker ended without a result; tried again")),
        )
        checks = EndpointCheck.objects.filter(state=EndpointCheck.State.RUNNING, lease_until__lt=now)
        checks.filter(attempts__gte=CHECK_ATTEMPTS).update(
            state=EndpointCheck.State.FAILED,
            finished_at=now,
            problem=said(
                gettext_noop(
                    "The worker that asked ended before it had an answer. Check again; if it recurs, see its log."
                )
            ),
        )
        checks_back = checks.update(state=EndpointCheck.State.DUE, lease_until=None)
        Heartbeat.objects.update_or_create(part="reap", defaults={"beat_at": now})
    return given_up + back, checks_back
