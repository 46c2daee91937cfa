"""What tables repeat by the hundred: state, identity, divergence, horizon, when asked.

Written here because a template takes three times as long for them, and the overview renews itself all day.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django import template
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, pgettext

from dashboard.charts.chart import Value
from dashboard.templatetags.figures import cell, known_for, tokens, until, when
from drift import figures
from drift.cards import Mark
from drift.models import Reading
from drift.rows import IdentityNow, Row
from drift.states import State

register = template.Library()

SHAPES = {
    "changed": mark_safe('<path d="M6 0l6 6-6 6-6-6z"/>'),
    "down": mark_safe('<path d="M1 0l5 5 5-5 1 1-5 5 5 5-1 1-5-5-5 5-1-1 5-5-5-5z"/>'),
    "watching": mark_safe('<path d="M6 1l6 10H0z"/>'),
    "stable": mark_safe('<circle cx="6" cy="6" r="5"/>'),
    "paused": mark_safe('<path d="M2 1h3v10H2zM7 1h3v10H7z"/>'),
}
NO_DATA = mark_safe('<circle class="hollow" cx="6" cy="6" r="4.6"/>')


@register.simple_tag
def state_mark(state: State | Mark) -> SafeString:
    """A state as shape, colour and word."""
    return format_html(
        '<span class="state state-{}"><svg viewBox="0 0 12 12" aria-hidden="true" focusable="false">{}</svg>{}</span>',
        state.key,
        SHAPES.get(state.key, NO_DATA),
        state.word,
    )


def _faint(words: str) -> SafeString:
    return format_html('<span class="faint">{}</span>', words)


def _beside(words: str) -> SafeString:
    return format_html('<span class="beside">{}</span>', words)


@register.simple_tag
def identity(known: IdentityNow, now: datetime) -> SafeString:
    """Who answers, since when, and who did before."""
    if not known.labels:
        return _faint(gettext("not known yet"))
    former = format_html_join(
        "", '<span class="identity former" translate="no">{}</span> ', ((label,) for label in known.former[:1])
    )
    if known.churning:
        churning = gettext("churning: {number} values in a week").format(number=known.values_known)
        return former + _beside(churning)
    nobody = gettext("none given")
    labels = [
        format_html('<span class="identity none">{}</span> ', label)
        if label == nobody
        else format_html('<span class="identity" translate="no">{}</span> ', label)
        for label in known.labels[:2]
    ]
    since = gettext("new for {span}") if known.new else gettext("seen for {span}")
    more = gettext(", {number} values now").format(number=len(known.labels)) if len(known.labels) > 2 else ""
    return format_html(
        '{}{}<span class="beside">{}{}</span>',
        former,
        format_html_join("", "{}", ((label,) for label in labels)),
        format_html(since, span=known_for(known.seen_since or now, now)),
        more,
    )


@register.simple_tag
def divergence(reading: Reading | None) -> SafeString:
    """The share of differing pairs with its interval, or how many pairs agree."""
    if reading is None or reading.divergence is None:
        return _faint(gettext("not enough data"))
    share = format_html('<span class="divergence">{}</span>', figures.percent(reading.divergence))
    if not reading.pairs_differing:
        return share + _beside(
            pgettext("answers that differ", "0 of {pairs}").format(pairs=figures.plural(reading.pairs, "pair"))
        )
    counted = gettext("95 % interval over {canaries} canaries; {differing} of {pairs} pairs differ").format(
        canaries=reading.canaries, differing=figures.count(reading.pairs_differing), pairs=figures.count(reading.pairs)
    )
    ends = figures.interval(reading.divergence_low, reading.divergence_high)
    return share + format_html('<span class="beside" title="{}">{}</span>', counted, ends)


@register.simple_tag
def horizon(reading: Reading | None) -> SafeString:
    """To which token answers repeat, and where they first differ."""
    if reading is None or reading.horizon is None:
        return _faint(figures.NONE)
    length = tokens(reading.horizon, reading.tokens_known)
    if not reading.horizon_limit_seen:
        return format_html("{}{}", gettext("no limit seen"), _beside(gettext("in {length}").format(length=length)))
    if reading.first_divergence is None:
        return format_html("{}", length)
    position = figures.count(reading.first_divergence + 1)
    return format_html("{}{}", length, _beside(gettext("first differ at {position}").format(position=position)))


@register.simple_tag
def asked(row: Row, now: datetime) -> SafeString:
    """When the endpoint was asked, or how far the asking is; and when it is asked next."""
    if row.running is None:
        last = when(row.last_finished_at, now)
    elif row.running.state == "running":
        last = gettext("asking: {done} of {expected}").format(done=row.running.samples_done, expected=row.expected)
    else:
        last = gettext("about to ask")
    if row.next_due_at is None:
        return format_html("{}", last)
    return format_html("{}{}", last, _beside(format_html(gettext("next {due}"), due=until(row.next_due_at, now))))


@register.simple_tag
def twin_rows(rows: Sequence[tuple[Value, ...]]) -> SafeString:
    """The table beside a chart: the first column is what a row is about, the others are figures."""
    lines = []
    for first, *others in rows:
        figures_of_row = "".join([f'<td class="number">{conditional_escape(cell(value))}</td>' for value in others])
        lines.append(f"<tr><td>{conditional_escape(cell(first))}</td>{figures_of_row}</tr>")
    return mark_safe("".join(lines))  # noqa: S308  every value is escaped


@register.filter
def pick(name: str) -> str:
    """What the box before an endpoint does."""
    return gettext("Pick {name}").format(name=name)
