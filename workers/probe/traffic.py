"""How a run shares its endpoint with all other runs: it takes places, keeps pace, and stops when the circuit opens."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from django.utils.translation import gettext_noop

from drift import traffic
from drift.answers import Decoded, Exchange
from drift.claims import lease as run_lease
from drift.models import Endpoint
from drift.said import said
from workers.probe import breaker, limits
from workers.probe.retry_after import wait_seconds


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a run may not ask now. `resting`: the circuit is open; otherwise all places are taken."""

    resting: bool
    why: str


class Holder(Protocol):
    """A run, as far as sharing goes: the name of its leases, and how many places it wants."""

    @property
    def pk(self) -> Any: ...
    @property
    def concurrency(self) -> int: ...


class Share:
    """One run's share of its endpoint. `enter`, `keep`, `pace` and `leave` speak to the database; the rest does not."""

    def __init__(self, endpoint: Endpoint, run: Holder) -> None:
        self._endpoint = endpoint
        self._run = run
        self._rule = limits.LimitRule(concurrency=endpoint.max_concurrency)
        self._pace = limits.LimitRule(concurrency=10_000, per_minute=endpoint.requests_per_minute)
        self._leases: list[str] = []
        self._breaker = breaker.BreakerState()
        self._last_failure = ""

    @property
    def places(self) -> int:
        """Requests this run may have in flight."""
        return len(self._leases)

    @property
    def on_trial(self) -> bool:
        """The circuit was open and its pause is over: one request decides."""
        return self._breaker.circuit is breaker.Circuit.HALF_OPEN

    @property
    def paced(self) -> bool:
        return self._pace.per_minute is not None

    def enter(self) -> Refusal | None:
        """Takes up to the run's concurrency in places; a refusal if the circuit is open or none is free."""
        now = time.time()
        with traffic.locked(self._endpoint.pk) as row:
            self._breaker, may_ask = breaker.permit(breaker.BreakerState.from_json(row.breaker), now)
            if not may_ask:
                until = datetime.fromtimestamp(self._breaker.retry_at, UTC)
                return Refusal(
                    True,
                    said(
                        gettext_noop("the endpoint is {cause}; it is asked again after {until} UTC"),
                        cause=said(self._breaker.cause.value),
                        until=f"{until:%H:%M}",
                    ),
                )
            row.breaker = self._breaker.as_json()
            state = limits.LimitState.from_json(row.limits)
            refused: limits.Wait | None = None
            for index in range(self._run.concurrency):
                lease = f"{self._run.pk}:{index}"
                state, refused = limits.acquire(state, self._rule, lease, now, run_lease().total_seconds())
                if refused is not None:
                    break
                self._leases.append(lease)
            row.limits = state.as_json()
        if not self._leases:
            return Refusal(False, said(gettext_noop("all of the endpoint's places are taken by other runs")))
        return None

    def keep(self) -> None:
        """Prolongs the places while the run goes on."""
        now = time.time()
        with traffic.locked(self._endpoint.pk) as row:
            state = limits.LimitState.from_json(row.limits)
            for lease in self._leases:
                state, _ = limits.acquire(state, self._rule, lease, now, run_lease().total_seconds())
            row.limits = state.as_json()

    def pace(self) -> float:
        """Seconds to wait until the next request may start; 0 takes the start. Only for endpoints with a rate."""
        now = time.time()
        with traffic.locked(self._endpoint.pk) as row:
            state = limits.LimitState.from_json(row.limits)
            state, wait = limits.acquire(state, self._pace, "start", now, 0.0)
            row.limits = limits.release(state, "start").as_json()
        return wait.seconds if wait is not None else 0.0

    def may_go_on(self) -> bool:
        """Whether the circuit is still closed."""
        return self._breaker.circuit is not breaker.Circuit.OPEN

    def note(self, exchange: Exchange, decoded: Decoded) -> None:
        """Counts one answer in the breaker."""
        health = breaker.health_of(exchange, decoded)
        wait = wait_seconds(dict(exchange.headers), datetime.now(UTC)) if health is breaker.Health.THROTTLED else None
        self._breaker = breaker.record(self._breaker, time.time(), health, wait)
        if health is not breaker.Health.UP:
            self._last_failure = decoded.error_message or exchange.error_detail

    def leave(self) -> None:
        """Gives the places back and leaves the breaker's state for the others."""
        with traffic.locked(self._endpoint.pk) as row:
            state = limits.LimitState.from_json(row.limits)
            for lease in self._leases:
                state = limits.release(state, lease)
            row.limits = state.as_json()
            row.breaker = self._breaker.as_json()
        closed = self._breaker.circuit is breaker.Circuit.CLOSED
        traffic.show_circuit(
            self._endpoint.pk,
            circuit=self._breaker.circuit,
            failures=self._breaker.failures,
            until=None if closed else datetime.fromtimestamp(self._breaker.retry_at, UTC),
            reason=""
            if closed
            else said(
                gettext_noop("{cause}: {why}"), cause=said(self._breaker.cause.value), why=self._last_failure[:280]
            ),
        )
