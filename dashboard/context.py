"""What every page's frame needs."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils import timezone

from dashboard.access import membership_of
from dashboard.timezones import zone_in_words

PLACES = (
    ("overview", "Overview"),
    ("compare", "Compare"),
    ("checkups", "Check-ups"),
    ("fit", "Fit"),
    ("incidents", "Incidents"),
    ("suites", "Suites"),
    ("evals", "Evals"),
    ("inhouse", "In-house"),
    ("about", "About the numbers"),
)


def page(request: HttpRequest) -> dict[str, Any]:
    now = timezone.now()
    frame: dict[str, Any] = {"now": now, "zone": zone_in_words(now)}
    if getattr(request, "user", None) and request.user.is_authenticated:
        here = request.resolver_match.url_name if request.resolver_match else ""
        frame["places"] = [
            {"name": name, "label": label, "url": reverse(name), "current": name == here} for name, label in PLACES
        ]
        try:
            frame["membership"] = membership_of(request)
        except Http404:
            frame["membership"] = None
    return frame
