"""What one run says, before anyone concludes anything; and what is concluded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from drift.findings.kinds import Kind


@dataclass(frozen=True, slots=True)
class Departure:
    """How many of a run's `answers` differ from the frozen reference (expected number, so it may be fractional).

    `differing_normalised`: the same after runs of white space count as one space.
    """

    differing: float
    differing_normalised: float
    answers: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """One finished run of a series.

    `names`: answers by `Name.key()`. `prompt_tokens`: the value each canary reported, None where it reported several.
    `departure` is None without a valid baseline or comparable answers; `logprob_distance` (nats) without log
    probabilities. `tie` in [0, 1) is drawn once per run and decides ranks of equal scores.
    """

    at: datetime
    answers: int
    comparable: int
    failed: int = 0
    cached: int = 0
    model_gone: bool = False
    why: str = ""
    names: Mapping[str, int] = field(default_factory=dict)
    prompt_tokens: Mapping[str, int | None] = field(default_factory=dict)
    departure: Departure | None = None
    logprob_distance: float | None = None
    tie: float = 0.5


@dataclass(frozen=True, slots=True)
class Found:
    """One fact that follows. `chance`: of finding this although nothing changed, at most; None where not a matter of
    chance.
    """

    kind: Kind
    began: datetime
    chance: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limits:
    """A series' share of the false-alarm budget: thresholds for its e-detectors, and what its bounds may miss."""

    answers: float = 1e5
    mix: float = 1e5
    logprobs: float = 1e5
    miss: float = 0.005
