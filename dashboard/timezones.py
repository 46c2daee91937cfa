"""Shows times in the person's zone: the one in their settings, else the one their browser told us in a cookie."""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import unquote

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

COOKIE = "tz"


class TimeZoneMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        name = getattr(request.user, "time_zone", "") or unquote(request.COOKIES.get(COOKIE, ""))
        with timezone.override(known_zone(name)):
            return self.get_response(request)


def known_zone(name: str) -> zoneinfo.ZoneInfo:
    """The zone of that IANA name; UTC for a name nobody knows."""
    try:
        return zoneinfo.ZoneInfo(name or "UTC")
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return zoneinfo.ZoneInfo("UTC")


def zone_in_words(now: datetime) -> str:
    """The zone that times are shown in, with its offset now: 'Europe/Berlin (UTC+1)'."""
    name = timezone.get_current_timezone_name()
    offset = offset_in_words(now)
    return offset if name in {"UTC", offset} else f"{name} ({offset})"


def offset_in_words(moment: datetime) -> str:
    """'UTC', 'UTC+1', 'UTC-3:30' of a moment in the current zone."""
    minutes = int((timezone.localtime(moment).utcoffset() or timedelta()).total_seconds()) // 60
    if not minutes:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'+' if minutes > 0 else '-'}{hours}" + (f":{rest:02}" if rest else "")
