"""The in-house worker: what the batch does to an answer in both modes, and what certainty costs."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from dashboard import charts
from dashboard.access import team_of
from dashboard.exports import export
from drift.batch_effect import Ledger, ModeEffect, batch_effect, ledger

WINDOW = timedelta(hours=24)


def show(request: HttpRequest) -> HttpResponse:
    effects = found_effects(request)
    price = found_ledger()
    context = {
        "effects": effects,
        "base": reverse("inhouse"),
        "ledger": price,
        "charts": [charts.batches(effects)] if any(effect.by_batch for effect in effects) else [],
        "price_charts": [charts.price(price)] if price else [],
        "fast": next((effect for effect in effects if effect.mode == "fast"), None),
        "invariant": next((effect for effect in effects if effect.mode == "invariant"), None),
    }
    return render(request, "dashboard/inhouse.html", context)


def chart(request: HttpRequest, chart: str, form: str) -> HttpResponse:
    if chart == "batches":
        return export(charts.batches(found_effects(request)), form, "tidegauge-in-house")
    price = found_ledger()
    if chart == "price" and price:
        return export(charts.price(price), form, "tidegauge-in-house")
    raise Http404(gettext("There is no such chart."))


def found_effects(request: HttpRequest) -> list[ModeEffect]:
    return batch_effect(team_of(request), timezone.now() - WINDOW)


def found_ledger() -> Ledger | None:
    return ledger(settings.BASE_DIR / "docs" / "benchmarks" / "worker.json")
