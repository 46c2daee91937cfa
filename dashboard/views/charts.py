"""One chart of an endpoint as a figure, CSV or JSON."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext

from dashboard import charts
from dashboard.access import find
from dashboard.exports import export
from dashboard.links import is_uuid
from dashboard.ranges import range_of
from drift import baselines, history, marks
from drift.models import Canary, Endpoint, Series


def show(request: HttpRequest, endpoint: UUID, chart: str, form: str) -> HttpResponse:
    found = find(request, Endpoint, endpoint)
    wanted = request.GET.get("series", "")
    series = found.series.filter(public_id=wanted).first() if is_uuid(wanted) else None
    if series is None:
        raise Http404(gettext("This endpoint has no such series."))
    window = range_of(request, timezone.now()).window
    marked = marks.between(found.team_id, window.start, window.end, [found.pk])
    events = [charts.Event(mark.at, mark.text) for mark in marked]
    drawn = charts.marked(chart_of(series, chart, window), events, window)
    return export(drawn, form, f"tidegauge-{found.name}")


def chart_of(series: Series, slug: str, window: history.Window) -> charts.Chart:
    if slug == "canaries":
        canaries = list(Canary.objects.filter(places__suite=series.suite_id).order_by("places__position"))
        return charts.heatmap(history.heatmap(history.canary_buckets(series, window), canaries, window), window)
    points = history.points(series, window)
    if slug == "divergence":
        events = [charts.Event(at, words) for at, words in history.changes(series, window)]
        events = events or charts.new_identities(history.lanes(points), window)
        datum = charts.datum_of(baselines.current(series))
        return charts.divergence(points, window, events, history.gaps(series, window), datum)
    if slug == "identities":
        return charts.identities(points, window, history.lanes(points))
    if slug == "outcomes":
        return charts.outcomes(points, window)
    if slug == "latency":
        return charts.latencies(points, window)
    if slug == "cost":
        return charts.costs(points, window)
    raise Http404(gettext("There is no such chart."))
