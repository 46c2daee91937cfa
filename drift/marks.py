"""Moments that people mark on the charts: of one endpoint, or of the whole team."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from drift import entered
from drift.models import Annotation, Endpoint, Event, Team, User

LONGEST = 200


def add(
    team: Team, user: User | None, *, at: datetime, text: str, now: datetime, endpoint: Endpoint | None = None
) -> Annotation:
    """A mark at `at`, on the charts of one endpoint or of all. It is told in the feed. Raises EntryError."""
    words = entered.text(text, most=LONGEST, least=1, what="text")
    with transaction.atomic():
        row = Annotation.objects.create(team=team, endpoint=endpoint, at=at, text=words, created_by=user)
        _tell(row, Event.Kind.MARKED, user, now)
    return row


def change(
    row: Annotation, user: User | None, *, at: datetime, text: str, now: datetime, endpoint: Endpoint | None
) -> None:
    """Moves or rewords a mark, or has it on other charts. Raises EntryError."""
    words = entered.text(text, most=LONGEST, least=1, what="text")
    before = (row.at, row.text, row.endpoint_id)
    row.at, row.text, row.endpoint = at, words, endpoint
    if before == (row.at, row.text, row.endpoint_id):
        return
    with transaction.atomic():
        row.save(update_fields=["at", "text", "endpoint"])
        _tell(row, Event.Kind.MARKED, user, now)


def remove(row: Annotation, user: User | None, now: datetime) -> None:
    """Takes a mark off the charts; the feed keeps what it said."""
    with transaction.atomic():
        _tell(row, Event.Kind.UNMARKED, user, now)
        row.delete()


def between(team: Team | int, start: datetime, end: datetime, endpoints: Iterable[Endpoint | int]) -> list[Annotation]:
    """The marks of these endpoints and of the whole team from `start` up to `end`, the oldest first. One query."""
    return list(
        Annotation.objects.filter(team=team, at__gte=start, at__lt=end)
        .filter(Q(endpoint__isnull=True) | Q(endpoint__in=list(endpoints)))
        .select_related("endpoint", "created_by")
        .order_by("at", "pk")
    )


def _tell(row: Annotation, kind: str, user: User | None, now: datetime) -> None:
    Event.objects.create(team_id=row.team_id, at=now, kind=kind, text=row.text, endpoint=row.endpoint, actor=user)
