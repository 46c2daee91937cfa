"""Tokens at the door: who asks, and whether the token may write."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils import timezone
from ninja.security import HttpBearer

from drift import tokens
from drift.models import ApiToken

READING = frozenset({"GET", "HEAD", "OPTIONS"})


class TokenAuth(HttpBearer):
    """`Authorization: Bearer tgr_...` reads, `tgw_...` reads and writes, both for one team only."""

    openapi_description = "A team's token: tgr_... reads, tgw_... reads and writes."

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        found = token_of(request)
        if found is not None and request.method not in READING and found.scope != ApiToken.Scope.WRITE:
            raise PermissionDenied("This token only reads. Writing needs a token that begins with tgw_.")
        return found


def token_of(request: HttpRequest) -> ApiToken | None:
    """The token that came with the request, looked up once. `dashboard.access` sees the team through it."""
    if not hasattr(request, "tidegauge_token"):
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        found = tokens.find(text.strip(), timezone.now()) if scheme.lower() == "bearer" else None
        request.tidegauge_token = found  # type: ignore[attr-defined]
    token: ApiToken | None = request.tidegauge_token  # type: ignore[attr-defined]
    return token
