"""What every page's frame needs."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from dashboard.access import membership_of


def page(request: HttpRequest) -> dict[str, Any]:
    if not request.user.is_authenticated:
        return {}
    return {"membership": membership_of(request)}
