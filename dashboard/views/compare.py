"""Up to eight endpoints beside each other: one table, one picture, one CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from dashboard import charts
from dashboard.access import team_of
from dashboard.exports import export
from dashboard.ranges import Range, choices, kept, range_of
from drift.comparison import MOST, Compared, compare
from drift.models import Series
from drift.overview import overview
from drift.rows import Row
from drift.weeks import html, tables
from drift.weeks import report as weeks

DEFAULT_RANGE = "7d"


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


def chart(request: HttpRequest, form: str) -> HttpResponse:
    _, _, compared, asked_range = found(request)
    return export(charts.comparison(compared, asked_range.window), form, "tidegauge-compare")


def report(request: HttpRequest, form: str) -> HttpResponse:
    """The comparison as a file to send: html stands alone, csv and json are for programs."""
    _, _, compared, asked_range = found(request)
    made = weeks.report(compared, asked_range.window, timezone.now())
    writers = {
        "html": (html.render, "text/html; charset=utf-8"),
        "csv": (tables.as_csv, "text/csv; charset=utf-8"),
        "json": (tables.as_json, "application/json"),
    }
    if form not in writers:
        raise Http404("A comparison can be had as html, csv or json.")
    write, kind = writers[form]
    response = HttpResponse(write(made), content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="tidegauge-comparison-{made.end:%Y-%m-%d}.{form}"'
    return response


def found(request: HttpRequest) -> tuple[Sequence[Row], list[Row], list[Compared], Range]:
    """All endpoints with figures, the ones the address picks (else the first eight), and their figures."""
    now = timezone.now()
    rows = [row for row in overview(team_of(request), now).rows if row.reading]
    wanted = request.GET.getlist("endpoint")
    picked = [row for row in rows if str(row.public_id) in wanted] if wanted else list(rows)
    picked = picked[:MOST]
    by_endpoint = {
        str(series.endpoint.public_id): series
        for series in Series.objects.filter(
            pk__in=[row.reading.series_id for row in picked if row.reading]
        ).select_related("endpoint", "suite")
    }
    asked_range = range_of(request, now, DEFAULT_RANGE)
    return rows, picked, compare(picked, by_endpoint, asked_range.window), asked_range
