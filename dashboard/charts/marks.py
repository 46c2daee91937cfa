"""What people marked, on any chart with a time axis: a labelled line each, and a column of the table twin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from dashboard.charts.axes import TEXT, local, short
from dashboard.charts.chart import Chart, Event, Value
from drift.history import Window

MOST_LABELS = 6
LEVELS = 3  # labels stand above the plot, in so many lines, where they cover nothing
LINE_PX = 16


def marked(chart: Chart, marks: Sequence[Event], window: Window) -> Chart:
    """The chart with the marks that lie in the window; itself if there is none."""
    here = [mark for mark in marks if window.start <= mark.at < window.end]
    if not here:
        return chart
    draw = chart.figure
    return replace(
        chart,
        columns=(*chart.columns, gettext("marked")),
        rows=[(*row, _of_bucket(row[0], here, window)) for row in chart.rows],
        figure=lambda: _drawn(draw(), here, window),
    )


def _of_bucket(start: Value, marks: Sequence[Event], window: Window) -> str | None:
    if not isinstance(start, datetime):
        return None
    return "; ".join(mark.label for mark in marks if start <= mark.at < start + window.step) or None


def _drawn(figure: dict[str, Any], marks: Sequence[Event], window: Window) -> dict[str, Any]:
    layout = figure["layout"]
    shapes, notes = [*layout.get("shapes", [])], [*layout.get("annotations", [])]
    for number, mark in enumerate(marks):
        shapes.append(
            {
                "type": "line",
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "x0": local(mark.at),
                "x1": local(mark.at),
                "line": {"color": "var(--ink-soft)", "width": 1.2, "dash": "dash"},
            }
        )
        if number >= MOST_LABELS:
            continue
        late = mark.at - window.start > (window.end - window.start) / 2
        notes.append(
            {
                "x": local(mark.at),
                "y": 1,
                "yref": "paper",
                "yanchor": "bottom",
                "yshift": LINE_PX * (number % LEVELS),
                "showarrow": False,
                "xanchor": "right" if late else "left",
                "text": f" {short(mark.label, 40)} ",
                "font": {**TEXT, "color": "var(--ink-soft)"},
                "name": "wide",
            }
        )
    room = LINE_PX * min(len(marks), LEVELS)
    margin = {**layout["margin"], "t": layout["margin"]["t"] + room}
    taller = {"height": layout["height"] + room, "margin": margin}
    return {**figure, "layout": {**layout, **taller, "shapes": shapes, "annotations": notes}}
