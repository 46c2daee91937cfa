"""What all charts share: the axes, the type, the colours by token."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import pgettext

from drift.history import Window

MARGIN = {"l": 52, "r": 20, "t": 18, "b": 42}
TEXT = {"family": "ui-sans-serif, system-ui, sans-serif", "size": 12, "color": "var(--ink-faint)"}
HOVER = {"bgcolor": "var(--card)", "bordercolor": "var(--line-strong)", "font": {"color": "var(--ink)", "size": 13}}
LANE_COLOURS = tuple(f"var(--lane-{n})" for n in range(1, 7))


def per_cent(share: float | None) -> float | None:
    return None if share is None else share * 100


def local(moment: datetime) -> str:
    """A moment on the person's clock, as plotly reads dates."""
    return timezone.localtime(moment).strftime("%Y-%m-%d %H:%M:%S")


def time_layout(window: Window, height: int, **more: Any) -> dict[str, Any]:
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
            {"dtickrange": [None, 43_200_000], "value": pgettext("axis", "%H:%M\n%-d %b")},
            {"dtickrange": [43_200_000, None], "value": pgettext("axis", "%-d %b")},
        ],
        "hoverformat": pgettext("axis", "%-d %b %H:%M"),
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


def y_axis(**more: Any) -> dict[str, Any]:
    return {
        "gridcolor": "var(--line-soft)",
        "zeroline": False,
        "tickfont": TEXT,
        "fixedrange": True,
        "rangemode": "tozero",
        "nticks": 5,
        **more,
    }


def category_layout(title: str, labels: Sequence[str], notes: list[dict[str, Any]], height: int) -> dict[str, Any]:
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


def short(text: str, most: int) -> str:
    clean = text.replace("<", "‹").replace(">", "›").replace("\n", " ")
    return clean if len(clean) <= most else f"{clean[: most - 1]}…"


def unique(names: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique
