"""Limits, waits, retries and the circuit breaker: pure rules that every worker shares."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.answers import Decoded, Exchange, Outcome, Transport
from workers.probe.breaker import BreakerState, Circuit, Health, health_of, permit, record
from workers.probe.limits import LimitRule, LimitState, Reason, Wait, acquire, hold_off, release
from workers.probe.retry import next_attempt
from workers.probe.retry_after import LONGEST_WAIT_S, parse_wait, wait_seconds

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2ms", 0.002),
        ("0s", 0),
        ("12.967s", 12.967),
        ("1m13.588s", 73.588),
        ("20m52.666s", 1252.666),
        ("17.399999999s", 17.399999999),
        ("26ms", 0.026),
        ("500", 500),
        ("7", 7),
        ("2", 2),
        ("6m0s", 360),
        ("1h30m", LONGEST_WAIT_S),
        ("2026-11-29T12:00:30Z", 30),
        ("2026-11-29T13:00:30+01:00", 30),
        ("Sun, 29 Nov 2026 12:00:10 GMT", 10),
        (str(int(NOW.timestamp()) + 45), 45),
        (str(int(NOW.timestamp() * 1000) + 1500), 1.5),
        ("2020-01-01T00:00:00Z", 0),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("1e9", None),
        ("nan", None),
    ],
)
def test_every_form_of_a_wait_is_read(text: str, seconds: float | None) -> None:
    assert parse_wait(text, NOW) == (None if seconds is None else pytest.approx(seconds, abs=1e-6))


@given(st.text(max_size=200))
def test_no_text_makes_reading_a_wait_fail(text: str) -> None:
    seconds = parse_wait(text, NOW)
    assert seconds is None or 0 <= seconds <= LONGEST_WAIT_S
    wait_seconds({"retry-after": text, "retry-after-ms": text, "x-ratelimit-reset-requests": text}, NOW)


def test_a_reset_counts_only_where_the_allowance_is_spent() -> None:
    headers = {
        "x-ratelimit-reset-requests": "6m0s",
        "x-ratelimit-remaining-requests": "10",
        "x-ratelimit-reset-tokens": "3s",
        "x-ratelimit-remaining-tokens": "0",
    }
    assert wait_seconds(headers, NOW) == 3


def test_no_more_requests_run_at_once_than_the_endpoint_tolerates_whoever_asks() -> None:
    state, rule = LimitState(), LimitRule(concurrency=2)
    state, first = acquire(state, rule, "a", now=0, lease_s=60)
    state, second = acquire(state, rule, "b", now=0, lease_s=60)
    state, third = acquire(state, rule, "c", now=0, lease_s=60)
    assert (first, second) == (None, None)
    assert isinstance(third, Wait)
    assert third.reason is Reason.CONCURRENCY
    state = release(state, "a")
    assert acquire(state, rule, "c", now=1, lease_s=60)[1] is None


def test_a_killed_workers_place_is_free_once_its_lease_is_over() -> None:
    state, _ = acquire(LimitState(), LimitRule(concurrency=1), "a", now=0, lease_s=60)
    assert acquire(state, LimitRule(concurrency=1), "b", now=59, lease_s=60)[1] is not None
    assert acquire(state, LimitRule(concurrency=1), "b", now=61, lease_s=60)[1] is None


def test_starts_are_spaced_to_the_rate_per_minute() -> None:
    state, rule, starts, now = LimitState(), LimitRule(concurrency=99, per_minute=30), 0, 0.0
    while now < 60:
        state, wait = acquire(state, rule, f"{now}", now, lease_s=1)
        starts += wait is None
        now += 0.25
    assert starts == 30


def test_a_servers_wish_holds_everyone_off_and_is_never_shortened() -> None:
    state = hold_off(hold_off(LimitState(), 0, 30), 1, 5)
    wait = acquire(state, LimitRule(), "a", now=10, lease_s=60)[1]
    assert wait == Wait(20, Reason.RETRY_AFTER)
    assert acquire(state, LimitRule(), "a", now=30.5, lease_s=60)[1] is None


def test_limits_and_breaker_survive_their_row() -> None:
    limits, _ = acquire(hold_off(LimitState(), 0, 1), LimitRule(per_minute=5), "a", now=2, lease_s=60)
    assert LimitState.from_json(limits.as_json()) == limits
    assert LimitState.from_json({}) == LimitState()
    breaker = record(BreakerState(), 5, Health.THROTTLED, 12)
    assert BreakerState.from_json(breaker.as_json()) == breaker
    assert BreakerState.from_json({}) == BreakerState()


def test_the_circuit_opens_after_failures_in_a_row_and_one_trial_closes_it() -> None:
    state = BreakerState()
    for second in range(4):
        state = record(state, second, Health.DOWN)
        assert permit(state, second)[1]
    state = record(state, 4, Health.DOWN)
    assert (state.circuit, state.cause) == (Circuit.OPEN, Health.DOWN)
    assert not permit(state, 33)[1]
    state, allowed = permit(state, 35)
    assert allowed
    assert state.circuit is Circuit.HALF_OPEN
    assert not permit(state, 36)[1], "only one trial at a time"
    assert record(state, 37, Health.UP) == BreakerState()


def test_each_failed_trial_doubles_the_pause_up_to_a_limit() -> None:
    state, now, pauses = BreakerState(), 0.0, []
    for _ in range(5):
        state = record(state, now, Health.DOWN)
    for _ in range(8):
        pauses.append(state.pause_s)
        now = state.retry_at
        state, _ = permit(state, now)
        state = record(state, now, Health.DOWN)
    assert pauses == [30, 60, 120, 240, 480, 900, 900, 900]


def test_a_throttling_server_is_left_alone_as_long_as_it_asked() -> None:
    state = record(BreakerState(), 100, Health.THROTTLED, wait_s=42)
    assert (state.circuit, state.cause) == (Circuit.OPEN, Health.THROTTLED)
    assert not permit(state, 141)[1]
    assert permit(state, 142)[1]


def test_successes_between_failures_keep_the_circuit_closed() -> None:
    state = BreakerState()
    for second in range(50):
        state = record(state, second, Health.DOWN if second % 4 else Health.UP)
    assert state.circuit is Circuit.CLOSED


def test_a_trial_that_never_reports_back_makes_room_for_another() -> None:
    state = record(BreakerState(), 0, Health.THROTTLED, wait_s=1)
    state, _ = permit(state, 2)
    assert not permit(state, 100)[1]
    assert permit(state, 400)[1]


def exchange(status: int | None, body: bytes = b"", headers: tuple[tuple[str, str], ...] = ()) -> Exchange:
    return Exchange(b'{"model":"m"}', Transport.WHOLE, NOW, 10.0, status=status, body=body, headers=headers)


@pytest.mark.parametrize(
    ("status", "outcome", "code", "health"),
    [
        (429, Outcome.THROTTLED, "", Health.THROTTLED),
        (200, Outcome.ERROR_BODY, "429", Health.THROTTLED),
        (200, Outcome.ERROR_BODY, "502", Health.DOWN),
        (503, Outcome.HTTP_ERROR, "", Health.DOWN),
        (None, Outcome.UNREACHABLE, "", Health.DOWN),
        (None, Outcome.TIMEOUT, "", Health.DOWN),
        (400, Outcome.HTTP_ERROR, "", Health.UP),
        (401, Outcome.HTTP_ERROR, "", Health.UP),
        (200, Outcome.TEXT, "", Health.UP),
        (200, Outcome.FILTERED, "", Health.UP),
    ],
)
def test_throttled_and_down_are_states_of_the_endpoint(
    status: int | None, outcome: Outcome, code: str, health: Health
) -> None:
    assert health_of(exchange(status), Decoded(1, outcome, error_code=code)) is health


def test_a_throttled_request_is_repeated_when_the_server_says() -> None:
    retry = next_attempt(exchange(429, headers=(("retry-after", "9"),)), Decoded(1, Outcome.THROTTLED), 1, NOW)
    assert retry is not None
    assert retry.wait_s == 9


def test_an_answer_is_never_asked_for_again() -> None:
    assert next_attempt(exchange(200), Decoded(1, Outcome.TEXT), 1, NOW) is None


def test_a_refusal_is_not_repeated_as_it_is() -> None:
    assert next_attempt(exchange(400), Decoded(1, Outcome.HTTP_ERROR), 1, NOW) is None
