"""What a negotiation finds out, and what it advises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from drift.answers import Target


class State(StrEnum):
    """What one feature did when it was asked for."""

    REFUSED = "refused"
    IGNORED = "ignored"
    HONOURED = "honoured"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Capability:
    """`value` is the detail that matters (the largest k, the parameter's name); `evidence` is what was seen."""

    state: State
    value: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Negotiation:
    """`target` is worded as the endpoint accepts it. `problem`: why it cannot be used, and what to do; None
    if it can.

    `advice`: sentences worth showing beside the endpoint. `requests`: how many requests this took.
    """

    target: Target
    capabilities: Mapping[str, Capability] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    problem: str | None = None
    advice: tuple[str, ...] = ()
    requests: int = 0
