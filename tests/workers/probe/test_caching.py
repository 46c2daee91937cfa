"""What counts as an answer out of a cache, and what must not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from drift.answers import Decoded, Exchange, Outcome, Transport, Usage
from workers.probe.caching import mark_cached

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
CREATED = int(NOW.timestamp())


def call(
    text: str = "Gravity.",
    *,
    name: str = "",
    created: int | None = None,
    after_s: float = 0.0,
    latency_ms: float = 1000.0,
    tokens: int | None = None,
    asked: bytes = b"{}",
) -> tuple[Decoded, Exchange]:
    decoded = Decoded(1, Outcome.TEXT, text, completion_id=name, created=created, usage=Usage(completion_tokens=tokens))
    started = NOW + timedelta(seconds=after_s)
    return decoded, Exchange(asked, Transport.WHOLE, started, latency_ms, status=200)


def outcomes(*calls: tuple[Decoded, Exchange]) -> list[str]:
    marked = mark_cached([decoded for decoded, _ in calls], [exchange for _, exchange in calls])
    return [decoded.outcome.value for decoded in marked]


def test_the_later_of_two_answers_with_one_id_is_cached() -> None:
    assert outcomes(call(name="a", after_s=5), call(name="a"), call(name="b", after_s=9)) == ["cached", "text", "text"]


def test_an_id_that_a_server_gives_to_different_answers_is_no_evidence() -> None:
    assert outcomes(call(name="a"), call("Moon.", name="a"), call(name="a")) == ["text"] * 3


def test_the_same_id_to_different_questions_is_no_evidence() -> None:
    assert outcomes(call(name="a", asked=b"1"), call(name="a", asked=b"2")) == ["text"] * 2


def test_an_answer_created_before_it_was_asked_for_is_cached() -> None:
    assert outcomes(call(created=CREATED), call(created=CREATED, after_s=10)) == ["text", "cached"]


def test_two_calls_in_flight_together_may_share_their_second() -> None:
    assert outcomes(call(created=CREATED), call(created=CREATED, after_s=0.5)) == ["text", "text"]


def test_a_hard_coded_time_is_no_evidence() -> None:
    assert outcomes(call(created=1), call(created=1, after_s=10)) == ["text", "text"]


def test_an_answer_faster_than_any_model_writes_is_cached() -> None:
    slow, fast = call(latency_ms=2000, tokens=64), call(after_s=3, latency_ms=4, tokens=64)
    assert outcomes(slow, fast) == ["text", "cached"]


def test_a_warm_endpoint_after_a_cold_start_is_not() -> None:
    slow, warm = call(latency_ms=10_000, tokens=64), call(after_s=12, latency_ms=400, tokens=64)
    assert outcomes(slow, warm) == ["text", "text"]


def test_an_endpoint_that_is_always_instant_is_not() -> None:
    assert outcomes(*(call(after_s=n, latency_ms=2 + 20 * (n == 0), tokens=64) for n in range(4))) == ["text"] * 4
