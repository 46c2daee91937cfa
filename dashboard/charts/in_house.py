"""Our own worker: what the batch does to an answer, and what certainty costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext

from dashboard.charts.axes import TEXT, category_layout, per_cent, y_axis
from dashboard.charts.chart import Chart, Value
from drift import figures
from drift.batch_effect import Ledger, ModeEffect

MODE_STYLES = {"fast": ("var(--changed)", "circle"), "invariant": ("var(--accent)", "square")}


def batches(effects: Sequence[ModeEffect]) -> Chart:
    """Divergence by the largest batch an answer met, one line a mode."""
    rows: list[tuple[Value, ...]] = []
    for effect in effects:
        for at in effect.by_batch:
            ends = (at.estimate.value, at.estimate.low, at.estimate.high) if at.estimate else (None, None, None)
            rows.append((effect.mode, at.label, *ends, at.pairs, at.pairs_differing, at.answers))
    said = [
        gettext("{mode}: {number} of {pairs} differ").format(
            mode=figures.words(e.mode),
            number=figures.count(e.overall.pairs_differing),
            pairs=figures.plural(e.overall.pairs, "pair"),
        )
        for e in effects
    ]
    return Chart(
        slug="batches",
        question=gettext("Does the batch change the answer?"),
        note=gettext("Pairs of answers that differ, by the largest batch they met; bars: 95 % interval over canaries."),
        summary=sentence(said),
        columns=("mode", "largest batch", "divergence", "low", "high", "pairs", "differing", "answers"),
        rows=rows,
        figure=lambda: _batches_figure(effects),
        about="batch",
    )


def sentence(parts: Sequence[str]) -> str:
    """'one; another.'"""
    return gettext("{parts}.").format(parts=gettext("; ").join(parts))


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
                "customdata": [
                    gettext("{number} of {pairs}").format(
                        number=figures.count(at.pairs_differing), pairs=figures.plural(at.pairs, "pair")
                    )
                    for at, _ in known
                ],
                "hovertemplate": gettext("{name}: {figure}").format(
                    name=figures.words(effect.mode), figure="%{y:.1f} %"
                )
                + "<br>%{customdata}<extra></extra>",
            }
        )
        notes.append(
            {
                "x": x[-1],
                "y": per_cent(known[-1][1].value),
                "xanchor": "left",
                "xshift": 12,
                "showarrow": False,
                "text": figures.words(effect.mode),
                "font": {**TEXT, "color": colour, "weight": 600},
            }
        )
    layout = category_layout(gettext("largest batch while answering"), [label for _, label in bins], notes, 300)
    layout["yaxis"] = y_axis(ticksuffix=" %")
    return {"data": traces, "layout": layout}


def price(ledger: Ledger) -> Chart:
    """Tokens per second in both modes at each batch, and their ratio in words."""
    return Chart(
        slug="price",
        question=gettext("What does certainty cost?"),
        note=gettext("Tokens per second; the figure above each pair is invariant ÷ fast."),
        summary=sentence(
            [gettext("at batch {batch}: {ratio}").format(batch=p.batch, ratio=f"{p.ratio:.0%}") for p in ledger.prices]
        ),
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
                "name": figures.words(mode),
                "x": list(range(len(labels))),
                "y": [getattr(p, mode) for p in ledger.prices],
                "marker": {
                    "color": MODE_STYLES[mode][0],
                    "pattern": {"shape": pattern, "size": 6, "fillmode": "overlay", "fgcolor": "var(--card)"},
                },
                "hovertemplate": gettext("{mode}: {number} tokens/s").format(
                    mode=figures.words(mode), number="%{y:,.0f}"
                )
                + "<extra></extra>",
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
    layout = category_layout(gettext("requests at once"), labels, notes, 300)
    layout |= {
        "yaxis": y_axis(tickformat=",.0f"),
        "barmode": "group",
        "bargap": 0.35,
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": TEXT},
    }
    layout["margin"]["t"] = 36
    return {"data": traces, "layout": layout}
