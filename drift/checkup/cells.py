"""The small parts of a report's HTML: tables, cards, cells."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from django.utils.translation import gettext

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
        ends = figures.interval(quiet.divergence.low, quiet.divergence.high)
        return figures.listed((ends, figures.plural(quiet.pairs, "pair")))
    return gettext("0 of {pairs}").format(pairs=figures.plural(quiet.pairs, "pair"))


def distinct_of(one: Repeats) -> str:
    return gettext("{number} of {total}").format(
        number=figures.mean(one.distinct_mean), total=figures.mean(one.answers_mean)
    )


def ends(low: int | None, high: int | None) -> str:
    if low is None:
        return gettext("no interval: too few questions")
    return gettext("{low} – the end").format(low=low) if high is None else f"{low} – {high}"


def share(found: Estimate | None) -> str:
    return f"<b>{figures.percent(found.value)}</b> {figures.interval(found.low, found.high)}" if found else "–"


def interval_of(found: Estimate) -> str:
    return figures.interval(found.low, found.high)


def point_ends(found: Estimate) -> str:
    return f"[{words.points(found.low)}, {words.points(found.high)}]"


def difference_cell(found: Difference | None) -> str:
    return escape(words.difference(found)) if found else "–"


def picture(found: Estimate | None, low: float, high: float, label: str) -> str:
    return (
        pictures.interval(
            found, low, high, gettext("{label}: {share}").format(label=label, share=words.share_of(found))
        )
        if found
        else ""
    )


def bounds(low: int, high: int) -> str:
    if low == high:
        return str(low)
    return f"{low} – {high}" if high < 1 << 14 else gettext("{low} and more").format(low=low)
