"""The life of a check-up: claimed, put back, stopped, ended. What was answered stays, whatever happens."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_noop

from drift.checkup import store
from drift.claims import MOST_ATTEMPTS, Claims
from drift.models import Checkup
from drift.said import said, shown

State = Checkup.State
claims = Claims(Checkup, ("endpoint__team",))


def claim(checkup_id: int, now: datetime) -> tuple[Checkup, UUID] | None:
    """Takes a due check-up for this worker; None if it is not due (any more)."""

    def begin(checkup: Checkup) -> None:
        checkup.started_at = checkup.started_at or now
        checkup.problem = ""

    return claims.take(checkup_id, now, begin)


def renew(checkup: Checkup, token: UUID, now: datetime) -> bool:
    """Prolongs the claim. False if it is lost: the check-up was stopped or taken over."""
    return claims.renew(checkup, token, now)


def put_back(checkup: Checkup, token: UUID, now: datetime, why: str, after: timedelta) -> None:
    """Ends a claim with work left: due again after a while, failed after `MOST_ATTEMPTS` that brought nothing."""
    attempts = claims.held(checkup, token).values_list("attempts", flat=True).first() or 0
    if attempts >= MOST_ATTEMPTS:
        end(checkup, token, now, State.FAILED, why)
    else:
        _due_again(checkup, token, now + after, attempts, why)


def wait(checkup: Checkup, token: UUID, now: datetime, why: str, after: timedelta) -> None:
    """Puts one back that could not begin through no fault of its own; it does not count as a try."""
    _due_again(checkup, token, now + after, max(0, checkup.attempts - 1), why)


def _due_again(checkup: Checkup, token: UUID, not_before: datetime, attempts: int, why: str) -> None:
    claims.let_go(
        checkup, token, State.DUE, not_before=not_before, published_at=None, attempts=attempts, problem=shown(why, 2000)
    )


def end(checkup: Checkup, token: UUID, now: datetime, state: str, why: str = "") -> bool:
    """Ends it for good, with a report of whatever was answered. False if the claim is lost."""
    with transaction.atomic():
        held = claims.held(checkup, token).select_for_update(of=("self",)).select_related("endpoint").first()
        if held is None:
            return False
        _close(held, now, state, why)
    return True


def stop(checkup: Checkup, now: datetime) -> bool:
    """A person's stop. What was answered is reported; False if it was over already."""
    with transaction.atomic():
        held = (
            Checkup.objects.select_for_update(of=("self",))
            .select_related("endpoint")
            .filter(pk=checkup.pk, state__in=[State.DUE, State.RUNNING])
            .first()
        )
        if held is None:
            return False
        _close(held, now, State.STOPPED, said(gettext_noop("stopped by a person")))
    return True


def _close(held: Checkup, now: datetime, state: str, why: str) -> None:
    held.state = state
    held.claim = held.lease_until = None
    held.finished_at = now
    held.problem = shown(why, 2000)
    held.save()
    if held.answered:
        store.make_report(held)


def reap(now: datetime) -> int:
    """Puts check-ups back whose worker is gone; returns how many."""
    return claims.reap(
        now,
        said(gettext_noop("its worker ended without an answer {number} times"), number=MOST_ATTEMPTS),
        said(gettext_noop("its worker ended; taken up again")),
    )


def to_publish(now: datetime, limit: int = 100) -> list[int]:
    """Ids of check-ups that are due and were not handed to a worker lately; marks them as handed over."""
    return claims.to_publish(now, limit, ("created_at",))
