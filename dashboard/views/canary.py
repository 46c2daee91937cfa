"""One canary at one endpoint: its distinct answers as a tree, and any two of them beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext

from dashboard.access import find, may_edit
from dashboard.links import with_query
from dashboard.views.endpoint import chosen_series
from drift import canary_answers
from drift.canary_answers import Answers
from drift.models import Canary, Endpoint, Series
from drift.overview import read

AMOUNTS = (20, 100, 500)


@dataclass(frozen=True, slots=True)
class Amount:
    number: int
    url: str
    current: bool


def show(request: HttpRequest, endpoint: UUID, canary: UUID) -> HttpResponse:
    found, asked, series = looked_up(request, endpoint, canary)
    amount = amount_of(request)
    answers = canary_answers.latest(series, asked, amount)
    places = list(Canary.objects.filter(places__suite=series.suite_id).order_by("places__position"))
    here = next((i for i, other in enumerate(places) if other.pk == asked.pk), 0)
    context = {
        "endpoint": found,
        "canary": asked,
        "series": series,
        "answers": answers,
        "amounts": [Amount(n, with_query(request, answers=n), n == amount) for n in AMOUNTS],
        "number": here + 1,
        "of": len(places),
        "before": places[here - 1] if here else None,
        "after": places[here + 1] if here + 1 < len(places) else None,
        "can_edit": may_edit(request),
    }
    return render(request, "dashboard/canary/page.html", context)


def pair(request: HttpRequest, endpoint: UUID, canary: UUID) -> HttpResponse:
    found, asked, series = looked_up(request, endpoint, canary)
    answers = canary_answers.latest(series, asked, amount_of(request))
    left, right = picked(answers, request.GET.get("a", ""), request.GET.get("b", ""))
    context = {
        "endpoint": found,
        "canary": asked,
        "series": series,
        "answers": answers,
        "left": left,
        "right": right,
        "pair": canary_answers.beside(left.tokens, right.tokens) if left and right else None,
    }
    return render(request, "dashboard/canary/pair.html", context)


def looked_up(request: HttpRequest, endpoint: UUID, canary: UUID) -> tuple[Endpoint, Canary, Series]:
    found = find(request, Endpoint, endpoint)
    asked = find(request, Canary, canary)
    row = read([found], timezone.now(), most=0).rows[0]
    series = chosen_series(request, list(found.series.filter(suite__canaries=asked).order_by("-created_at")), row)
    if series is None:
        raise Http404(gettext("This endpoint was never asked this canary."))
    return found, asked, series


def amount_of(request: HttpRequest) -> int:
    text = request.GET.get("answers", "")
    return min(int(text), max(AMOUNTS)) if text.isdecimal() and int(text) else AMOUNTS[0]


def picked(answers: Answers, a: str, b: str) -> tuple[canary_answers.Distinct | None, canary_answers.Distinct | None]:
    """The two distinct answers that the address names, else the two commonest."""
    known: Sequence[canary_answers.Distinct] = answers.distinct
    by_key = {one.key: one for one in known}
    left = by_key.get(a) or (known[0] if known else None)
    right = by_key.get(b) or next((one for one in known if left and one.key != left.key), left)
    return left, right
