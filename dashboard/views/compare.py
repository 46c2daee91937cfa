"""Up to eight endpoints beside each other: one table, one picture, one CSV."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext

from dashboard import charts
from dashboard.access import team_of
from dashboard.exports import export
from dashboard.ranges import Range, choices, kept, range_of
from drift.alike import Pair, counts_of, pairs
from drift.comparison import MOST, Compared, compare_rows, measured
from drift.history import Window
from drift.models import Series, Span
from drift.rollups import start_of
from drift.rows import Row
from drift.weeks import html, tables
from drift.weeks import report as weeks

DEFAULT_RANGE = "7d"
ALIKE_KEPT_S = 600


@dataclass(frozen=True, slots=True)
class Choice:
    row: Row
    picked: bool


def show(request: HttpRequest) -> HttpResponse:
    rows, picked, compared, asked_range = found(request)
    context = {
        "choices": [Choice(row, row in picked) for row in rows],
        "compared": compared,
        "most": MOST,
        "range": asked_range,
        "ranges": choices(request, asked_range),
        "kept": kept(request),
        "chart": charts.comparison(compared, asked_range.window) if compared else None,
        **chart_links(request, compared, asked_range),
        "too_many": len(request.GET.getlist("endpoint")) > MOST,
        "suites_differ": len({one.series.suite_id for one in compared}) > 1,
    }
    return render(request, "dashboard/compare.html", context)


def chart_links(request: HttpRequest, compared: Sequence[Compared], asked_range: Range) -> dict[str, str]:
    picks = "&".join(f"endpoint={one.row.public_id}" for one in compared)
    return {
        "chart_base": request.path,
        "chart_query": f"{picks}&{asked_range.query}",
        "fixed_link": f"{request.path}?{picks}&{asked_range.fixed_query}",
    }


def alike_pairs(request: HttpRequest, form: str) -> HttpResponse:
    """Whether each two answer alike: html is the part that the page fetches by itself, csv and json say the same."""
    _, _, compared, asked_range = found(request)
    tested, names = told_apart(compared, asked_range.window), _names(compared)
    chart = charts.alike(tested, names)
    if form != "html":
        return export(chart, form, "tidegauge-compare")
    context = {
        "chart": chart,
        "matrix": charts.matrix(tested, names),
        "names": list(names.values()),
        "partly": any(one.series.suite_id != compared[0].series.suite_id for one in compared),
        "chart_query": chart_links(request, compared, asked_range)["chart_query"],
    }
    return render(request, "dashboard/compare/alike.html", context)


def told_apart(compared: Sequence[Compared], window: Window) -> list[Pair]:
    """Every pair of them. Kept for a while: it takes longer than a page may, and an hour's answers move it little."""
    series: dict[UUID, Series] = {one.row.public_id: one.series for one in compared}
    hours = [start_of(Span.HOUR, moment).isoformat() for moment in (window.start, window.end)]
    asked = [*(str(one.pk) for one in series.values()), window.span, *hours]
    key = "alike:" + hashlib.sha256("|".join(asked).encode()).hexdigest()
    known = cache.get(key)
    if known is not None:
        return [Pair.from_json(one) for one in known]
    tested = pairs(counts_of({public_id: one.pk for public_id, one in series.items()}, window), window)
    cache.set(key, [one.as_json() for one in tested], ALIKE_KEPT_S)
    return tested


def _names(compared: Sequence[Compared]) -> dict[UUID, str]:
    return {one.row.public_id: one.row.name for one in compared}


def chart(request: HttpRequest, form: str) -> HttpResponse:
    _, _, compared, asked_range = found(request)
    return export(charts.comparison(compared, asked_range.window), form, "tidegauge-compare")


def report(request: HttpRequest, form: str) -> HttpResponse:
    """The comparison as a file to send: html stands alone, csv and json are for programs."""
    _, _, compared, asked_range = found(request)
    made = weeks.report(compared, asked_range.window, timezone.now(), told_apart(compared, asked_range.window))
    writers = {
        "html": (html.render, "text/html; charset=utf-8"),
        "csv": (tables.as_csv, "text/csv; charset=utf-8"),
        "json": (tables.as_json, "application/json"),
    }
    if form not in writers:
        raise Http404(gettext("A comparison can be had as html, csv or json."))
    write, kind = writers[form]
    response = HttpResponse(write(made), content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="tidegauge-comparison-{made.end:%Y-%m-%d}.{form}"'
    return response


def found(request: HttpRequest) -> tuple[Sequence[Row], list[Row], list[Compared], Range]:
    """All endpoints with figures, the ones the address picks (else the first eight), and their figures."""
    now = timezone.now()
    rows = measured(team_of(request), now)
    wanted = request.GET.getlist("endpoint")
    picked = ([row for row in rows if str(row.public_id) in wanted] if wanted else list(rows))[:MOST]
    asked_range = range_of(request, now, DEFAULT_RANGE)
    return rows, picked, compare_rows(picked, asked_range.window), asked_range
