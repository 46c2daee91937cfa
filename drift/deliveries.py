"""The life of a delivery: handed out, claimed, sent or failed, tried again, taken over, and said elsewhere.

Sent at least once: it is marked as sent only after its transport took it, and every repeat bears the same key.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import gettext_noop

from drift import feed
from drift.models import Channel, Delivery, DeliveryAttempt, Event
from drift.said import cut, said

FIRST_WAIT = timedelta(seconds=15)
LONGEST_WAIT = timedelta(hours=1)
GIVES_UP_AFTER = timedelta(hours=24)


def to_publish(now: datetime, limit: int = 200) -> list[int]:
    """Ids of deliveries that are due and were not handed to a notifier lately; marks them as handed over."""
    lost_before = now - timedelta(seconds=settings.REPUBLISH_SECONDS)  # an id lost by the broker goes out again
    with transaction.atomic():
        ids = list(
            Delivery.objects.select_for_update(skip_locked=True)
            .filter(state=Delivery.State.DUE, due_at__lte=now)
            .filter(Q(published_at__isnull=True) | Q(published_at__lt=lost_before))
            .order_by("due_at")
            .values_list("pk", flat=True)[:limit]
        )
        Delivery.objects.filter(pk__in=ids).update(published_at=now)
    return ids


def claim(delivery_id: int, now: datetime) -> tuple[Delivery, UUID] | None:
    """Takes a due delivery for this notifier: one conditional UPDATE. None if another has it or it is not due."""
    token = uuid4()
    taken = Delivery.objects.filter(pk=delivery_id, state=Delivery.State.DUE, due_at__lte=now).update(
        state=Delivery.State.SENDING,
        claim=token,
        lease_until=now + timedelta(seconds=settings.DELIVERY_LEASE_SECONDS),
        attempts_count=F("attempts_count") + 1,
    )
    if not taken:
        return None
    return Delivery.objects.select_related("channel__team", "incident", "fallback_for__channel").get(
        pk=delivery_id
    ), token


def keep_message(delivery: Delivery, message: dict[str, Any]) -> None:
    """Stores what the delivery says, so that every repeat says the same."""
    delivery.message = message
    Delivery.objects.filter(pk=delivery.pk).update(message=message)


def note_sent(delivery: Delivery, token: UUID, started: datetime, now: datetime) -> bool:
    """The delivery went out. False if it was taken over in between: it was sent twice, with one key."""
    with transaction.atomic():
        DeliveryAttempt.objects.create(delivery=delivery, started_at=started, ended_at=now, ok=True)
        Channel.objects.filter(pk=delivery.channel_id).update(last_sent_at=now, last_error="")
        return bool(
            Delivery.objects.filter(pk=delivery.pk, claim=token, state=Delivery.State.SENDING).update(
                state=Delivery.State.SENT, sent_at=now, claim=None, lease_until=None, problem=""
            )
        )


def note_failure(delivery: Delivery, token: UUID, started: datetime, now: datetime, why: str, permanent: bool) -> None:
    """An attempt failed: tried again later, or, where the refusal is for good, the channel is disabled.

    What a disabled channel had still to say goes to the team's other channels.
    """
    why = cut(why, 400)
    with transaction.atomic():
        DeliveryAttempt.objects.create(
            delivery=delivery, started_at=started, ended_at=now, ok=False, permanent=permanent, detail=why
        )
        Channel.objects.filter(pk=delivery.channel_id).update(last_error=why)
        held = Delivery.objects.filter(pk=delivery.pk, claim=token, state=Delivery.State.SENDING)
        give_up = permanent or now - delivery.created_at > GIVES_UP_AFTER
        if not give_up:
            held.update(
                state=Delivery.State.DUE, claim=None, lease_until=None, due_at=now + wait_after(delivery), problem=why
            )
            return
        if held.update(state=Delivery.State.FAILED, claim=None, lease_until=None, problem=why):
            if permanent and delivery.kind != Delivery.Kind.TEST:
                disable(delivery.channel, why, now)
            if delivery.kind != Delivery.Kind.TEST:
                _fall_back(delivery, now)


def wait_after(delivery: Delivery) -> timedelta:
    """15 s, 30 s, 1 min ... up to an hour."""
    doublings = min(max(0, delivery.attempts_count - 1), 12)
    return min(FIRST_WAIT * (1 << doublings), LONGEST_WAIT)


def reap(now: datetime) -> int:
    """Puts deliveries whose notifier is gone back; they may be sent twice, with the same key. Returns how many."""
    return Delivery.objects.filter(state=Delivery.State.SENDING, lease_until__lt=now).update(
        state=Delivery.State.DUE, claim=None, lease_until=None, published_at=None
    )


def disable(channel: Channel, why: str, now: datetime) -> None:
    """Stops using a channel, with the reason in sight; what waited for it goes elsewhere."""
    if not Channel.objects.filter(pk=channel.pk, disabled_at=None).update(
        disabled_at=now, disabled_why=why or said(gettext_noop("by hand"))
    ):
        return
    text = said(gettext_noop("Channel {name} is disabled: {why}"), name=channel.name, why=why)
    feed.note_team(channel.team_id, Event.Kind.CHANNEL, text, now)
    for delivery in channel.deliveries.filter(state=Delivery.State.DUE).exclude(kind=Delivery.Kind.TEST):
        closed = Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.DUE).update(
            state=Delivery.State.FAILED, problem=said(gettext_noop("its channel was disabled"))
        )
        if closed:
            _fall_back(delivery, now)


def enable(channel: Channel, now: datetime) -> None:
    Channel.objects.filter(pk=channel.pk).update(disabled_at=None, disabled_why="", last_error="")
    text = said(gettext_noop("Channel {name} is in use again"), name=channel.name)
    feed.note_team(channel.team_id, Event.Kind.CHANNEL, text, now)


def _fall_back(delivery: Delivery, now: datetime) -> None:
    """The same message to every other channel of the team that was not given this one."""
    if delivery.incident is None:
        return
    others: Iterable[Channel] = Channel.objects.filter(team=delivery.channel.team_id, disabled_at=None).exclude(
        pk=delivery.channel_id
    )
    for channel in others:
        known = Delivery.objects.filter(
            channel=channel, incident=delivery.incident, kind=delivery.kind, ordinal=delivery.ordinal
        )
        if not known.exists():
            Delivery.objects.get_or_create(
                channel=channel,
                incident=delivery.incident,
                kind=delivery.kind,
                ordinal=delivery.ordinal,
                defaults={"created_at": now, "due_at": now, "fallback_for": delivery},
            )
