"""Fire drills: asked for by a person, played by a worker, one at a time per team."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_noop

from drift.models import Drill, Team, User
from drift.said import in_facts, said

LEASE = timedelta(minutes=6)
REPUBLISH_AFTER = timedelta(seconds=60)
OPEN = (Drill.State.DUE, Drill.State.RUNNING)


def ask(team: Team, user: User | None, now: datetime) -> Drill:
    """A drill, due now. One that is open already is returned instead of a second."""
    with transaction.atomic():
        Team.objects.select_for_update().get(pk=team.pk)
        known = Drill.objects.filter(team=team, state__in=OPEN).first()
        return known or Drill.objects.create(team=team, requested_by=user, requested_at=now)


def to_publish(now: datetime) -> list[int]:
    """Ids of drills that wait and were not handed out lately; marks them as handed out."""
    with transaction.atomic():
        ids = list(
            Drill.objects.select_for_update(skip_locked=True)
            .filter(state=Drill.State.DUE)
            .filter(Q(lease_until__isnull=True) | Q(lease_until__lt=now))
            .values_list("pk", flat=True)[:10]
        )
        Drill.objects.filter(pk__in=ids).update(lease_until=now + REPUBLISH_AFTER)
    return ids


def claim(drill_id: int, now: datetime) -> Drill | None:
    """Takes a waiting drill; None if it is not waiting (any more)."""
    taken = Drill.objects.filter(pk=drill_id, state=Drill.State.DUE).update(
        state=Drill.State.RUNNING, lease_until=now + LEASE
    )
    return Drill.objects.select_related("team").get(pk=drill_id) if taken else None


def reap(now: datetime) -> int:
    """Drills whose worker is gone have failed: a drill is not worth a second try. Returns how many."""
    return Drill.objects.filter(state=Drill.State.RUNNING, lease_until__lt=now).update(
        state=Drill.State.FAILED,
        finished_at=now,
        report={
            "problem": in_facts(
                said(gettext_noop("The worker that played it ended before it was over. Start it again."))
            )
        },
    )
