"""Stops asking an endpoint that is down or throttles us, and finds out when it is back.

Pure rules: state in, state out; kept with the endpoint's limits. `throttled` and `down` are states of the
endpoint that people see; they are never read as drift. Times are Unix seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from drift.answers import Decoded, Exchange, Outcome

FAILURES_TO_OPEN = 5
FIRST_PAUSE_S = 30.0
LONGEST_PAUSE_S = 900.0
TRIAL_S = 300.0
"""A half-open trial that never reports back (its worker was killed) makes room for another after this."""

_DOWN = frozenset({Outcome.UNREACHABLE, Outcome.TIMEOUT, Outcome.EMPTY_BODY})
_THROTTLE_CODES = frozenset({"429", "rate_limit_exceeded", "rate_limit", "too_many_requests", "RESOURCE_EXHAUSTED"})


class Circuit(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Health(StrEnum):
    """What one answer says about the endpoint, whatever it says about the model."""

    UP = "up"
    THROTTLED = "throttled"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class BreakerState:
    """`cause` is why it is not closed. `failures` counts in a row; `pause_s` doubles with each failed trial."""

    circuit: Circuit = Circuit.CLOSED
    cause: Health = Health.UP
    failures: int = 0
    pause_s: float = 0.0
    retry_at: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return {
            "circuit": self.circuit.value,
            "cause": self.cause.value,
            "failures": self.failures,
            "pause_s": self.pause_s,
            "retry_at": self.retry_at,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> BreakerState:
        """The state stored by `as_json`; an empty mapping is a closed circuit."""
        return cls(
            Circuit(value.get("circuit", "closed")),
            Health(value.get("cause", "up")),
            int(value.get("failures", 0)),
            float(value.get("pause_s", 0.0)),
            float(value.get("retry_at", 0.0)),
        )


def health_of(exchange: Exchange, decoded: Decoded) -> Health:
    """A refusal (4xx) still comes from an endpoint that is up; 5xx, silence and errors that say 5xx do not."""
    if decoded.outcome is Outcome.THROTTLED or decoded.error_code in _THROTTLE_CODES:
        return Health.THROTTLED
    if decoded.outcome in _DOWN or (exchange.status or 0) >= 500:
        return Health.DOWN
    if decoded.outcome is Outcome.ERROR_BODY and decoded.error_code.startswith("5"):
        return Health.DOWN
    return Health.UP


def permit(state: BreakerState, now: float) -> tuple[BreakerState, bool]:
    """Whether a request may go out now. When the pause is over, exactly one may: the trial."""
    if state.circuit is Circuit.CLOSED:
        return state, True
    if now < state.retry_at:
        return state, False
    trial = BreakerState(Circuit.HALF_OPEN, state.cause, state.failures, state.pause_s, now + TRIAL_S)
    return trial, True


def record(state: BreakerState, now: float, health: Health, wait_s: float | None = None) -> BreakerState:
    """The state after one answer. `wait_s` is what the server asked for, as read from its headers."""
    if health is Health.UP:
        return BreakerState()
    failures = state.failures + 1
    if state.circuit is Circuit.OPEN:
        # A request from before the circuit opened: it tells nothing new, but a longer wait is honoured.
        retry_at = max(state.retry_at, now + (wait_s or 0.0))
        return BreakerState(Circuit.OPEN, state.cause, failures, state.pause_s, retry_at)
    must_open = state.circuit is Circuit.HALF_OPEN or failures >= FAILURES_TO_OPEN or bool(wait_s)
    if not must_open:
        return BreakerState(Circuit.CLOSED, Health.UP, failures, state.pause_s, 0.0)
    pause = min(max(state.pause_s * 2, FIRST_PAUSE_S), LONGEST_PAUSE_S)
    if wait_s is not None and health is Health.THROTTLED:
        pause = min(max(wait_s, 1.0), 3600.0)
    return BreakerState(Circuit.OPEN, health, failures, pause, now + pause)
