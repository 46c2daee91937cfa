"""The feed: one line for everything that happened, newest first."""

from __future__ import annotations

from datetime import datetime

from drift.models import Endpoint, Event, Incident, Team, User


def note(
    endpoint: Endpoint,
    kind: str,
    text: str,
    now: datetime,
    *,
    incident: Incident | None = None,
    actor: User | None = None,
) -> Event:
    """A line about an endpoint."""
    return Event.objects.create(
        team_id=endpoint.team_id, at=now, kind=kind, text=text, endpoint=endpoint, incident=incident, actor=actor
    )


def note_team(
    team: Team | int,
    kind: str,
    text: str,
    now: datetime,
    *,
    incident: Incident | None = None,
    actor: User | None = None,
) -> Event:
    """A line about no endpoint in particular."""
    pk = team if isinstance(team, int) else team.pk
    return Event.objects.create(team_id=pk, at=now, kind=kind, text=text, incident=incident, actor=actor)
