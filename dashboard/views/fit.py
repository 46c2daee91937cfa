"""Fit for which job? Each endpoint and job with its verdict; thresholds; evidence as a signed file; the price."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dashboard.access import find, may_edit, require_editor, team_of, team_rows
from dashboard.views.endpoint_forms import person
from drift.batch_effect import ledger
from drift.entered import EntryError
from drift.fit import evidence, facts, jobs, price, thresholds
from drift.models import Checkup, Endpoint, Sample


def show(request: HttpRequest) -> HttpResponse:
    team, now = team_of(request), timezone.now()
    limits = thresholds.thresholds_of(team)
    endpoints = list(team_rows(request, Endpoint).filter(archived_at__isnull=True).order_by("name"))
    measured = ledger(settings.BASE_DIR / "docs" / "benchmarks" / "worker.json")
    judged = [
        (endpoint, known, jobs.judge(known, limits))
        for endpoint, known in zip(endpoints, facts.gather(endpoints, price.cheapest(measured)), strict=True)
    ]
    asked, traffic = _number(request.GET.get("tokens")), price.tokens_per_day(team, now)
    daily = asked or (traffic[0] if traffic else None)
    context = {
        "jobs": jobs.JOBS,
        "judged": judged,
        "limits": [(one, limits[one.key], _shown(one, limits[one.key])) for one in thresholds.THRESHOLDS],
        "can_edit": may_edit(request),
        "key": evidence.own_key(),
        "ledger": measured,
        "traffic": traffic,
        "daily": daily,
        "hourly": _number(request.GET.get("hourly")),
        "prices": price.on_traffic(measured.prices, daily, _number(request.GET.get("hourly")))
        if measured and daily
        else (),
    }
    return render(request, "dashboard/fit/page.html", context)


@require_POST
def change(request: HttpRequest) -> HttpResponse:
    """The team's thresholds; shares are entered in per cent."""
    require_editor(request)
    values: dict[str, float] = {}
    try:
        for one in thresholds.THRESHOLDS:
            if text := request.POST.get(one.key, "").strip():
                number = _number(text)
                if number is None:
                    raise EntryError(_("{label}: {text} is not a number.").format(label=one.label, text=text))
                values[one.key] = number / 100 if one.unit == "share" else number
        thresholds.change(team_of(request), person(request), values)
    except EntryError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Thresholds saved; every verdict below follows them."))
    return redirect("fit")


def of_endpoint(request: HttpRequest, endpoint: UUID) -> HttpResponse:
    """Evidence of an endpoint's latest run."""
    found = find(request, Endpoint, endpoint)
    return _file(lambda: evidence.of_latest_run(found, timezone.now()), str(found.public_id))


def of_sample(request: HttpRequest, sample: UUID) -> HttpResponse:
    found = find(request, Sample, sample)
    row = Sample.objects.select_related("identity", "output", "canary", "series__endpoint").get(
        scheduled_for=found.scheduled_for, public_id=found.public_id
    )
    return _file(lambda: evidence.of_samples(row.series.endpoint, [row], timezone.now()), str(row.public_id))


def of_checkup(request: HttpRequest, checkup: UUID) -> HttpResponse:
    found = find(request, Checkup, checkup)
    return _file(lambda: evidence.of_checkup(found, timezone.now()), str(found.public_id))


def _file(make: Callable[[], bytes], name: str) -> HttpResponse:
    try:
        data = make()
    except EntryError as error:
        raise Http404(str(error)) from error
    response = HttpResponse(data, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="tidegauge-evidence-{name[:8]}.zip"'
    return response


def _number(text: str | None) -> float | None:
    try:
        number = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return number if 0 <= number < 1e18 else None


def _shown(one: thresholds.Threshold, value: float) -> str:
    return f"{value * 100:g}" if one.unit == "share" else f"{value:g}"
