"""A chart as data: the question it answers, its figure for the browser, and the table that says the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Value = str | int | float | datetime | None


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
