"""Words about check-ups for templates."""

from __future__ import annotations

from django import template

from drift.checkup.report import Report

register = template.Library()


@register.filter
def load_word(report: Report) -> str:
    """'matters from 8', or up to where no difference was seen."""
    moving = [one.concurrency for one in report.under_load if one.matters]
    if moving:
        return f"matters from {min(moving)}"
    return f"none seen to {max(one.concurrency for one in report.under_load)}"
