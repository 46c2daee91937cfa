"""What is seen without an account, by an address that cannot be guessed: a status page, a badge."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from drift.badges import Badge, badge_of
from drift.overview import overview
from drift.public import endpoint_behind, link_behind

WIDTH_OF_A_LETTER = 6.6  # of 11 px Verdana, on average


@login_not_required
@require_safe
@cache_control(private=True, max_age=30)
def status(request: HttpRequest, signature: str) -> HttpResponse:
    """States by name. Nothing else of the team is on it."""
    link = link_behind(signature)
    if link is None:
        return render(request, "dashboard/status/none.html", status=404)
    seen = overview(link.team, timezone.now())
    response = render(request, "dashboard/status/page.html", {"seen": seen, "title": link.team.name})
    response["X-Robots-Tag"] = "noindex"
    return response


@login_not_required
@require_safe
@cache_control(public=True, max_age=60)
def badge(request: HttpRequest, signature: str) -> HttpResponse:
    endpoint = endpoint_behind(signature)
    shown = badge_of(endpoint, timezone.now()) if endpoint else Badge("baseline", "unknown", "unknown")
    left, right = (len(text) * WIDTH_OF_A_LETTER + 12 for text in (shown.label, shown.message))
    context = {"badge": shown, "left": left, "right": right, "width": left + right, "text_at": left + 6}
    text = render_to_string("dashboard/status/badge.svg", context)
    return HttpResponse(text, content_type="image/svg+xml", status=200 if endpoint else 404)
