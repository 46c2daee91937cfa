"""`/metrics` for Prometheus: with a team's token its endpoints, with METRICS_TOKEN those of all teams."""

from __future__ import annotations

import hmac

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric

from dashboard.api.auth import token_of
from drift.metrics import metrics
from drift.models import Team


class _Once:
    """A collector over metrics that were just taken."""

    def __init__(self, taken: list[Metric]) -> None:
        self.taken = taken

    def collect(self) -> list[Metric]:
        return self.taken


@login_not_required
@require_safe
@never_cache
def show(request: HttpRequest) -> HttpResponse:
    teams = _teams(request)
    if teams is None:
        answer = HttpResponse(
            "A token is needed: Authorization: Bearer tgr_...\n", status=401, content_type="text/plain"
        )
        answer["WWW-Authenticate"] = 'Bearer realm="tidegauge"'
        return answer
    registry = CollectorRegistry()
    registry.register(_Once(list(metrics(teams, timezone.now()))))
    return HttpResponse(generate_latest(registry), content_type="text/plain; version=0.0.4; charset=utf-8")


def _teams(request: HttpRequest) -> list[Team] | None:
    sent = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    if settings.METRICS_TOKEN and hmac.compare_digest(sent.encode(), settings.METRICS_TOKEN.encode()):
        return list(Team.objects.order_by("id"))
    token = token_of(request)
    return [token.team] if token is not None else None
