"""Making, finding and revoking the keys with which programs act for a team."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta

from django.db.models import Q

from drift.models import ApiToken, Team, User

PREFIX = {ApiToken.Scope.READ: "tgr_", ApiToken.Scope.WRITE: "tgw_"}
SHOWN = 12  # characters, prefix included: 48 random bits to find it by, 192 more to know it by
USE_NOTED_EVERY = timedelta(minutes=1)


def issue(
    *, team: Team, user: User | None, name: str, scope: str = ApiToken.Scope.READ, expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """A new token and its text, which cannot be had again."""
    text = PREFIX[ApiToken.Scope(scope)] + secrets.token_urlsafe(30)
    token = ApiToken.objects.create(
        team=team,
        name=name,
        scope=scope,
        start=text[:SHOWN],
        digest=_digest(text),
        created_by=user,
        expires_at=expires_at,
    )
    return token, text


def find(text: str, now: datetime) -> ApiToken | None:
    """The token with this text, if it may be used now. Notes the use, at most once a minute."""
    if not text.startswith(tuple(PREFIX.values())) or not text.isascii():
        return None
    token = (
        ApiToken.objects.select_related("team")
        .filter(start=text[:SHOWN], revoked_at__isnull=True)
        .filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now))
        .first()
    )
    if token is None or not hmac.compare_digest(bytes(token.digest), _digest(text)):
        return None
    if token.last_used_at is None or now - token.last_used_at >= USE_NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def revoke(token: ApiToken, now: datetime) -> None:
    """Ends a token for good; the row stays, so that the list says what there was."""
    ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=now)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
