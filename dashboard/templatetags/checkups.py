"""Words about check-ups for templates."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext, gettext_noop

from drift.checkup.report import Report

register = template.Library()
FIT_WORDS = (gettext_noop("fit"), gettext_noop("not fit"), gettext_noop("unknown"))


@register.filter
def load_word(report: Report) -> str:
    """'matters from 8', or up to where no difference was seen."""
    moving = [one.concurrency for one in report.under_load if one.matters]
    if moving:
        return gettext("matters from {concurrency}").format(concurrency=min(moving))
    return gettext("none seen to {concurrency}").format(concurrency=max(one.concurrency for one in report.under_load))


@register.filter
def fit_word(word: str) -> str:
    """A verdict's word as it is read; the word itself names its colour."""
    return gettext(word)
