"""What came back over time, and how long it took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext

from dashboard.charts.axes import TEXT, local, time_layout, y_axis
from dashboard.charts.chart import Chart
from drift import figures
from drift.answers import COMPARABLE
from drift.history import Point, Window

OUTCOME_COLOURS = {"text": "var(--accent-soft)", "tool_calls": "var(--accent-soft)"}
OTHER_OUTCOMES = ("var(--changed)", "var(--watching)", "var(--lane-5)", "var(--down)", "var(--lane-3)", "var(--quiet)")
PATTERNS = ("/", "x", "\\", ".", "-", "+")


def outcomes(points: Sequence[Point], window: Window) -> Chart:
    totals: dict[str, int] = {}
    for point in points:
        for outcome, count in (point.outcomes or {}).items():
            totals[outcome] = totals.get(outcome, 0) + count
    kinds = sorted(totals, key=lambda kind: (kind not in COMPARABLE, -totals[kind]))
    asked = sum(totals.values())
    fine = sum(count for kind, count in totals.items() if kind in COMPARABLE)
    summary = gettext("{number} of {requests} brought an answer that can be compared.").format(
        number=figures.count(fine), requests=figures.plural(asked, "request")
    )
    return Chart(
        slug="outcomes",
        question=gettext("What came back?"),
        note=gettext("Requests by {span}. {summary}").format(span=figures.words(window.span), summary=summary),
        summary=summary,
        columns=("from", *kinds),
        rows=[
            (p.starts_at, *((p.outcomes or {}).get(kind, 0) if p.samples else None for kind in kinds)) for p in points
        ],
        figure=lambda: _outcomes_figure(points, window, kinds),
        about="outcome",
    )


def _outcomes_figure(points: Sequence[Point], window: Window, kinds: Sequence[str]) -> dict[str, Any]:
    traces, other = [], 0
    for kind in kinds:
        fine = kind in OUTCOME_COLOURS
        marker: dict[str, Any] = {"color": OUTCOME_COLOURS.get(kind, OTHER_OUTCOMES[other % 6]), "line": {"width": 0}}
        if fine:
            marker["line"] = {"width": 1, "color": "var(--accent)"}
        else:
            marker["pattern"] = {
                "shape": PATTERNS[other % 6],
                "size": 5,
                "fillmode": "overlay",
                "fgcolor": "var(--card)",
            }
            other += 1
        traces.append(
            {
                "type": "bar",
                "name": figures.words(kind),
                "marker": marker,
                "x": [local(p.starts_at + window.step / 2) for p in points],
                "y": [(p.outcomes or {}).get(kind, 0) for p in points],
                "hovertemplate": gettext("{number} {outcome}").format(number="%{y}", outcome=figures.words(kind))
                + "<extra></extra>",
            }
        )
    legend = {
        "orientation": "h",
        "x": 0,
        "y": 1.02,
        "yanchor": "bottom",
        "font": TEXT,
        "itemclick": False,
        "itemdoubleclick": False,
    }
    layout = time_layout(
        window,
        190,
        yaxis=y_axis(tickformat="d"),
        barmode="stack",
        bargap=0.25,
        legend=legend,
        showlegend=len(kinds) > 1,
    )
    if len(kinds) > 1:
        layout["margin"]["t"] = 36
    return {"data": traces, "layout": layout}


def latencies(points: Sequence[Point], window: Window) -> Chart:
    known = [p.p50_ms for p in points if p.p50_ms is not None]
    summary = (
        gettext("Half of the answers took {least} to {most}.").format(
            least=figures.milliseconds(min(known)), most=figures.milliseconds(max(known))
        )
        if known
        else gettext("No answers in this time.")
    )
    return Chart(
        slug="latency",
        question=gettext("How long did an answer take?"),
        note=gettext("Median and 95th percentile by {span}, to about 6 %.").format(span=figures.words(window.span)),
        summary=summary,
        columns=("from", "p50_ms", "p95_ms", "answers"),
        rows=[(p.starts_at, p.p50_ms, p.p95_ms, p.comparable) for p in points],
        figure=lambda: _latency_figure(points, window),
        about="latency",
    )


def costs(points: Sequence[Point], window: Window) -> Chart:
    """Dollars by hour or day: what was reported, or prices times reported tokens. Empty where neither is known."""
    known = [p.cost for p in points if p.cost]
    summary = (
        gettext("{cost} in this time.").format(cost=figures.money(sum(known)))
        if known
        else gettext("What it costs is not known: the endpoint has no prices.")
    )
    return Chart(
        slug="cost",
        question=gettext("What did asking cost?"),
        note=gettext("Dollars, as reported or by the endpoint's prices. {summary}").format(summary=summary),
        summary=summary,
        columns=("from", "dollars", "completion_tokens", "answers"),
        rows=[(p.starts_at, p.cost or None, p.completion_tokens if p.samples else None, p.samples) for p in points],
        figure=lambda: _cost_figure(points, window),
        about="cost",
    )


def _cost_figure(points: Sequence[Point], window: Window) -> dict[str, Any]:
    bars = {
        "type": "bar",
        "x": [local(p.starts_at + window.step / 2) for p in points],
        "y": [p.cost or None for p in points],
        "marker": {"color": "var(--accent-soft)", "line": {"width": 1, "color": "var(--accent)"}},
        "customdata": [figures.money(p.cost) if p.cost else "" for p in points],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    return {"data": [bars], "layout": time_layout(window, 150, yaxis=y_axis(tickprefix="$", nticks=4), bargap=0.25)}


def _latency_figure(points: Sequence[Point], window: Window) -> dict[str, Any]:
    x = [local(p.starts_at + window.step / 2) for p in points]
    styles = (
        ("p50_ms", gettext("half within {time}"), "solid", "var(--accent)"),
        ("p95_ms", gettext("19 of 20 within {time}"), "dot", "var(--ink-soft)"),
    )
    traces, notes = [], []
    for name, words, dash, colour in styles:
        values = [getattr(p, name) for p in points]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "connectgaps": False,
                "x": x,
                "y": values,
                "line": {"color": colour, "width": 1.6, "dash": dash},
                "marker": {"size": 4, "color": colour},
                "customdata": [figures.milliseconds(v) for v in values],
                "hovertemplate": words.format(time="%{customdata}") + "<extra></extra>",
            }
        )
        last = next(((i, v) for i, v in reversed(list(enumerate(values))) if v is not None), None)
        if last:
            notes.append(
                {
                    "x": x[last[0]],
                    "y": last[1],
                    "xanchor": "right",
                    "yanchor": "bottom",
                    "showarrow": False,
                    "text": words.format(time=figures.milliseconds(last[1])),
                    "font": {**TEXT, "color": colour},
                }
            )
    return {"data": traces, "layout": time_layout(window, 190, yaxis=y_axis(ticksuffix=" ms"), annotations=notes)}
