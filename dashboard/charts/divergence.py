"""Divergence of one series over time, with its events and gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.utils.translation import gettext

from dashboard.charts.axes import TEXT, local, per_cent, short, time_layout, y_axis
from dashboard.charts.chart import Chart, Event
from drift import figures
from drift.history import Lane, Point, Window
from drift.models import Baseline, Span

MOST_LABELS = 4


@dataclass(frozen=True, slots=True)
class Datum:
    """The baseline in force, to draw beside what is measured now."""

    label: str
    divergence: float


def datum_of(baseline: Baseline | None) -> Datum | None:
    if baseline is None or baseline.divergence is None:
        return None
    pattern = gettext("dotted: baseline “{name}”, {share}") if baseline.name else gettext("dotted: baseline, {share}")
    label = pattern.format(name=baseline.name, share=figures.percent(baseline.divergence))
    return Datum(label, baseline.divergence)


def divergence(
    points: Sequence[Point],
    window: Window,
    events: Sequence[Event] = (),
    gaps: Sequence[tuple[datetime, datetime, str]] = (),
    datum: Datum | None = None,
) -> Chart:
    known = [p for p in points if p.divergence is not None]
    if known:
        first, last = known[0].divergence, known[-1].divergence
        pattern = (
            gettext("Divergence went from {first} to {last}, highest {most}; {known} of {points} hours have data.")
            if window.span == Span.HOUR
            else gettext("Divergence went from {first} to {last}, highest {most}; {known} of {points} days have data.")
        )
        summary = pattern.format(
            first=figures.percent(first),
            last=figures.percent(last),
            most=figures.percent(max(p.divergence or 0 for p in known)),
            known=len(known),
            points=len(points),
        )
    else:
        summary = gettext("Not enough data in this time.")
    return Chart(
        slug="divergence",
        question=gettext("How often do two answers to the same prompt differ?"),
        note=gettext("Share of pairs by {span}; band: 95 % interval over canaries.").format(
            span=figures.words(window.span)
        ),
        summary=summary,
        columns=("from", "divergence", "low", "high", "pairs", "differing", "canaries", "answers", "comparable"),
        rows=[
            (p.starts_at, p.divergence, p.low, p.high, p.pairs, p.pairs_differing, p.canaries, p.samples, p.comparable)
            for p in points
        ],
        figure=lambda: _divergence_figure(points, window, events, gaps, datum),
        about="divergence",
    )


def _divergence_figure(
    points: Sequence[Point],
    window: Window,
    events: Sequence[Event],
    gaps: Sequence[tuple[datetime, datetime, str]],
    datum: Datum | None,
) -> dict[str, Any]:
    middle = window.step / 2
    traces: list[dict[str, Any]] = []
    known = [(i, p) for i, p in enumerate(points) if p.divergence is not None]
    for _, run in groupby(enumerate(known), key=lambda pair: pair[1][0] - pair[0]):
        part = [p for _, (_, p) in run]
        x = [local(p.starts_at + middle) for p in part]
        if len(part) == 1:
            half = window.step / 4
            x = [local(part[0].starts_at + middle - half), local(part[0].starts_at + middle + half)]
            part = part * 2
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "hoverinfo": "skip",
                "fill": "toself",
                "x": [*x, *reversed(x)],
                "y": [*(per_cent(p.high) for p in part), *(per_cent(p.low) for p in reversed(part))],
                "line": {"width": 0},
                "fillcolor": "var(--accent-soft)",
            }
        )
    top = max([0.05, *(p.high or 0 for _, p in known)])
    traces.append(
        {
            "type": "scatter",
            "mode": "lines+markers",
            "connectgaps": False,
            "x": [local(p.starts_at + middle) for p in points],
            "y": [per_cent(p.divergence) for p in points],
            "line": {"color": "var(--accent)", "width": 1.8},
            "marker": {"color": "var(--accent)", "size": 5},
            "customdata": [
                [figures.percent(p.divergence), figures.interval(p.low, p.high), figures.count(p.pairs), p.canaries]
                for p in points
            ],
            "hovertemplate": (
                "%{customdata[0]} (%{customdata[1]})<br>"
                + gettext("{pairs} pairs, {canaries} canaries").format(
                    pairs="%{customdata[2]}", canaries="%{customdata[3]}"
                )
                + "<extra></extra>"
            ),
        }
    )
    shapes, notes = _marks(events, gaps, window)
    if datum:
        top = max(top, datum.divergence)
        shapes.append(
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": per_cent(datum.divergence),
                "y1": per_cent(datum.divergence),
                "line": {"color": "var(--ink-faint)", "width": 1.2, "dash": "dot"},
            }
        )
        notes.append(
            {
                "xref": "paper",
                "x": 0.005,
                "xanchor": "left",
                "y": per_cent(datum.divergence),
                "yanchor": "bottom",
                "showarrow": False,
                "text": short(datum.label, 60),
                "font": TEXT,
            }
        )
    return {
        "data": traces,
        "layout": time_layout(
            window,
            270,
            yaxis=y_axis(ticksuffix=" %", range=[-top * 2, min(102, top * 112)]),
            shapes=shapes,
            annotations=notes,
        ),
    }


def _marks(
    events: Sequence[Event], gaps: Sequence[tuple[datetime, datetime, str]], window: Window
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    for start, end, reason in gaps:
        shapes.append(
            {
                "type": "rect",
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "layer": "below",
                "line": {"width": 0},
                "x0": local(max(start, window.start)),
                "x1": local(min(end, window.end)),
                "fillcolor": "var(--line-soft)",
            }
        )
        if end - start > (window.end - window.start) / 12:
            notes.append(
                {
                    "x": local(max(start, window.start) + (min(end, window.end) - max(start, window.start)) / 2),
                    "y": 0.5,
                    "yref": "paper",
                    "showarrow": False,
                    "text": short(reason, 28),
                    "name": "wide",
                    "font": TEXT,
                }
            )
    for i, event in enumerate(events):
        shapes.append(
            {
                "type": "line",
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "x0": local(event.at),
                "x1": local(event.at),
                "line": {"color": "var(--changed)", "width": 1.3, "dash": "dot"},
            }
        )
        if i < MOST_LABELS:
            late = event.at - window.start > (window.end - window.start) / 2
            notes.append(
                {
                    "x": local(event.at),
                    "y": 1 - 0.09 * i,
                    "yref": "paper",
                    "yanchor": "top",
                    "showarrow": False,
                    "xanchor": "right" if late else "left",
                    "text": f" {short(event.label, 40)} ",
                    "font": {**TEXT, "color": "var(--changed)"},
                    "name": "wide",
                }
            )
    return shapes, notes


def new_identities(lanes: Sequence[Lane], window: Window) -> list[Event]:
    """Identities first seen inside the window, but not the ones it began with."""
    if not lanes:
        return []
    oldest = min(lane.first_seen for lane in lanes)
    learned = oldest + timedelta(hours=1)
    return [
        Event(lane.first_seen, gettext("new identity {label}").format(label=lane.label))
        for lane in lanes
        if lane.first_seen > max(learned, window.start)
        and lane.first_seen < window.end
        and lane.detail  # the others together are no identity
    ]
