"""Sends one delivery: claims it, renders it once, hands it to its transport, and writes down what came of it."""

from __future__ import annotations

import logging

from django.utils import timezone, translation
from django.utils.translation import gettext_noop

from drift import deliveries
from drift.messages import message_for
from drift.models import Channel, Delivery
from drift.said import said
from drift.secrets import Secret
from workers.notify import email, slack, webhook
from workers.notify.errors import TransportError

log = logging.getLogger(__name__)


def perform(delivery_id: int) -> bool:
    """Sends the delivery if it is due and nobody else has it. Returns whether it went out.

    Marked as sent only after the transport took it: a crash in between sends it again, with the same key.
    """
    started = timezone.now()
    claimed = deliveries.claim(delivery_id, started)
    if claimed is None:
        return False
    delivery, token = claimed
    try:
        if not delivery.message:
            deliveries.keep_message(delivery, message_for(delivery, started))
        with translation.override(delivery.channel.language):
            send(delivery)
    except TransportError as error:
        deliveries.note_failure(delivery, token, started, timezone.now(), error.said, error.permanent)
        log.warning("delivery %s: %s", delivery.public_id, error)
        return False
    except Exception as error:
        # a fault of ours: tried again later, and seen in the log
        deliveries.note_failure(delivery, token, started, timezone.now(), f"{type(error).__name__}: {error}", False)
        raise
    deliveries.note_sent(delivery, token, started, timezone.now())
    return True


def send(delivery: Delivery) -> None:
    """Hands the delivery to the transport of its channel. Raises TransportError."""
    channel = delivery.channel
    if channel.disabled_at is not None and delivery.kind != Delivery.Kind.TEST:
        raise TransportError(
            said(gettext_noop("The channel is disabled: {why}"), why=channel.disabled_why), permanent=True
        )
    address = _plain(channel.address)
    if channel.kind == Channel.Kind.EMAIL:
        email.send(address, delivery, delivery.message)
    elif channel.kind == Channel.Kind.SLACK:
        slack.send(address, delivery, delivery.message)
    else:
        webhook.send(address, _plain(channel.signing_secret), delivery, delivery.message)


def _plain(secret: str) -> str:
    return secret.reveal() if isinstance(secret, Secret) else secret
