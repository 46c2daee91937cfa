"""Signs of life for machines: open to all, saying no more than they must."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache

from drift.health import readiness


@login_not_required
@never_cache
def alive(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain")


@login_not_required
@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    state = readiness(timezone.now())
    return JsonResponse({"ready": state.ready, **state.parts}, status=200 if state.ready else 503)
