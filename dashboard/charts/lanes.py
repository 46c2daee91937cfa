"""Lanes on the time axis: who answered, and which canaries do not repeat."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext

from dashboard.charts.axes import LANE_COLOURS, TEXT, local, short, time_layout, unique
from dashboard.charts.chart import Chart
from dashboard.charts.divergence import new_identities
from drift import figures
from drift.history import HeatRow, Lane, Point, Window


def identities(points: Sequence[Point], window: Window, lanes: Sequence[Lane]) -> Chart:
    names = [lane.label for lane in lanes]
    return Chart(
        slug="identities",
        question=gettext("Who answered?"),
        note=gettext("Share of each fingerprint by {span}: the fuller the bar, the more answers carried it.").format(
            span=figures.words(window.span)
        ),
        summary=gettext("{identities} answered: {names}.").format(
            identities=figures.plural(len(lanes), "identity", "identities"), names=figures.listed(names)
        )
        if names
        else gettext("No identity known."),
        columns=("from", *unique(names)),
        rows=[
            (p.starts_at, *(lane.shares[i] if p.identities else None for lane in lanes)) for i, p in enumerate(points)
        ],
        figure=lambda: _lanes_figure(points, window, lanes),
        size="low",
        about="identity",
    )


def heatmap(rows: Sequence[HeatRow], window: Window) -> Chart:
    starts = window.starts()
    names = [row.canary.name for row in rows]
    worst = max(rows, key=lambda row: max((d or 0 for d in row.divergences), default=0), default=None)
    return Chart(
        slug="canaries",
        question=gettext("Which prompts do not repeat?"),
        note=gettext(
            "Divergence of each canary by {span}; the darker, the more pairs differ. Empty: not enough data."
        ).format(span=figures.words(window.span)),
        summary=gettext("Least repeatable: {name}.").format(name=worst.canary.name) if worst else gettext("No canary."),
        columns=("from", *unique(names)),
        rows=[(at, *(row.divergences[i] for row in rows)) for i, at in enumerate(starts)],
        figure=lambda: _heatmap_figure(rows, window),
        size="tall",
        about="divergence",
    )


def _lane_bars(
    points: Sequence[Point | datetime],
    row: int,
    shares: Sequence[float | None],
    step: timedelta,
    colour: Any,
    texts: Sequence[str],
) -> dict[str, Any]:
    shown = [
        (p if isinstance(p, datetime) else p.starts_at, s, t)
        for p, s, t in zip(points, shares, texts, strict=True)
        if s
    ]
    return {
        "type": "bar",
        "orientation": "h",
        "width": 0.36,
        "y": [row] * len(shown),
        "base": [local(at) for at, _, _ in shown],
        "x": [step.total_seconds() * 1000] * len(shown),
        "marker": {"color": colour, "opacity": [0.2 + 0.8 * (s or 0) for _, s, _ in shown], "line": {"width": 0}},
        "customdata": [t for _, _, t in shown],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _lane_name(row: int, text: str, colour: str = "var(--ink-soft)") -> dict[str, Any]:
    return {
        "xref": "paper",
        "x": 0,
        "xanchor": "left",
        "y": row - 0.22,
        "yanchor": "bottom",
        "showarrow": False,
        "text": short(text, 90),
        "font": {**TEXT, "color": colour},
    }


def _lanes_layout(window: Window, rows: int, notes: list[dict[str, Any]]) -> dict[str, Any]:
    return time_layout(
        window,
        36 * rows + 60,
        yaxis={"visible": False, "fixedrange": True, "range": [rows - 0.7, -0.75]},
        annotations=notes,
        barmode="overlay",
        bargap=0,
        hovermode="closest",
    )


def _lanes_figure(points: Sequence[Point], window: Window, lanes: Sequence[Lane]) -> dict[str, Any]:
    traces, notes = [], []
    fresh = {event.at for event in new_identities(lanes, window)}

    def colour_of(lane: Lane, row: int) -> str:
        return "var(--changed)" if lane.first_seen in fresh else LANE_COLOURS[row % 6]

    for row, lane in enumerate(lanes):
        texts = [
            gettext("{share} of answers, {time}").format(
                share=figures.percent(share), time=figures.day_time(timezone.localtime(p.starts_at))
            )
            for p, share in zip(points, lane.shares, strict=True)
        ]
        traces.append(_lane_bars(points, row, lane.shares, window.step, colour_of(lane, row), texts))
        detail = f", {lane.detail}" if lane.detail else ""
        words = f"{lane.label}{detail} · {figures.plural(lane.answers, 'answer')}"
        notes.append(_lane_name(row, words, "var(--changed)" if lane.first_seen in fresh else "var(--ink-soft)"))
    return {"data": traces, "layout": _lanes_layout(window, max(1, len(lanes)), notes)}


def _heatmap_figure(rows: Sequence[HeatRow], window: Window) -> dict[str, Any]:
    starts = window.starts()
    traces, notes = [], []
    for number, row in enumerate(rows):
        shown = [(at, d) for at, d in zip(starts, row.divergences, strict=True) if d is not None]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "width": 0.4,
                "y": [number] * len(shown),
                "base": [local(at) for at, _ in shown],
                "x": [window.step.total_seconds() * 1000] * len(shown),
                "marker": {
                    "color": [d for _, d in shown],
                    "cmin": 0,
                    "cmax": 1,
                    "line": {"width": 1, "color": "var(--card)"},
                    "colorscale": [[0, "var(--heat-0)"], [1, "var(--heat-1)"]],
                },
                "customdata": [
                    gettext("{share} of pairs differ, {time}").format(
                        share=figures.percent(d), time=figures.day_time(timezone.localtime(at))
                    )
                    for at, d in shown
                ],
                "hovertemplate": "%{customdata}<extra></extra>",
            }
        )
        notes.append(_lane_name(number, row.canary.name))
    return {"data": traces, "layout": _lanes_layout(window, max(1, len(rows)), notes)}
