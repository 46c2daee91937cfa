"""The line on a badge: 'baseline valid since 3 Nov', for a README that leans on an endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from drift import figures
from drift.gate import Answer, gate
from drift.models import Endpoint


@dataclass(frozen=True, slots=True)
class Badge:
    """`state`: valid, void or unknown."""

    label: str
    message: str
    state: str


def badge_of(endpoint: Endpoint, now: datetime) -> Badge:
    answer = gate(endpoint, now)
    since = figures.date(answer.since) if answer.since else ""
    valid = gettext("baseline valid since {date}") if since else gettext("baseline valid")
    void = gettext("baseline void since {date}") if since else gettext("baseline void")
    words = {
        Answer.VALID: Badge(endpoint.name, valid.format(date=since), "valid"),
        Answer.VOID: Badge(endpoint.name, void.format(date=since), "void"),
        Answer.NOT_ENOUGH: Badge(endpoint.name, gettext("not enough data"), "unknown"),
    }
    return words[answer.answer]
