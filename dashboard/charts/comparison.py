"""Several endpoints on one time axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext

from dashboard.charts.axes import LANE_COLOURS, TEXT, local, per_cent, short, time_layout, unique, y_axis
from dashboard.charts.chart import Chart
from drift import figures
from drift.comparison import Compared
from drift.history import Window

DASHES = ("solid", "dot", "dash", "dashdot", "longdash", "longdashdot", "solid", "dot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "triangle-down")


def comparison(compared: Sequence[Compared], window: Window) -> Chart:
    """Divergence of each endpoint over the window as a line; told apart by dash, marker and the name at its end."""
    names = unique([one.row.name for one in compared])
    return Chart(
        slug="divergence",
        question=gettext("How often do two answers to the same prompt differ?"),
        note=gettext("Share of pairs by {span}.").format(span=figures.words(window.span)),
        summary=gettext("; ").join(
            gettext("{name}: {figure}").format(
                name=name,
                figure=figures.percent(one.divergence.value) if one.divergence else gettext("not enough data"),
            )
            for name, one in zip(names, compared, strict=True)
        ),
        columns=("from", *names),
        rows=[(at, *(one.points[i].divergence for one in compared)) for i, at in enumerate(window.starts())],
        figure=lambda: _comparison_figure(compared, names, window),
        size="tall",
        about="divergence",
    )


def _comparison_figure(compared: Sequence[Compared], names: Sequence[str], window: Window) -> dict[str, Any]:
    traces, ends = [], []
    for i, (one, name) in enumerate(zip(compared, names, strict=True)):
        x = [local(p.starts_at + window.step / 2) for p in one.points]
        colour = LANE_COLOURS[i % 6]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "connectgaps": False,
                "name": short(name, 60),
                "x": x,
                "y": [per_cent(p.divergence) for p in one.points],
                "line": {"color": colour, "width": 1.7, "dash": DASHES[i % 8]},
                "marker": {"color": colour, "size": 6, "symbol": SYMBOLS[i % 8]},
                "hovertemplate": gettext("{name}: {figure}").format(name=short(name, 40), figure="%{y:.1f} %")
                + "<extra></extra>",
            }
        )
        last = next((p for p in reversed(one.points) if p.divergence is not None), None)
        if last:
            ends.append((per_cent(last.divergence) or 0.0, name, colour))
    layout = time_layout(window, 360, yaxis=y_axis(ticksuffix=" %"), annotations=_end_labels(ends))
    layout["margin"]["r"] = 150
    return {"data": traces, "layout": layout}


def _end_labels(ends: Sequence[tuple[float, str, str]]) -> list[dict[str, Any]]:
    """Names at the right edge, moved apart so that none lies on another."""
    ordered = sorted(ends)
    top = max((value for value, _, _ in ordered), default=1) or 1
    least = top / 17
    notes, floor = [], float("-inf")
    for value, name, colour in ordered:
        at = max(value, floor)
        floor = at + least
        notes.append(
            {
                "xref": "paper",
                "x": 1,
                "xanchor": "left",
                "xshift": 6,
                "y": at,
                "showarrow": False,
                "text": short(name, 20),
                "font": {**TEXT, "color": colour},
                "name": "wide",
            }
        )
    return notes
