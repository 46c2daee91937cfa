"""The small parts of a report's HTML: tables, cards, cells."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from drift import figures
from drift.checkup import words
from drift.checkup.load import Difference
from drift.checkup.repeats import Repeats
from drift.evals import pictures
from drift.evals.standalone import table as plain_table
from drift.measure.intervals import Estimate


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells are HTML already."""
    return plain_table(header, rows).replace("<table>", '<table class="table">', 1) if rows else ""


def section(title: str, *parts: str) -> str:
    inner = "".join(parts)
    return f"<section><h2>{escape(title)}</h2>{inner}</section>" if inner else ""


def facts(pairs: Sequence[tuple[str, str, str]]) -> str:
    """(what, figure, beside) as cards; texts are escaped here."""
    cards = "".join(
        f'<div class="fact"><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(beside)}</small></dd></div>'
        for name, value, beside in pairs
    )
    return f'<dl class="facts">{cards}</dl>' if cards else ""


def figures_beside(*drawn: tuple[str, str, str]) -> str:
    """(question, what is drawn, drawing) beside each other."""
    inner = "".join(
        f"<figure><figcaption><b>{escape(question)}</b> {escape(what)}</figcaption>{drawing}</figure>"
        for question, what, drawing in drawn
    )
    return f'<div class="pictures">{inner}</div>'


def pairs(quiet: Repeats) -> str:
    if quiet.pairs_differing and quiet.divergence:
        return f"{figures.interval(quiet.divergence.low, quiet.divergence.high)}, {figures.plural(quiet.pairs, 'pair')}"
    return f"0 of {figures.plural(quiet.pairs, 'pair')}"


def distinct_of(one: Repeats) -> str:
    return f"{figures.mean(one.distinct_mean)} of {figures.mean(one.answers_mean)}"


def ends(low: int | None, high: int | None) -> str:
    return "no interval: too few questions" if low is None else f"{low} – {'the end' if high is None else high}"


def share(found: Estimate | None) -> str:
    return f"<b>{figures.percent(found.value)}</b> {figures.interval(found.low, found.high)}" if found else "–"


def interval_of(found: Estimate) -> str:
    return figures.interval(found.low, found.high)


def point_ends(found: Estimate) -> str:
    return f"[{words.points(found.low)}, {words.points(found.high)}]"


def difference_cell(found: Difference | None) -> str:
    return escape(words.difference(found)) if found else "–"


def picture(found: Estimate | None, low: float, high: float, label: str) -> str:
    return pictures.interval(found, low, high, f"{label}: {words.share_of(found)}") if found else ""


def bounds(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} – {high}" if high < 1 << 14 else f"{low} and more"
