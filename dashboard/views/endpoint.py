"""One endpoint: its figures, how they moved, who answered, and what we ask it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from dashboard import charts
from dashboard.access import find, may_edit
from dashboard.ranges import Range, choices, kept, range_of
from drift import history, marks
from drift.display import visible
from drift.models import Canary, Endpoint, Run, Sample, Series
from drift.overview import read
from drift.rows import Row

RECENT_RUNS = 12
BASELINES = 6


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it was sent, the key hidden."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: str
    sent: bool


def show(request: HttpRequest, endpoint: UUID) -> HttpResponse:
    found = find(request, Endpoint, endpoint)
    now = timezone.now()
    seen = read([found], now, most=0)  # its history is drawn from all points, not in a row
    row = seen.rows[0]
    all_series = list(found.series.select_related("suite").order_by("-created_at"))
    series = chosen_series(request, all_series, row)
    asked_range = range_of(request, now)
    context: dict[str, Any] = {
        "endpoint": found,
        "row": row,
        "reading": row.reading if series and row.reading and row.reading.series_id == series.pk else None,
        "series": series,
        "other_series": [other for other in all_series if series and other.pk != series.pk],
        "range": asked_range,
        "ranges": choices(request, asked_range),
        "kept": kept(request),
        "monitor": row.monitor,
        "runs": recent_runs(found),
        "capabilities": found.capabilities.all(),
        "check": found.checks.order_by("-requested_at").first(),
        "asked": exact_request(found, series),
        "baselines": list(series.baselines.order_by("-since", "-pk")[:BASELINES]) if series else [],
        "incidents": seen.cards,
        "can_edit": may_edit(request),
        "live": bool(row.running),
    }
    if series:
        context |= measured(series, asked_range)
        context |= chart_links(request, found, series, asked_range)
    part = "progress" if request.htmx else "page"  # type: ignore[attr-defined]
    return render(request, f"dashboard/endpoint/{part}.html", context)


def chosen_series(request: HttpRequest, known: list[Series], row: Row) -> Series | None:
    """The series that the address names, else the one of the current reading, else the newest."""
    wanted = request.GET.get("series") or str(row.reading.series_id if row.reading else "")
    return next((s for s in known if wanted in (str(s.public_id), str(s.pk))), known[0] if known else None)


def measured(series: Series, asked_range: Range) -> dict[str, Any]:
    """The charts and the canaries' figures over the range."""
    window = asked_range.window
    canaries = list(Canary.objects.filter(places__suite=series.suite_id).order_by("places__position"))
    points = history.points(series, window)
    lanes = history.lanes(points)
    marked = marks.between(series.endpoint.team_id, window.start, window.end, [series.endpoint_id])
    events = [charts.Event(mark.at, mark.text) for mark in marked]
    buckets = history.canary_buckets(series, window)
    heatmap = charts.heatmap(history.heatmap(buckets, canaries, window), window)
    more = [charts.outcomes(points, window), charts.latencies(points, window), charts.costs(points, window)]
    return {
        "marks": marked,
        "canaries": history.canary_figures(buckets, canaries),
        "charts": [
            charts.marked(charts.divergence(points, window), events, window),
            charts.marked(charts.identities(points, window, lanes), events, window),
        ],
        "canary_chart": charts.marked(heatmap, events, window),
        "more_charts": [charts.marked(chart, events, window) for chart in more],
        "empty": not any(point.samples for point in points),
    }


def chart_links(request: HttpRequest, endpoint: Endpoint, series: Series, asked_range: Range) -> dict[str, str]:
    return {
        "chart_base": reverse("endpoint", args=[endpoint.public_id]) + "chart/",
        "chart_query": f"series={series.public_id}&{asked_range.query}",
        "fixed_link": f"{request.path}?series={series.public_id}&{asked_range.fixed_query}",
    }


def recent_runs(endpoint: Endpoint) -> list[Run]:
    return list(
        Run.objects.filter(monitor__endpoint=endpoint)
        .select_related("requested_by")
        .annotate(took=F("finished_at") - F("started_at"))
        .order_by("-scheduled_for")[:RECENT_RUNS]
    )


def exact_request(endpoint: Endpoint, series: Series | None) -> Asked:
    """The last request of the series, byte for byte as it went out; before the first, what every one will hold."""
    path = "responses" if endpoint.kind == "responses" else "chat/completions"
    headers = [("content-type", "application/json")]
    if endpoint.api_key:
        headers.insert(0, ("authorization", f"Bearer ••••{endpoint.api_key_hint}"))
    headers += [(name, "••••") for name in endpoint.extra_headers]
    last = (
        Sample.objects.filter(series=series).order_by("-scheduled_for").values_list("request", flat=True).first()
        if series
        else None
    )
    body = (
        readable_json(bytes(last)) if last else json.dumps({"model": endpoint.model, **endpoint.parameters}, indent=2)
    )
    return Asked(f"{endpoint.base_url}/{path}", tuple(headers), body, bool(last))


def readable_json(body: bytes) -> str:
    """JSON laid out for reading; anything else as text made safe."""
    text = body.decode("utf-8", "replace")
    try:
        return visible(json.dumps(json.loads(text), indent=2, ensure_ascii=False))
    except ValueError:
        return visible(text)
