"""A signed webhook: the whole message as JSON."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from drift.models import Delivery
from drift.said import said
from workers.notify.errors import TransportError
from workers.notify.http import post


def send(address: str, secret: str, delivery: Delivery, message: Mapping[str, Any]) -> None:
    """Posts one message. 404 and 410 say that nobody listens there any more: permanent."""
    body = json.dumps({"delivery": str(delivery.public_id), **message}, ensure_ascii=False, sort_keys=True).encode()
    moment = int(time.time())
    headers = {
        "content-type": "application/json",
        "idempotency-key": str(delivery.public_id),
        "x-tidegauge-delivery": str(delivery.public_id),
        "x-tidegauge-event": message["kind"],
        "x-tidegauge-signature": signature(secret, moment, body),
    }
    answer = post(address, body, headers)
    if 200 <= answer.status < 300:
        return
    told = answer.text.strip()[:120]
    raise TransportError(
        said(gettext_noop("The receiver answered {status} {answer}"), status=answer.status, answer=told),
        permanent=answer.status in (404, 410),
    )


def signature(secret: str, moment: int, body: bytes) -> str:
    """'t=<unix time>,v1=<hex>' with v1 = HMAC-SHA256(secret, '<unix time>.' + body).

    The receiver computes it again, compares in constant time, and refuses a time that is more than five minutes off.
    """
    mac = hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256)
    return f"t={moment},v1={mac.hexdigest()}"
