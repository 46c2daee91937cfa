"""When nobody wants to be told: silences by endpoint, provider or tag, and maintenance windows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils.translation import gettext_noop

from drift import feed
from drift.models import Endpoint, Event, Silence, Team, User
from drift.said import said

WEEK = timedelta(days=7)


def silence(
    team: Team,
    user: User | None,
    *,
    starts_at: datetime,
    ends_at: datetime,
    reason: str,
    now: datetime,
    endpoint: Endpoint | None = None,
    provider: str = "",
    tag: str = "",
    every_week: bool = False,
) -> Silence:
    """A silence, or a maintenance window if it begins later. IntegrityError if it covers nothing or ends early."""
    kind = Silence.Kind.MAINTENANCE if every_week or starts_at > now + timedelta(minutes=1) else Silence.Kind.SILENCE
    row = Silence.objects.create(
        team=team,
        kind=kind,
        endpoint=endpoint,
        provider=provider,
        tag=tag,
        starts_at=starts_at,
        ends_at=ends_at,
        every_week=every_week,
        reason=reason,
        created_by=user,
    )
    text = (
        gettext_noop("Maintenance for {what}: {reason}")
        if kind == Silence.Kind.MAINTENANCE
        else gettext_noop("Silence for {what}: {reason}")
    )
    feed.note_team(team, Event.Kind.SILENCE, said(text, what=covers(row), reason=reason), now, actor=user)
    return row


def end(row: Silence, user: User | None, now: datetime) -> None:
    """Ends a silence before its time; what is still open is then told."""
    Silence.objects.filter(pk=row.pk, ended_at=None).update(ended_at=now)
    text = (
        gettext_noop("Maintenance for {what} ended")
        if row.kind == Silence.Kind.MAINTENANCE
        else gettext_noop("Silence for {what} ended")
    )
    feed.note_team(row.team_id, Event.Kind.SILENCE, said(text, what=covers(row)), now, actor=user)


def covers(row: Silence) -> str:
    """What it silences, in words."""
    if row.endpoint is not None:
        return row.endpoint.name
    if row.provider:
        return said(gettext_noop("everything of {provider}"), provider=row.provider)
    return said(gettext_noop("everything tagged {tag}"), tag=row.tag)


def holds(row: Silence, now: datetime) -> bool:
    """Whether it is in force."""
    if row.ended_at is not None or now < row.starts_at:
        return False
    if row.every_week:
        return (now - row.starts_at) % WEEK < row.ends_at - row.starts_at
    return now < row.ends_at


def over_all(endpoints: Iterable[Endpoint], now: datetime) -> bool:
    """Whether every one of these endpoints is silenced now."""
    rows = list(endpoints)
    if not rows:
        return False
    known = Silence.objects.filter(team=rows[0].team_id, ended_at=None, starts_at__lte=now).filter(
        Q(every_week=True) | Q(ends_at__gt=now)
    )
    in_force = [row for row in known if holds(row, now)]
    return bool(in_force) and all(any(_covers(row, endpoint) for row in in_force) for endpoint in rows)


def in_force(team: Team, now: datetime) -> list[Silence]:
    """The silences that hold now, those that end first in front."""
    rows = Silence.objects.filter(team=team, ended_at=None, starts_at__lte=now).select_related("endpoint", "created_by")
    return sorted((row for row in rows if holds(row, now)), key=lambda row: row.ends_at)


def _covers(row: Silence, endpoint: Endpoint) -> bool:
    if row.endpoint_id is not None:
        return row.endpoint_id == endpoint.pk
    if row.provider:
        return row.provider.casefold() == endpoint.provider.casefold()
    return row.tag in endpoint.tags
