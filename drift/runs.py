"""The life of a run: claimed, finished or failed, and put back when its worker is gone."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_noop

from drift.claims import MOST_ATTEMPTS, Claims
from drift.endpoints import CHECK_ATTEMPTS, series_of
from drift.models import Canary, EndpointCheck, Heartbeat, Run
from drift.said import cut, said

claims = Claims(Run, ("monitor__endpoint__team", "monitor__suite"), waits=False)


def claim(run_id: int, now: datetime) -> tuple[Run, UUID] | None:
    """Takes a due run for this worker and settles its series. None if it is not due (any more)."""

    def begin(run: Run) -> None:
        run.series = series_of(run.monitor.endpoint, run.monitor.suite)
        run.started_at = now
        run.samples_done = 0

    return claims.take(run_id, now, begin)


def renew(run: Run, token: UUID, now: datetime, samples_done: int) -> bool:
    """Prolongs the lease and notes progress. False if the run is no longer held under this claim."""
    return claims.renew(run, token, now, samples_done=samples_done)


def give_back(run: Run, token: UUID, now: datetime, problem: str) -> None:
    """Ends a claim without a result: due again, or failed for good after `MOST_ATTEMPTS`."""
    if run.attempts >= MOST_ATTEMPTS:
        claims.let_go(run, token, Run.State.FAILED, finished_at=now, problem=problem[:2000])
    else:
        claims.let_go(run, token, Run.State.DUE, published_at=now, problem=problem[:2000])


def postpone(run: Run, token: UUID, now: datetime, why: str) -> None:
    """Puts a run back that could not begin through no fault of its own; it does not count as a try."""
    claims.let_go(run, token, Run.State.DUE, published_at=now, attempts=run.attempts - 1, problem=cut(why, 2000))


def skip(run: Run, token: UUID, why: str) -> None:
    """Gives a slot up without asking anything, with the reason."""
    claims.let_go(run, token, Run.State.SKIPPED, missed_slots=1, problem=cut(why, 2000))


def canaries_of(run: Run) -> list[Canary]:
    """The canaries of the run's suite, in their order."""
    return list(Canary.objects.filter(places__suite=run.monitor.suite_id).order_by("places__position"))


def reap(now: datetime) -> tuple[int, int]:
    """Puts runs and checks whose worker is gone back into the queue; returns how many of each."""
    with transaction.atomic():
        runs_back = claims.reap(
            now,
            said(gettext_noop("its worker ended without a result {number} times"), number=MOST_ATTEMPTS),
            said(gettext_noop("its worker ended without a result; tried again")),
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
    return runs_back, checks_back
