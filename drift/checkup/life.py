"""The life of a check-up: claimed, put back, stopped, ended. What was answered stays, whatever happens."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_noop

from drift.checkup import store
from drift.models import Checkup
from drift.runs import lease
from drift.said import said, shown

MOST_ATTEMPTS = 5
State = Checkup.State


def claim(checkup_id: int, now: datetime) -> tuple[Checkup, UUID] | None:
    """Takes a due check-up for this worker; None if it is not due (any more)."""
    token = uuid4()
    with transaction.atomic():
        checkup = (
            Checkup.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(Q(not_before__isnull=True) | Q(not_before__lte=now), pk=checkup_id, state=State.DUE)
            .select_related("endpoint__team")
            .first()
        )
        if checkup is None:
            return None
        checkup.state = State.RUNNING
        checkup.claim = token
        checkup.attempts += 1
        checkup.lease_until = now + lease()
        checkup.started_at = checkup.started_at or now
        checkup.problem = ""
        checkup.save()
    return checkup, token


def renew(checkup: Checkup, token: UUID, now: datetime) -> bool:
    """Prolongs the claim. False if it is lost: the check-up was stopped or taken over."""
    return bool(_held(checkup, token).update(lease_until=now + lease()))


def _held(checkup: Checkup, token: UUID) -> QuerySet[Checkup]:
    return Checkup.objects.filter(pk=checkup.pk, state=State.RUNNING, claim=token)


def put_back(checkup: Checkup, token: UUID, now: datetime, why: str, after: timedelta) -> None:
    """Ends a claim with work left: due again after a while, failed after `MOST_ATTEMPTS` that brought nothing."""
    held = _held(checkup, token)
    if (held.values_list("attempts", flat=True).first() or 0) >= MOST_ATTEMPTS:
        end(checkup, token, now, State.FAILED, why)
        return
    held.update(
        state=State.DUE, claim=None, lease_until=None, not_before=now + after, published_at=None,
        problem=shown(why, 2000),
    )  # fmt: skip


def wait(checkup: Checkup, token: UUID, now: datetime, why: str, after: timedelta) -> None:
    """Puts one back that could not begin through no fault of its own; it does not count as a try."""
    _held(checkup, token).update(
        state=State.DUE, claim=None, lease_until=None, not_before=now + after, published_at=None,
        attempts=max(0, checkup.attempts - 1), problem=shown(why, 2000),
    )  # fmt: skip


def end(checkup: Checkup, token: UUID, now: datetime, state: str, why: str = "") -> bool:
    """Ends it for good, with a report of whatever was answered. False if the claim is lost."""
    with transaction.atomic():
        held = _held(checkup, token).select_for_update(of=("self",)).select_related("endpoint").first()
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
    with transaction.atomic():
        stuck = Checkup.objects.filter(state=State.RUNNING, lease_until__lt=now)
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


def to_publish(now: datetime, limit: int = 100) -> list[int]:
    """Ids of check-ups that are due and were not handed to a worker lately; marks them as handed over."""
    lately = now - timedelta(seconds=settings.REPUBLISH_SECONDS)
    with transaction.atomic():
        ids = list(
            Checkup.objects.select_for_update(skip_locked=True)
            .filter(state=State.DUE)
            .filter(Q(not_before__isnull=True) | Q(not_before__lte=now))
            .filter(Q(published_at__isnull=True) | Q(published_at__lt=lately))
            .order_by("created_at")
            .values_list("pk", flat=True)[:limit]
        )
        Checkup.objects.filter(pk__in=ids).update(published_at=now)
    return ids
