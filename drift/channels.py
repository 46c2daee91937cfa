"""Channels as people set them up: what an address must be, what may be shown of it, and taking one away."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drift import deliveries, feed
from drift.addresses import AddressRule
from drift.entered import EntryError
from drift.models import Channel, Event
from drift.said import said


def give_address(channel: Channel, address: str) -> None:
    """Sets the address, which is a secret, and what may be shown of it. Raises EntryError."""
    by_mail = channel.kind == Channel.Kind.EMAIL
    channel.address = mail_address(address) if by_mail else web_address(address)
    channel.address_hint = address[:200] if by_mail else hint(address)


def mail_address(text: str) -> str:
    try:
        validate_email(text)
    except ValidationError as error:
        raise EntryError(" ".join(error.messages)) from error
    return text


def web_address(text: str) -> str:
    """A web address that may be posted to. Raises EntryError; where it leads is checked again when connecting."""
    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or any(c.isspace() for c in text):
        raise EntryError(_("Enter the full address, for example https://example.org/hooks/tidegauge."))
    if parts.username or parts.password:
        raise EntryError(_("Leave user name and password out of the address; use the signing secret instead."))
    refusal = AddressRule.parse(settings.ALLOW_PRIVATE_TARGETS).refusal_of_literal(text)
    if refusal is not None:
        raise EntryError(refusal)
    return text


def hint(address: str) -> str:
    """Scheme and host: the path of a webhook is the secret."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}/…"[:200]


def time_zone(text: str) -> str:
    name = text.strip() or "UTC"
    if name not in available_timezones():
        raise EntryError(_("No such time zone. Examples: UTC, Europe/Berlin, Asia/Shanghai."))
    return name


def remove(channel: Channel, now: datetime) -> None:
    """Takes a channel away with its deliveries; what waited for it goes to the team's others."""
    with transaction.atomic():
        deliveries.disable(channel, said(gettext_noop("removed")), now)
        text = said(gettext_noop("Channel {name} is removed"), name=channel.name)
        feed.note_team(channel.team_id, Event.Kind.CHANNEL, text, now)
        channel.delete()
