"""Who is told what, when. Every message is a row before it is sent: the row is outbox, history and proof.

Written in the transaction that made the finding. A delivery is due a few seconds later, so that findings about the same
cause within that time are one message; what it says is rendered when it is first claimed, and kept for every repeat.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils.translation import gettext_noop

from drift import feed, silences
from drift.findings.kinds import Kind, Severity
from drift.models import AlertRules, Channel, Delivery, Event, Incident, Team
from drift.said import said

GATHER = timedelta(seconds=10)  # findings about one cause within this are one message
REMINDS_AT_MOST = 14
REMEMBERS = timedelta(days=7)
SUMMARY_DAY, SUMMARY_HOUR = 0, 8  # Monday, 08:00 in the channel's zone


def raise_for(incident: Incident, now: datetime) -> list[Delivery]:
    """The deliveries that an incident as it is now asks for: its alert, or an update where it grew since."""
    endpoints = list(incident.endpoints.all())
    if incident.state == Incident.State.RESOLVED or silences.over_all(endpoints, now):
        return []
    scope = _scope(incident)
    if incident.alerted_at is None:
        kind, ordinal = Delivery.Kind.ALERT, ""
        incident.alerted_at = now
    elif _grew(incident, scope):
        kind, ordinal = Delivery.Kind.UPDATE, str(incident.deliveries.filter(kind=Delivery.Kind.UPDATE).count())
    else:
        return []
    incident.alerted_scope = scope
    incident.save(update_fields=["alerted_at", "alerted_scope"])
    made = []
    for channel in channels_for(incident):
        if kind == Delivery.Kind.UPDATE and _still_to_be_said(channel, incident):
            continue
        made.append(_write(channel, incident, kind, ordinal, now))
    if made and kind == Delivery.Kind.ALERT:
        names = ", ".join(delivery.channel.name for delivery in made)
        text = said(gettext_noop("{title}. Told: {names}"), title=incident.title, names=names)
        feed.note_team(incident.team_id, Event.Kind.ALERTED, text, now, incident=incident)
    return made


def tell_resolved(incident: Incident, now: datetime) -> list[Delivery]:
    """Tells the channels that were told of it."""
    told = Channel.objects.filter(
        deliveries__incident=incident, deliveries__kind=Delivery.Kind.ALERT, disabled_at=None
    ).distinct()
    number = str(incident.deliveries.filter(kind=Delivery.Kind.RESOLVED).count())
    return [_write(channel, incident, Delivery.Kind.RESOLVED, number, now) for channel in told]


def tell_everyone(incident: Incident, now: datetime) -> list[Delivery]:
    """The alert to every channel in use, whatever it is routed by: for fire drills."""
    channels = Channel.objects.filter(team=incident.team_id, disabled_at=None).order_by("pk")
    return [_write(channel, incident, Delivery.Kind.ALERT, "", now) for channel in channels]


def catch_up(now: datetime) -> int:
    """Raises what was silenced when it was found and is silenced no more. Returns how many incidents."""
    waiting = Incident.objects.filter(
        alerted_at=None, state__in=[Incident.State.OPEN], opened_at__gt=now - REMEMBERS
    ).order_by("pk")
    number = 0
    with transaction.atomic():
        for incident in waiting.select_for_update(skip_locked=True, of=("self",))[:50]:
            raise_for(incident, now)
            number += incident.alerted_at is not None
    return number


def remind(now: datetime) -> int:
    """Reminders that say 'still', for what stays open and that nobody acknowledged. Returns how many incidents."""
    number = 0
    rules = {rule.team_id: rule.reminder_hours for rule in AlertRules.objects.all()}
    usual = AlertRules._meta.get_field("reminder_hours").default
    due = Incident.objects.filter(
        state=Incident.State.OPEN, alerted_at__isnull=False, alerted_at__lt=now - timedelta(hours=1)
    )
    with transaction.atomic():
        for incident in due.select_for_update(skip_locked=True, of=("self",)):
            hours = rules.get(incident.team_id, usual)
            last = incident.reminded_at or incident.alerted_at
            if not hours or last is None or now - last < timedelta(hours=hours):
                continue
            before = incident.deliveries.filter(kind=Delivery.Kind.REMINDER).values("ordinal").distinct().count()
            if before >= REMINDS_AT_MOST or silences.over_all(incident.endpoints.all(), now):
                continue
            incident.reminded_at = now
            incident.save(update_fields=["reminded_at"])
            told = [
                _write(channel, incident, Delivery.Kind.REMINDER, str(before), now)
                for channel in channels_for(incident)
            ]
            if told:
                text = said(gettext_noop("Still open: {title}"), title=incident.title)
                feed.note_team(incident.team_id, Event.Kind.REMINDED, text, now, incident=incident)
            number += bool(told)
    return number


def summarise(now: datetime) -> int:
    """Writes the weekly summaries that are due, one per channel and week. Returns how many."""
    number = 0
    for channel in Channel.objects.filter(weekly_summary=True, disabled_at=None):
        there = now.astimezone(ZoneInfo(channel.time_zone))
        if there.weekday() != SUMMARY_DAY or there.hour < SUMMARY_HOUR:
            continue
        year, week, _ = there.isocalendar()
        _, made = Delivery.objects.get_or_create(
            channel=channel,
            incident=None,
            kind=Delivery.Kind.SUMMARY,
            ordinal=f"{year}-W{week:02}",
            defaults={"created_at": now, "due_at": now},
        )
        number += made
    return number


def write_test(channel: Channel, now: datetime) -> Delivery:
    """A test message, also for a disabled channel: it is how a repaired one is tried."""
    return Delivery.objects.create(
        channel=channel, kind=Delivery.Kind.TEST, ordinal=uuid4().hex, created_at=now, due_at=now
    )


def channels_for(incident: Incident) -> list[Channel]:
    """The team's channels that want this severity, and one of these providers and tags."""
    endpoints = list(incident.endpoints.all())
    providers = {endpoint.provider.casefold() for endpoint in endpoints} | {incident.provider.casefold()}
    tags = {tag for endpoint in endpoints for tag in endpoint.tags}
    return [
        channel
        for channel in Channel.objects.filter(team=incident.team_id, disabled_at=None).order_by("pk")
        if Severity(channel.least_severity).rank <= Severity(incident.severity).rank
        and (not channel.providers or providers & {name.casefold() for name in channel.providers})
        and (not channel.tags or tags & set(channel.tags))
    ]


def quiet_until(channel: Channel, severity: str, now: datetime) -> datetime | None:
    """When the channel's quiet hours end, if they hold now for this severity."""
    if channel.quiet_from is None or channel.quiet_to is None or channel.quiet_from == channel.quiet_to:
        return None
    if channel.severe_breaks_quiet and severity == Severity.HIGH:
        return None
    there = now.astimezone(ZoneInfo(channel.time_zone))
    clock = there.time().replace(tzinfo=None)
    over_midnight = channel.quiet_from > channel.quiet_to
    within = (
        clock >= channel.quiet_from or clock < channel.quiet_to
        if over_midnight
        else channel.quiet_from <= clock < channel.quiet_to
    )
    if not within:
        return None
    ends = datetime.combine(there.date(), channel.quiet_to, there.tzinfo)
    return ends if ends > there else ends + timedelta(days=1)


def without_a_channel(team: Team) -> bool:
    """Whether an alert would reach nobody."""
    return not Channel.objects.filter(team=team, disabled_at=None).exists()


def _write(channel: Channel, incident: Incident, kind: str, ordinal: str, now: datetime) -> Delivery:
    due = quiet_until(channel, incident.severity, now) or now + GATHER
    delivery, _ = Delivery.objects.get_or_create(
        channel=channel,
        incident=incident,
        kind=kind,
        ordinal=ordinal,
        defaults={"created_at": now, "due_at": due},
    )
    return delivery


def _still_to_be_said(channel: Channel, incident: Incident) -> bool:
    """Whether a message about it waits that will be rendered later and so say everything."""
    return channel.deliveries.filter(
        incident=incident,
        kind__in=[Delivery.Kind.ALERT, Delivery.Kind.UPDATE],
        state=Delivery.State.DUE,
        message={},
    ).exists()


def _scope(incident: Incident) -> dict[str, Any]:
    return {
        "severity": incident.severity,
        "endpoints": sorted(incident.endpoints.values_list("pk", flat=True)),
        "kinds": sorted(set(incident.findings.values_list("kind", flat=True))),
    }


def _grew(incident: Incident, scope: dict[str, Any]) -> bool:
    """Whether there is something worth a second message. While acknowledged: only if it got graver."""
    before = incident.alerted_scope or {}
    graver = Severity(scope["severity"]).rank > Severity(before.get("severity", Severity.LOW)).rank
    if graver or incident.state == Incident.State.ACKNOWLEDGED:
        return graver
    news = {Kind(kind) for kind in scope["kinds"]} - {Kind(kind) for kind in before.get("kinds", ())}
    told = {kind for kind in news if kind.opens or kind in (Kind.BEHAVIOURAL, Kind.COSMETIC)}
    return bool(told) or len(scope["endpoints"]) > len(before.get("endpoints", ()))
