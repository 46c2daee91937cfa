"""Charts: each with the question it answers, its figure for the browser, and the table that says the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.utils import timezone

from drift import figures
from drift.answers import COMPARABLE
from drift.batch_effect import Ledger, ModeEffect
from drift.comparison import Compared
from drift.history import HeatRow, Lane, Point, Window

Value = str | int | float | datetime | None

MARGIN = {"l": 52, "r": 20, "t": 18, "b": 42}
TEXT = {"family": "ui-sans-serif, system-ui, sans-serif", "size": 12, "color": "var(--ink-faint)"}
HOVER = {"bgcolor": "var(--card)", "bordercolor": "var(--line-strong)", "font": {"color": "var(--ink)", "size": 13}}
LANE_COLOURS = tuple(f"var(--lane-{n})" for n in range(1, 7))
OUTCOME_COLOURS = {"text": "var(--accent-soft)", "tool_calls": "var(--accent-soft)"}
OTHER_OUTCOMES = ("var(--changed)", "var(--watching)", "var(--lane-5)", "var(--down)", "var(--lane-3)", "var(--quiet)")
PATTERNS = ("/", "x", "\\", ".", "-", "+")
MOST_LABELS = 4


@dataclass(frozen=True, slots=True)
class Chart:
    """`columns` and `rows` are the table twin and the exports; `figure` is drawn lazily."""

    slug: str
    question: str
    note: str
    summary: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Value, ...]]
    figure: Callable[[], dict[str, Any]]
    size: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """A labelled moment on the time axis."""

    at: datetime
    label: str


def divergence(
    points: Sequence[Point], window: Window, events: Sequence[Event], gaps: Sequence[tuple[datetime, datetime, str]]
) -> Chart:
    known = [p for p in points if p.divergence is not None]
    if known:
        first, last = known[0].divergence, known[-1].divergence
        summary = (
            f"Divergence went from {figures.percent(first)} to {figures.percent(last)}, highest "
            f"{figures.percent(max(p.divergence or 0 for p in known))}; "
            f"{len(known)} of {len(points)} {window.span}s have data."
        )
    else:
        summary = "Not enough data in this time."
    return Chart(
        slug="divergence",
        question="How often do two answers to the same prompt differ?",
        note=f"Share of pairs by {window.span}; band: 95 % interval over canaries.",
        summary=summary,
        columns=("from", "divergence", "low", "high", "pairs", "differing", "canaries", "answers", "comparable"),
        rows=[
            (p.starts_at, p.divergence, p.low, p.high, p.pairs, p.pairs_differing, p.canaries, p.samples, p.comparable)
            for p in points
        ],
        figure=lambda: _divergence_figure(points, window, events, gaps),
        about="divergence",
    )


def identities(points: Sequence[Point], window: Window, lanes: Sequence[Lane]) -> Chart:
    names = [lane.label for lane in lanes]
    return Chart(
        slug="identities",
        question="Who answered?",
        note=f"Share of each fingerprint by {window.span}: the fuller the bar, the more answers carried it.",
        summary=f"{figures.plural(len(lanes), 'identity', 'identities')} answered: {', '.join(names)}."
        if names
        else "No identity known.",
        columns=("from", *_unique(names)),
        rows=[
            (p.starts_at, *(lane.shares[i] if p.identities else None for lane in lanes)) for i, p in enumerate(points)
        ],
        figure=lambda: _lanes_figure(points, window, lanes),
        size="low",
        about="identity",
    )


def outcomes(points: Sequence[Point], window: Window) -> Chart:
    totals: dict[str, int] = {}
    for point in points:
        for outcome, count in (point.outcomes or {}).items():
            totals[outcome] = totals.get(outcome, 0) + count
    kinds = sorted(totals, key=lambda kind: (kind not in COMPARABLE, -totals[kind]))
    asked = sum(totals.values())
    fine = sum(count for kind, count in totals.items() if kind in COMPARABLE)
    summary = f"{figures.count(fine)} of {figures.plural(asked, 'request')} brought an answer that can be compared."
    return Chart(
        slug="outcomes",
        question="What came back?",
        note=f"Requests by {window.span}. {summary}",
        summary=summary,
        columns=("from", *kinds),
        rows=[
            (p.starts_at, *((p.outcomes or {}).get(kind, 0) if p.samples else None for kind in kinds)) for p in points
        ],
        figure=lambda: _outcomes_figure(points, window, kinds),
        about="outcome",
    )


def latencies(points: Sequence[Point], window: Window) -> Chart:
    known = [p.p50_ms for p in points if p.p50_ms is not None]
    summary = (
        f"Half of the answers took {figures.milliseconds(min(known))} to {figures.milliseconds(max(known))}."
        if known
        else "No answers in this time."
    )
    return Chart(
        slug="latency",
        question="How long did an answer take?",
        note=f"Median and 95th percentile by {window.span}, to about 6 %.",
        summary=summary,
        columns=("from", "p50_ms", "p95_ms", "answers"),
        rows=[(p.starts_at, p.p50_ms, p.p95_ms, p.comparable) for p in points],
        figure=lambda: _latency_figure(points, window),
        about="latency",
    )


def heatmap(rows: Sequence[HeatRow], window: Window) -> Chart:
    starts = window.starts()
    names = [row.canary.name for row in rows]
    worst = max(rows, key=lambda row: max((d or 0 for d in row.divergences), default=0), default=None)
    return Chart(
        slug="canaries",
        question="Which prompts do not repeat?",
        note=f"Divergence of each canary by {window.span}; the darker, the more pairs differ. Empty: not enough data.",
        summary=f"Least repeatable: {worst.canary.name}." if worst else "No canary.",
        columns=("from", *_unique(names)),
        rows=[(at, *(row.divergences[i] for row in rows)) for i, at in enumerate(starts)],
        figure=lambda: _heatmap_figure(rows, window),
        size="tall",
        about="divergence",
    )


def _unique(names: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def per_cent(share: float | None) -> float | None:
    return None if share is None else share * 100


def local(moment: datetime) -> str:
    """A moment on the person's clock, as plotly reads dates."""
    return timezone.localtime(moment).strftime("%Y-%m-%d %H:%M:%S")


def _layout(window: Window, height: int, **more: Any) -> dict[str, Any]:
    axis = {
        "type": "date",
        "range": [local(window.start), local(window.end)],
        "showgrid": False,
        "zeroline": False,
        "linecolor": "var(--line)",
        "tickcolor": "var(--line)",
        "tickfont": TEXT,
        "ticks": "outside",
        "ticklen": 4,
        "fixedrange": True,
        "tickformatstops": [
            {"dtickrange": [None, 43_200_000], "value": "%H:%M\n%-d %b"},
            {"dtickrange": [43_200_000, None], "value": "%-d %b"},
        ],
        "hoverformat": "%-d %b %H:%M",
    }
    return {
        "height": height,
        "margin": dict(MARGIN),
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": TEXT,
        "showlegend": False,
        "hovermode": "x",
        "dragmode": False,
        "hoverlabel": dict(HOVER),
        "xaxis": axis,
        **more,
    }


def _y_axis(**more: Any) -> dict[str, Any]:
    return {
        "gridcolor": "var(--line-soft)",
        "zeroline": False,
        "tickfont": TEXT,
        "fixedrange": True,
        "rangemode": "tozero",
        "nticks": 5,
        **more,
    }


def _divergence_figure(
    points: Sequence[Point], window: Window, events: Sequence[Event], gaps: Sequence[tuple[datetime, datetime, str]]
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
                "%{customdata[2]} pairs, %{customdata[3]} canaries<extra></extra>"
            ),
        }
    )
    shapes, notes = _marks(events, gaps, window)
    return {
        "data": traces,
        "layout": _layout(
            window,
            270,
            yaxis=_y_axis(ticksuffix=" %", range=[-top * 2, min(102, top * 112)]),
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
                    "text": _short(reason, 28),
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
                    "text": f" {_short(event.label, 40)} ",
                    "font": {**TEXT, "color": "var(--changed)"},
                    "name": "wide",
                }
            )
    return shapes, notes


def _short(text: str, most: int) -> str:
    clean = text.replace("<", "‹").replace(">", "›").replace("\n", " ")
    return clean if len(clean) <= most else f"{clean[: most - 1]}…"


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
        "text": _short(text, 90),
        "font": {**TEXT, "color": colour},
    }


def _lanes_layout(window: Window, rows: int, notes: list[dict[str, Any]]) -> dict[str, Any]:
    return _layout(
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
            f"{figures.percent(share)} of answers, {timezone.localtime(p.starts_at):%-d %b %H:%M}"
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
                    f"{figures.percent(d)} of pairs differ, {timezone.localtime(at):%-d %b %H:%M}" for at, d in shown
                ],
                "hovertemplate": "%{customdata}<extra></extra>",
            }
        )
        notes.append(_lane_name(number, row.canary.name))
    return {"data": traces, "layout": _lanes_layout(window, max(1, len(rows)), notes)}


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
                "name": kind.replace("_", " "),
                "marker": marker,
                "x": [local(p.starts_at + window.step / 2) for p in points],
                "y": [(p.outcomes or {}).get(kind, 0) for p in points],
                "hovertemplate": "%{y} " + kind.replace("_", " ") + "<extra></extra>",
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
    layout = _layout(
        window,
        190,
        yaxis=_y_axis(tickformat="d"),
        barmode="stack",
        bargap=0.25,
        legend=legend,
        showlegend=len(kinds) > 1,
    )
    if len(kinds) > 1:
        layout["margin"]["t"] = 36
    return {"data": traces, "layout": layout}


def _latency_figure(points: Sequence[Point], window: Window) -> dict[str, Any]:
    x = [local(p.starts_at + window.step / 2) for p in points]
    styles = (("p50_ms", "half", "solid", "var(--accent)"), ("p95_ms", "19 of 20", "dot", "var(--ink-soft)"))
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
                "hovertemplate": words + " within %{customdata}<extra></extra>",
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
                    "text": f"{words} within {figures.milliseconds(last[1])}",
                    "font": {**TEXT, "color": colour},
                }
            )
    return {"data": traces, "layout": _layout(window, 190, yaxis=_y_axis(ticksuffix=" ms"), annotations=notes)}


def batches(effects: Sequence[ModeEffect]) -> Chart:
    """Divergence by the largest batch an answer met, one line a mode."""
    rows = [
        (
            effect.mode,
            at.label,
            at.estimate and at.estimate.value,
            at.estimate and at.estimate.low,
            at.estimate and at.estimate.high,
            at.pairs,
            at.pairs_differing,
            at.answers,
        )
        for effect in effects
        for at in effect.by_batch
    ]
    said = [
        f"{e.mode}: {e.overall.pairs_differing:,} of {figures.plural(e.overall.pairs, 'pair')} differ" for e in effects
    ]
    return Chart(
        slug="batches",
        question="Does the batch change the answer?",
        note="Pairs of answers that differ, by the largest batch they met; bars: 95 % interval over canaries.",
        summary="; ".join(said) + ".",
        columns=("mode", "largest batch", "divergence", "low", "high", "pairs", "differing", "answers"),
        rows=rows,
        figure=lambda: _batches_figure(effects),
        about="batch",
    )


MODE_STYLES = {"fast": ("var(--changed)", "circle"), "invariant": ("var(--accent)", "square")}


def _batches_figure(effects: Sequence[ModeEffect]) -> dict[str, Any]:
    bins = sorted({at.low: at.label for effect in effects for at in effect.by_batch}.items())
    places = {low: i for i, (low, _) in enumerate(bins)}
    traces, notes = [], []
    for number, effect in enumerate(effects):
        colour, symbol = MODE_STYLES[effect.mode]
        known = [(at, at.estimate) for at in effect.by_batch if at.estimate]
        if not known:
            continue
        x = [places[at.low] + 0.07 * number for at, _ in known]  # beside each other, not on each other
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "x": x,
                "y": [per_cent(estimate.value) for _, estimate in known],
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "color": colour,
                    "thickness": 1.2,
                    "width": 4,
                    "array": [per_cent(estimate.high - estimate.value) for _, estimate in known],
                    "arrayminus": [per_cent(estimate.value - estimate.low) for _, estimate in known],
                },
                "line": {"color": colour, "width": 1.8},
                "marker": {"color": colour, "size": 8, "symbol": symbol},
                "customdata": [f"{at.pairs_differing:,} of {figures.plural(at.pairs, 'pair')}" for at, _ in known],
                "hovertemplate": f"{effect.mode}: %{{y:.1f}} %<br>%{{customdata}}<extra></extra>",
            }
        )
        notes.append(
            {
                "x": x[-1],
                "y": per_cent(known[-1][1].value),
                "xanchor": "left",
                "xshift": 12,
                "showarrow": False,
                "text": effect.mode,
                "font": {**TEXT, "color": colour, "weight": 600},
            }
        )
    layout = _categories("largest batch while answering", [label for _, label in bins], notes, 300)
    layout["yaxis"] = _y_axis(ticksuffix=" %")
    return {"data": traces, "layout": layout}


def _categories(title: str, labels: Sequence[str], notes: list[dict[str, Any]], height: int) -> dict[str, Any]:
    """A layout whose x axis has a place for each label: 0, 1, 2 ..."""
    return {
        "height": height,
        "margin": {**MARGIN, "r": 84, "b": 48},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": TEXT,
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": False,
        "hoverlabel": dict(HOVER),
        "annotations": notes,
        "xaxis": {
            "tickvals": list(range(len(labels))),
            "ticktext": list(labels),
            "range": [-0.5, max(0.5, len(labels) - 0.4)],
            "zeroline": False,
            "fixedrange": True,
            "showgrid": False,
            "linecolor": "var(--line)",
            "tickfont": TEXT,
            "title": {"text": title, "font": TEXT},
        },
    }


def price(ledger: Ledger) -> Chart:
    """Tokens per second in both modes at each batch, and their ratio in words."""
    return Chart(
        slug="price",
        question="What does certainty cost?",
        note="Tokens per second; the figure above each pair is invariant ÷ fast.",
        summary="; ".join(f"at batch {p.batch}: {p.ratio:.0%}" for p in ledger.prices) + ".",
        columns=("batch", "fast tokens/s", "invariant tokens/s", "invariant / fast"),
        rows=[(p.batch, p.fast, p.invariant, round(p.ratio, 4)) for p in ledger.prices],
        figure=lambda: _price_figure(ledger),
        about="price",
    )


def _price_figure(ledger: Ledger) -> dict[str, Any]:
    labels = [str(p.batch) for p in ledger.prices]
    traces: list[dict[str, Any]] = []
    for mode, pattern in (("fast", "/"), ("invariant", "")):
        traces.append(
            {
                "type": "bar",
                "name": mode,
                "x": list(range(len(labels))),
                "y": [getattr(p, mode) for p in ledger.prices],
                "marker": {
                    "color": MODE_STYLES[mode][0],
                    "pattern": {"shape": pattern, "size": 6, "fillmode": "overlay", "fgcolor": "var(--card)"},
                },
                "hovertemplate": f"{mode}: %{{y:,.0f}} tokens/s<extra></extra>",
            }
        )
    notes = [
        {
            "x": place,
            "y": max(p.fast, p.invariant),
            "yanchor": "bottom",
            "showarrow": False,
            "text": f"{p.ratio:.0%}",
            "font": {**TEXT, "color": "var(--ink-soft)"},
        }
        for place, p in enumerate(ledger.prices)
    ]
    layout = _categories("requests at once", labels, notes, 300)
    layout |= {
        "yaxis": _y_axis(tickformat=",.0f"),
        "barmode": "group",
        "bargap": 0.35,
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": TEXT},
    }
    layout["margin"]["t"] = 36
    return {"data": traces, "layout": layout}


def comparison(compared: Sequence[Compared], window: Window) -> Chart:
    """Divergence of each endpoint over the window as a line; told apart by dash, marker and the name at its end."""
    names = _unique([one.row.name for one in compared])
    return Chart(
        slug="divergence",
        question="How often do two answers to the same prompt differ?",
        note=f"Share of pairs by {window.span}.",
        summary="; ".join(
            f"{name}: {figures.percent(one.divergence.value) if one.divergence else 'not enough data'}"
            for name, one in zip(names, compared, strict=True)
        ),
        columns=("from", *names),
        rows=[(at, *(one.points[i].divergence for one in compared)) for i, at in enumerate(window.starts())],
        figure=lambda: _comparison_figure(compared, names, window),
        size="tall",
        about="divergence",
    )


DASHES = ("solid", "dot", "dash", "dashdot", "longdash", "longdashdot", "solid", "dot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "triangle-down")


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
                "name": _short(name, 60),
                "x": x,
                "y": [per_cent(p.divergence) for p in one.points],
                "line": {"color": colour, "width": 1.7, "dash": DASHES[i % 8]},
                "marker": {"color": colour, "size": 6, "symbol": SYMBOLS[i % 8]},
                "hovertemplate": f"{_short(name, 40)}: %{{y:.1f}} %<extra></extra>",
            }
        )
        last = next((p for p in reversed(one.points) if p.divergence is not None), None)
        if last:
            ends.append((per_cent(last.divergence) or 0.0, name, colour))
    layout = _layout(window, 360, yaxis=_y_axis(ticksuffix=" %"), annotations=_end_labels(ends))
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
                "text": _short(name, 20),
                "font": {**TEXT, "color": colour},
                "name": "wide",
            }
        )
    return notes


def validated(figure: Mapping[str, Any]) -> Any:
    """The figure as plotly's own object. A misspelled property is a ValueError here instead of nothing in a browser."""
    from plotly.graph_objects import Figure  # takes a second to import: only where it is asked for

    return Figure(_without_tokens(figure))


def _without_tokens(value: Any) -> Any:
    """Colour tokens replaced by a colour that plotly's validators know."""
    if isinstance(value, str):
        return "#123456" if value.startswith("var(--") else value
    if isinstance(value, Mapping):
        return {key: _without_tokens(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_tokens(item) for item in value]
    return value


def new_identities(lanes: Sequence[Lane], window: Window) -> list[Event]:
    """Identities first seen inside the window, but not the ones it began with."""
    if not lanes:
        return []
    oldest = min(lane.first_seen for lane in lanes)
    learned = oldest + timedelta(hours=1)
    return [
        Event(lane.first_seen, f"new identity {lane.label}")
        for lane in lanes
        if lane.first_seen > max(learned, window.start)
        and lane.first_seen < window.end
        and not lane.label.endswith("others")
    ]
