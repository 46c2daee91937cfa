"""The words of `drift.figures` for templates, and times with their full form one hover away."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from dashboard import svg
from dashboard.timezones import offset_in_words
from drift import figures

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
    if value is None:
        return figures.NONE
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
def cell(value: object) -> str:
    """One value of a chart's table twin: times on the person's clock, shares and counts as they are stored."""
    if value is None:
        return str(figures.UNKNOWN)
    if isinstance(value, datetime):
        return clock(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


@register.filter
def words(value: str) -> str:
    """A stored name as words: 'http_error' -> 'http error'."""
    return value.replace("_", " ")


@register.filter
def ends(values: Sequence[int]) -> str:
    """The smallest and largest of some numbers: '2 – 16'."""
    if not values:
        return figures.NONE
    return str(min(values)) if min(values) == max(values) else f"{min(values)} – {max(values)}"
