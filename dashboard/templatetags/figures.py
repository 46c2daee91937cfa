"""The words of `drift.figures` for templates, and times with their full form one hover away."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, ngettext, pgettext_lazy

from dashboard import svg
from dashboard.timezones import offset_in_words
from drift import figures
from drift.answers import Outcome
from drift.batch_effect import MODES

register = template.Library()

for word in (
    figures.ahead,
    figures.cadence,
    figures.count,
    figures.duration,
    figures.likeliness,
    figures.mean,
    figures.milliseconds,
    figures.money,
    figures.percent,
    figures.words,
):
    register.filter(word.__name__, word)

register.simple_tag(figures.interval)
register.simple_tag(figures.plural)
register.simple_tag(figures.token_word)
register.simple_tag(svg.sparkline)
register.simple_tag(svg.strip)


@register.simple_tag
def tokens(number: int, known: bool) -> str:
    """'128 tokens', '1 approximate token'."""
    if known:
        said = ngettext("{number} token", "{number} tokens", number)
    else:
        said = ngettext("{number} approximate token", "{number} approximate tokens", number)
    return said.format(number=figures.count(number))


@register.filter
def moment(value: datetime | None) -> str:
    """A time in full in the person's zone: '29 Nov 2026, 23:14:05 UTC+1'."""
    return figures.NONE if value is None else _moment(value, timezone.get_current_timezone_name(), get_language())


@lru_cache(4096)  # a page that renews itself says the same times every fifteen seconds
def _moment(value: datetime, zone: str, language: str | None) -> str:
    return f"{figures.date_time_seconds(timezone.localtime(value))} {offset_in_words(value)}"


@register.filter
def clock(value: datetime | None) -> str:
    """A time of the last days: '29 Nov 23:14'."""
    if value is None:
        return figures.NONE
    return figures.day_time(timezone.localtime(value))


@register.filter
def date_time(value: datetime) -> str:
    """A time longer ago: '29 Nov 2026 23:14'."""
    return figures.date_time(timezone.localtime(value))


@register.simple_tag
def when(value: datetime | None, now: datetime) -> SafeString | str:
    """'40 s ago' or 'in 40 s', the full time in the title and in `datetime`."""
    if value is None:
        return figures.NONE
    words = figures.ahead(value, now) if value > now else figures.ago(value, now)
    return format_html('<time datetime="{}" title="{}">{}</time>', value.isoformat(), moment(value), words)


@register.simple_tag
def until(value: datetime, now: datetime) -> SafeString:
    """'in 40 s', or 'now' for what is due."""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', value.isoformat(), moment(value), figures.ahead(value, now)
    )


@register.simple_tag
def known_for(value: datetime, now: datetime) -> SafeString:
    """'19 d', the full time of its beginning in the title."""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        value.isoformat(),
        gettext("since {moment}").format(moment=moment(value)),
        figures.duration(now - value),
    )


@register.filter
def cell(value: object) -> SafeString | str:
    """One value of a chart's table twin: times on the person's clock, shares and counts as they are stored.

    A text is the name of what the row is about, unless it is one of our modes.
    """
    if value is None:
        return str(figures.UNKNOWN)
    if isinstance(value, datetime):
        return clock(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    return figures.words(str(value)) if value in MODES else format_html('<span translate="no">{}</span>', value)


COLUMNS = {
    "from": pgettext_lazy("column", "from"),
    "divergence": pgettext_lazy("column", "divergence"),
    "low": pgettext_lazy("column", "low"),
    "high": pgettext_lazy("column", "high"),
    "pairs": pgettext_lazy("column", "pairs"),
    "differing": pgettext_lazy("column", "differing"),
    "canaries": pgettext_lazy("column", "canaries"),
    "answers": pgettext_lazy("column", "answers"),
    "comparable": pgettext_lazy("column", "comparable"),
    "mode": pgettext_lazy("column", "mode"),
    "largest batch": pgettext_lazy("column", "largest batch"),
    "batch": pgettext_lazy("column", "batch"),
    "fast tokens/s": pgettext_lazy("column", "fast tokens/s"),
    "invariant tokens/s": pgettext_lazy("column", "invariant tokens/s"),
    "invariant / fast": pgettext_lazy("column", "invariant / fast"),
    "p50_ms": pgettext_lazy("column", "p50_ms"),
    "p95_ms": pgettext_lazy("column", "p95_ms"),
    "dollars": pgettext_lazy("column", "dollars"),
    "completion_tokens": pgettext_lazy("column", "completion_tokens"),
    "endpoint": pgettext_lazy("column", "endpoint"),
    "other": pgettext_lazy("column", "other"),
    "different": pgettext_lazy("column", "different"),
    "p_adjusted": pgettext_lazy("column", "p_adjusted"),
    "effect": pgettext_lazy("column", "effect"),
    "effect_low": pgettext_lazy("column", "effect_low"),
    "effect_high": pgettext_lazy("column", "effect_high"),
    "would_have_been_seen": pgettext_lazy("column", "would_have_been_seen"),
}  # of the tables beside charts; exports keep the names as they are


@register.filter
def column(name: str) -> SafeString | str:
    """The heading of a column of a chart's table twin: one of ours, an outcome, or the name of what it is about."""
    if name in COLUMNS:
        return str(COLUMNS[name])
    if name in frozenset(Outcome):
        return figures.words(name)
    return format_html('<span translate="no">{}</span>', name)


@register.filter
def ends(values: Sequence[int]) -> str:
    """The smallest and largest of some numbers: '2 – 16'."""
    if not values:
        return figures.NONE
    return str(min(values)) if min(values) == max(values) else f"{min(values)} – {max(values)}"
