"""Baselines of an endpoint: set by hand, begun anew, named, pinned; and the gate that pipelines ask."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from dashboard.access import find, require_editor
from dashboard.alert_forms import BaselineForm
from dashboard.views.endpoint_forms import person
from drift import baselines
from drift.baselines import BaselineError
from drift.gate import gate
from drift.models import Baseline, Endpoint, Series

STATUS = {0: 200, 3: 409, 4: 425}


def set_by_hand(request: HttpRequest, endpoint: UUID) -> HttpResponse:
    """'This week is the datum': choose a time that has passed."""
    require_editor(request)
    found = find(request, Endpoint, endpoint)
    series = _series(request, found)
    now = timezone.localtime()
    form = BaselineForm(request.POST or None, initial={"since": now - timedelta(days=7), "until": now})
    if request.method == "POST" and form.is_valid():
        wanted = form.cleaned_data
        try:
            baseline = baselines.set_by_hand(
                series,
                wanted["since"],
                wanted["until"],
                person(request),
                timezone.now(),
                name=wanted["name"],
                pin=wanted["pin"],
            )
        except BaselineError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, gettext("Baseline {baseline} is the datum now.").format(baseline=baseline))
            return redirect("endpoint", found.public_id)
    context = {"form": form, "endpoint": found, "series": series}
    return render(request, "dashboard/baseline_form.html", context, status=400 if form.errors else 200)


@require_POST
def take_now(request: HttpRequest, endpoint: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Endpoint, endpoint)
    baselines.take_now(_series(request, found), person(request), timezone.now())
    messages.success(request, gettext("A new baseline is being taken from the next run on."))
    return redirect("endpoint", found.public_id)


@require_POST
def change(request: HttpRequest, baseline: UUID) -> HttpResponse:
    """Names, pins or unpins it."""
    require_editor(request)
    found = find(request, Baseline, baseline)
    if "name" in request.POST:
        baselines.rename(found, request.POST["name"].strip()[:80])
    if request.POST.get("pinned") in ("true", "false"):
        baselines.pin(found, request.POST["pinned"] == "true")
    return redirect("endpoint", found.series.endpoint.public_id)


@require_GET
def ask_gate(request: HttpRequest, endpoint: UUID) -> HttpResponse:
    """200 the baseline is valid, 409 it is void, 425 there is not enough data; the reason as JSON."""
    found = find(request, Endpoint, endpoint)
    since = parse_datetime(request.GET["since"]) if request.GET.get("since") else None
    if since is not None and timezone.is_naive(since):
        since = timezone.make_aware(since)
    answer = gate(found, timezone.now(), since)
    return JsonResponse(answer.as_json(), status=STATUS[int(answer.answer)])


def _series(request: HttpRequest, endpoint: Endpoint) -> Series:
    """The series that the address names, else the newest."""
    rows = endpoint.series.order_by("-created_at")
    wanted = request.GET.get("series") or request.POST.get("series") or ""
    chosen = next((row for row in rows if str(row.public_id) == wanted), None) or rows.first()
    if chosen is None:
        raise Http404(gettext("Nothing was measured at this endpoint yet."))
    return chosen
