"""Addresses that need no account because they cannot be guessed: status pages and badges."""

from __future__ import annotations

from uuid import UUID

from django.core import signing

from drift.models import Endpoint, StatusLink

STATUS, BADGE = "tidegauge.status", "tidegauge.badge"


def status_signature(link: StatusLink) -> str:
    return signing.Signer(salt=STATUS).sign(str(link.public_id))


def link_behind(signature: str) -> StatusLink | None:
    """None for a forged address and for a link that was revoked."""
    public_id = _read(signature, STATUS)
    if public_id is None:
        return None
    return StatusLink.objects.filter(public_id=public_id, revoked_at=None).select_related("team").first()


def badge_signature(endpoint: Endpoint) -> str:
    return signing.Signer(salt=BADGE).sign(str(endpoint.public_id))


def endpoint_behind(signature: str) -> Endpoint | None:
    """None for a forged address and for an endpoint that was archived."""
    public_id = _read(signature, BADGE)
    if public_id is None:
        return None
    return Endpoint.objects.filter(public_id=public_id, archived_at=None).first()


def _read(signature: str, salt: str) -> UUID | None:
    try:
        return UUID(signing.Signer(salt=salt).unsign(signature))
    except (signing.BadSignature, ValueError):
        return None
