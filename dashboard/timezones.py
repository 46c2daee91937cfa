"""Shows times in the person's zone: the one in their settings, else the one their browser told us in a cookie."""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

COOKIE = "tz"


class TimeZoneMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        name = getattr(request.user, "time_zone", "") or request.COOKIES.get(COOKIE, "")
        with timezone.override(known_zone(name)):
            return self.get_response(request)


def known_zone(name: str) -> zoneinfo.ZoneInfo:
    """The zone of that IANA name; UTC for a name nobody knows."""
    try:
        return zoneinfo.ZoneInfo(name or "UTC")
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return zoneinfo.ZoneInfo("UTC")
