"""The line on a badge: 'baseline valid since 3 Nov', for a README that leans on an endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

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
    since = f" since {answer.since:%-d %b %Y}" if answer.since else ""
    words = {
        Answer.VALID: Badge(endpoint.name, f"baseline valid{since}", "valid"),
        Answer.VOID: Badge(endpoint.name, f"baseline void{since}", "void"),
        Answer.NOT_ENOUGH: Badge(endpoint.name, "not enough data", "unknown"),
    }
    return words[answer.answer]
