"""Every request has an id; every change says who made it."""

from __future__ import annotations

import re
from collections.abc import Callable
from uuid import uuid4

from django.http import HttpRequest, HttpResponseBase

from dashboard.api.auth import READING, token_of
from drift.audit import acting
from drift.logs import in_request

# What they write leaves no line in the audit log, and they come by the thousand.
COUNTED_ONLY = frozenset({"/api/v1/observations", "/api/v1/otlp/v1/traces"})
GIVEN = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RequestMiddleware:
    """Takes a proxy's `X-Request-ID` or makes one, returns it, and notes it in the log and the audit log."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        request_id = given if GIVEN.fullmatch(given) else uuid4().hex
        with in_request(request_id):
            response = self.get_response(request) if request.method in READING else self._changing(request, request_id)
        response["X-Request-ID"] = request_id
        return response

    def _changing(self, request: HttpRequest, request_id: str) -> HttpResponseBase:
        if request.path_info.startswith("/api/"):
            token = token_of(request)
            if token is None or request.path_info in COUNTED_ONLY:
                return self.get_response(request)
            with acting(name=f"token {token.name}", via="api", request_id=request_id):
                return self.get_response(request)
        user = getattr(request, "user", None)
        if user is None or not user.is_authenticated:
            return self.get_response(request)
        with acting(user_id=user.pk, name=user.get_username(), via="page", request_id=request_id):
            return self.get_response(request)
