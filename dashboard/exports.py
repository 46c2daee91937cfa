"""What a chart shows, as CSV, JSON, or the figure that the browser draws."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime

from django.http import Http404, HttpResponse
from django.utils.translation import gettext

from dashboard.charts import Chart, Value


def export(chart: Chart, form: str, name: str) -> HttpResponse:
    """`form`: figure, csv or json. Times are UTC in ISO 8601; an unknown figure is an empty cell or null."""
    if form == "figure":
        return HttpResponse(json.dumps(chart.figure(), allow_nan=False), content_type="application/json")
    if form == "csv":
        response = HttpResponse(content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{name}-{chart.slug}.csv"'
        writer = csv.writer(response)
        writer.writerow([_safe(column) for column in chart.columns])
        writer.writerows([[_safe(_plain(value)) for value in row] for row in chart.rows])
        return response
    if form == "json":
        rows = [dict(zip(chart.columns, map(_plain, row), strict=True)) for row in chart.rows]
        body = {"question": chart.question, "note": chart.note, "rows": rows}
        return HttpResponse(json.dumps(body, allow_nan=False), content_type="application/json")
    raise Http404(gettext("A chart can be had as figure, csv or json."))


def _plain(value: Value) -> str | int | float | None:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


def _safe(value: str | int | float | None) -> str | int | float | None:
    """A text that a spreadsheet would take for a formula is marked as text."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
