"""Whether, when and how to ask again after an answer that is none. Retries are ours, never the SDK's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from drift.answers import Decoded, Exchange, Outcome
from workers.probe.breaker import Health, health_of
from workers.probe.retry_after import wait_seconds

MOST_ATTEMPTS = 3
FIRST_WAIT_S = 1.0

_PASSING = frozenset({Outcome.UNREACHABLE, Outcome.EMPTY_BODY, Outcome.TRUNCATED_STREAM, Outcome.NOT_JSON})
_ORIGIN_TOO_SLOW = 524  # the proxy gave up after 100 s; asking again costs as much and ends the same way


@dataclass(frozen=True, slots=True)
class Retry:
    """Ask again after `wait_s`, leaving out the request fields in `without`."""

    wait_s: float
    without: tuple[str, ...] = ()


def next_attempt(exchange: Exchange, decoded: Decoded, attempt: int, now: datetime) -> Retry | None:
    """What to do after attempt number `attempt` (from 1); None: this answer stands."""
    if attempt >= MOST_ATTEMPTS:
        return None
    if exchange.status == 500 and b'"logprobs"' in exchange.request_body:
        # Some servers fail on scores that JSON cannot hold. Without scores they answer.
        return Retry(0.0, without=("logprobs", "top_logprobs"))
    backoff = FIRST_WAIT_S * 2.0 ** (attempt - 1)
    health = health_of(exchange, decoded)
    if health is Health.THROTTLED:
        asked = wait_seconds(dict(exchange.headers), now)
        return Retry(asked if asked is not None else backoff * 2)
    if exchange.status == _ORIGIN_TOO_SLOW or decoded.outcome is Outcome.TIMEOUT:
        return None
    if health is Health.DOWN or (decoded.outcome in _PASSING and attempt == 1):
        return Retry(backoff)
    return None


def needs_negotiation(exchange: Exchange) -> bool:
    """Whether the endpoint refuses the request as it is written: what it accepts has to be found out again."""
    return exchange.status in (400, 422)
