"""How many requests one endpoint gets at once and per minute, whichever worker sends them.

Pure rules: state in, state out. The state lives in one database row per endpoint, read and written under its
lock. Times are Unix seconds of one clock (the database's).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class Reason(StrEnum):
    CONCURRENCY = "concurrency"
    RATE = "rate"
    RETRY_AFTER = "retry_after"


@dataclass(frozen=True, slots=True)
class LimitRule:
    """What an endpoint tolerates. `per_minute` None: no limit of ours on the rate."""

    concurrency: int = 4
    per_minute: float | None = None


@dataclass(frozen=True, slots=True)
class LimitState:
    """`leases`: (lease id, expiry). `next_start`: when the steady rate next has room. `blocked_until`: the
    server's wish.
    """

    leases: tuple[tuple[str, float], ...] = ()
    next_start: float = 0.0
    blocked_until: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return {
            "leases": [list(lease) for lease in self.leases],
            "next_start": self.next_start,
            "blocked_until": self.blocked_until,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> LimitState:
        """The state stored by `as_json`; an empty mapping is the state of an endpoint never asked."""
        return cls(
            tuple((str(lease), float(expiry)) for lease, expiry in value.get("leases", ())),
            float(value.get("next_start", 0.0)),
            float(value.get("blocked_until", 0.0)),
        )


@dataclass(frozen=True, slots=True)
class Wait:
    """Not now: try again in `seconds`."""

    seconds: float
    reason: Reason


def acquire(
    state: LimitState, rule: LimitRule, lease: str, now: float, lease_s: float
) -> tuple[LimitState, Wait | None]:
    """Takes a place for one request under the id `lease`, or says how long to wait.

    The lease expires by itself after `lease_s`, so that a killed worker does not keep its place. Starts are
    spaced by 60 / per_minute seconds (generic cell rate algorithm, burst 1).
    """
    live = tuple((held, expiry) for held, expiry in state.leases if expiry > now and held != lease)
    state = replace(state, leases=live)
    if state.blocked_until > now:
        return state, Wait(state.blocked_until - now, Reason.RETRY_AFTER)
    if len(live) >= max(rule.concurrency, 1):
        return state, Wait(min(min(expiry for _, expiry in live) - now, 1.0), Reason.CONCURRENCY)
    next_start = state.next_start
    if rule.per_minute is not None and rule.per_minute > 0:
        if next_start > now:
            return state, Wait(next_start - now, Reason.RATE)
        next_start = now + 60.0 / rule.per_minute
    return LimitState((*live, (lease, now + lease_s)), next_start, state.blocked_until), None


def release(state: LimitState, lease: str) -> LimitState:
    """Gives the place back. Unknown and expired leases are no error."""
    return replace(state, leases=tuple(held for held in state.leases if held[0] != lease))


def hold_off(state: LimitState, now: float, seconds: float) -> LimitState:
    """Nobody starts for `seconds`: the server asked for it. A shorter wish never shortens an earlier one."""
    return replace(state, blocked_until=max(state.blocked_until, now + seconds))
