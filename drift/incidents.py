"""Findings about one cause as one incident, and what people do with it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.db import connection, transaction
from django.utils.translation import gettext_noop

from drift import alerts, feed
from drift.findings.kinds import Family, Kind, Severity
from drift.models import Endpoint, Event, Finding, Incident, Team, User
from drift.said import Counted, Found, cut, listing, said

TOGETHER = timedelta(minutes=10)  # findings of one provider this close are one incident
SAME_CAUSE = timedelta(hours=24)  # lesser findings about an endpoint join its open incident for so long
TITLE = gettext_noop("{who}: {what}")
UNRESOLVED = (Incident.State.OPEN, Incident.State.ACKNOWLEDGED)
ENDED_BY = {
    Kind.OUTAGE: Kind.RECOVERY,
    Kind.RETIRED: Kind.RECOVERY,
    Kind.CACHED: Kind.UNCACHED,
    Kind.NO_DATA: Kind.DATA_AGAIN,
}


def provider_of(endpoint: Endpoint) -> str:
    """What its findings are grouped by: the provider's name, else the host that is asked."""
    return endpoint.provider or urlsplit(endpoint.base_url).hostname or endpoint.name


def file(findings: Sequence[Finding], now: datetime) -> None:
    """Puts new findings into incidents, writes the feed, and writes the deliveries that follow.

    Called in the transaction that made the findings. Incidents of one team are opened one at a time, so that two
    workers that find the same cause within a second make one incident.
    """
    if not findings:
        return
    touched: dict[int, Incident] = {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('drift.incidents'), %s)", [findings[0].team_id])
    for finding in findings:
        incident = _incident_of(finding, now)
        if incident is not None:
            finding.incident = incident
            touched[incident.pk] = incident
        text = said(
            gettext_noop("{name}: {sentence}"),
            name=finding.endpoint.name,
            sentence=Found(finding.kind, finding.began_at, finding.facts),
        )
        finding.save()
        feed.note(finding.endpoint, Event.Kind.FINDING, text, now, incident=incident)
    for incident in touched.values():
        _retitle(incident)
        incident.save()
        if _has_ended(incident):
            resolve(incident, None, said(gettext_noop("It ended by itself.")), now)
        else:
            alerts.raise_for(incident, now)


def _incident_of(finding: Finding, now: datetime) -> Incident | None:
    kind = Kind(finding.kind)
    unresolved = Incident.objects.filter(team=finding.team_id, family=kind.family, state__in=UNRESOLVED)
    mine = unresolved.filter(endpoints=finding.endpoint).order_by("-opened_at").first()
    if not kind.opens:
        if mine is not None and kind is not Kind.IDENTITY_SEEN:
            return _joined(mine, finding, now)
        return None
    near = mine is not None and now - mine.last_finding_at <= (TOGETHER if kind.voids else SAME_CAUSE)
    if mine is not None and (near or kind.family is not Family.CHANGE):
        return _joined(mine, finding, now)
    provider = provider_of(finding.endpoint)
    beside = (
        unresolved.filter(provider=provider, last_finding_at__gte=now - TOGETHER, simulated=finding.endpoint.simulated)
        .order_by("-opened_at")
        .first()
    )
    if beside is not None:
        return _joined(beside, finding, now)
    incident = Incident.objects.create(
        team_id=finding.team_id,
        family=kind.family,
        provider=provider,
        severity=finding.severity,
        title=said(TITLE, who=finding.endpoint.name, what=said(kind.text)),
        simulated=finding.endpoint.simulated,
        began_at=finding.began_at,
        opened_at=now,
        last_finding_at=now,
    )
    incident.endpoints.add(finding.endpoint)
    text = said(gettext_noop("Incident opened: {title}"), title=incident.title)
    feed.note(finding.endpoint, Event.Kind.OPENED, text, now, incident=incident)
    return incident


def _joined(incident: Incident, finding: Finding, now: datetime) -> Incident:
    incident.endpoints.add(finding.endpoint)
    incident.last_finding_at = now
    incident.began_at = min(incident.began_at, finding.began_at)
    if Severity(finding.severity).rank > Severity(incident.severity).rank:
        incident.severity = finding.severity
    incident.save()
    return incident


def _retitle(incident: Incident) -> None:
    """'gpt-4o: new identity, answers moved'; '4 endpoints of OpenAI: new identity'."""
    kinds = dict.fromkeys(incident.findings.order_by("pk").values_list("kind", flat=True))
    opening = [Kind(kind) for kind in kinds if Kind(kind).opens]
    opening.sort(key=lambda kind: -kind.severity.rank)
    parts = [said(kind.text) for kind in opening[:2]]
    parts += [said(kind.text) for kind in (Kind.BEHAVIOURAL, Kind.COSMETIC) if kind in kinds][:1]
    names = list(incident.endpoints.order_by("name").values_list("name", flat=True))
    several = said(
        gettext_noop("{endpoints} of {provider}"), endpoints=Counted(len(names), "endpoint"), provider=incident.provider
    )
    incident.title = said(TITLE, who=names[0] if len(names) == 1 else several, what=listing(parts))


def _has_ended(incident: Incident) -> bool:
    """Whether every finding that has an opposite was followed by it; a cosmetic change ends with its verdict."""
    rows = list(incident.findings.order_by("pk").values_list("series_id", "endpoint_id", "kind"))
    open_ends: set[tuple[int | None, int, str]] = set()
    for series, endpoint, kind in rows:
        if kind in ENDED_BY:
            open_ends.add((series, endpoint, ENDED_BY[Kind(kind)]))
        # an endpoint that answers one suite answers
        open_ends = {end for end in open_ends if (end[1], end[2]) != (endpoint, kind)}
    if incident.family != Family.CHANGE:
        return not open_ends
    kinds = {kind for _, _, kind in rows}
    changed = {endpoint for _, endpoint, kind in rows if Kind(kind).opens}
    settled = {endpoint for _, endpoint, kind in rows if kind == Kind.COSMETIC}
    grave = {Kind.BEHAVIOURAL, Kind.SILENT_CHANGE, Kind.FORMATTING, Kind.PROMPT_TOKENS, Kind.MODEL_ECHO, Kind.ROUTING}
    return bool(changed) and changed <= settled and not kinds & grave


def acknowledge(incident: Incident, user: User | None, why: str, until: datetime | None, now: datetime) -> None:
    """Somebody looks after it: no reminders until `until`, or for good."""
    with transaction.atomic():
        incident.state = Incident.State.ACKNOWLEDGED
        incident.acknowledged_at, incident.acknowledged_by = now, user
        incident.acknowledged_why, incident.acknowledged_until = why[:300], until
        incident.save()
        text = gettext_noop("{title}. Acknowledged: “{why}”") if why else gettext_noop("{title}. Acknowledged")
        feed.note_team(
            incident.team_id,
            Event.Kind.ACKNOWLEDGED,
            said(text, title=incident.title, why=why),
            now,
            incident=incident,
            actor=user,
        )


def reopen(incident: Incident, user: User | None, why: str, now: datetime) -> None:
    with transaction.atomic():
        incident.state = Incident.State.OPEN
        incident.resolved_at = incident.resolved_by = None
        incident.resolution = ""
        incident.acknowledged_until = None
        incident.save()
        text = said(gettext_noop("{title}. {why}"), title=incident.title, why=why)
        feed.note_team(incident.team_id, Event.Kind.REOPENED, text, now, incident=incident, actor=user)


def resolve(incident: Incident, user: User | None, resolution: str, now: datetime, *, tell: bool = True) -> None:
    """Ends it, by a person or by itself, and tells the channels that were told of it."""
    with transaction.atomic():
        incident.state = Incident.State.RESOLVED
        incident.resolved_at, incident.resolved_by, incident.resolution = now, user, cut(resolution, 300)
        incident.save()
        feed.note_team(
            incident.team_id,
            Event.Kind.RESOLVED,
            said(gettext_noop("{title}. Resolved: {resolution}"), title=incident.title, resolution=resolution),
            now,
            incident=incident,
            actor=user,
        )
        if tell:
            alerts.tell_resolved(incident, now)


def note(incident: Incident, user: User | None, text: str, now: datetime) -> Event:
    return feed.note_team(incident.team_id, Event.Kind.NOTE, text, now, incident=incident, actor=user)


def unresolved(team: Team) -> list[Incident]:
    """What is open or acknowledged, the gravest and newest first."""
    rows = Incident.objects.filter(team=team, state__in=UNRESOLVED).prefetch_related("endpoints", "findings")
    return sorted(rows, key=lambda incident: (-Severity(incident.severity).rank, -incident.opened_at.timestamp()))


def end_acknowledgements(now: datetime) -> int:
    """Opens again what was acknowledged until a time that has come. Returns how many."""
    over = Incident.objects.filter(state=Incident.State.ACKNOWLEDGED, acknowledged_until__lte=now)
    number = 0
    with transaction.atomic():
        for incident in over.select_for_update(skip_locked=True)[:100]:
            reopen(incident, None, said(gettext_noop("The time it was acknowledged for is over.")), now)
            number += 1
    return number
