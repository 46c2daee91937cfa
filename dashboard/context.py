"""What every page's frame needs."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy

from dashboard.access import membership_of
from dashboard.timezones import zone_in_words

PLACES = (
    ("overview", gettext_lazy("Overview")),
    ("compare", gettext_lazy("Compare")),
    ("checkups", gettext_lazy("Check-ups")),
    ("fit", gettext_lazy("Fit")),
    ("incidents", gettext_lazy("Incidents")),
    ("suites", gettext_lazy("Suites")),
    ("evals", gettext_lazy("Evals")),
    ("inhouse", gettext_lazy("In-house")),
    ("about", gettext_lazy("About the numbers")),
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
