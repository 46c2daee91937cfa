"""Catches answers that came from a cache: they would make drift look like zero.

Prompt caching by a provider is not meant here: there every answer is sampled afresh.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from drift.answers import COMPARABLE, Decoded, Exchange, Outcome

CLOCK_SLACK = timedelta(seconds=2)
PLAUSIBLE_CLOCK = timedelta(days=2)
COLLAPSE = 10.0
FASTEST_TOKENS_PER_S = 5_000.0
FEWEST_TOKENS = 16
SLOW_MS = 250.0
"""Below this the slowest answer was no slower than a connection being made; nothing has collapsed."""


def mark_cached(decoded: Sequence[Decoded], exchanges: Sequence[Exchange]) -> list[Decoded]:
    """The answers of one run with the repeats out of a cache marked CACHED, in the order given.

    The earliest of identical answers stays; a later one is marked when it shares with an earlier one - the
    completion id, which servers draw per answer; - `created`, though it was asked for well after the earlier
    one had arrived; - nothing but its text, yet arrived ten times as fast and faster than any model writes.
    Ids and times that a server hard-codes do not count: they repeat over answers that differ, or name an
    impossible time.
    """
    marked = list(decoded)
    constant_ids = _ids_of_different_answers(decoded)
    for members in _same_request_same_answer(decoded, exchanges):
        slowest_ms = max(exchanges[index].latency_ms for index in members)
        for position, index in enumerate(members):
            evidence = next(
                filter(
                    None,
                    (
                        _shared_id(decoded, earlier, index, constant_ids)
                        or _shared_time(decoded, exchanges, earlier, index)
                        for earlier in members[:position]
                    ),
                ),
                "",
            )
            evidence = evidence or (_too_fast(decoded[index], exchanges[index], slowest_ms) if position else "")
            if evidence:
                marked[index] = replace(decoded[index], outcome=Outcome.CACHED, cache_evidence=evidence)
    return marked


def _same_request_same_answer(decoded: Sequence[Decoded], exchanges: Sequence[Exchange]) -> Iterator[list[int]]:
    """Indices of comparable answers, grouped by what was asked and what was answered, earliest first."""
    groups: dict[tuple[bytes, str], list[int]] = defaultdict(list)
    for index, (answer, exchange) in enumerate(zip(decoded, exchanges, strict=True)):
        if answer.outcome in COMPARABLE:
            groups[exchange.request_body, answer.compared].append(index)
    for members in groups.values():
        if len(members) > 1:
            yield sorted(members, key=lambda index: exchanges[index].started_at)


def _ids_of_different_answers(decoded: Sequence[Decoded]) -> frozenset[str]:
    answers: dict[str, set[str]] = defaultdict(set)
    for answer in decoded:
        if answer.outcome in COMPARABLE:
            answers[answer.completion_id].add(answer.compared)
    return frozenset(name for name, texts in answers.items() if len(texts) > 1 or not name)


def _shared_id(decoded: Sequence[Decoded], earlier: int, later: int, constant: frozenset[str]) -> str:
    name = decoded[later].completion_id
    if name in constant or name != decoded[earlier].completion_id:
        return ""
    return f"the completion id {name} came twice"


def _shared_time(decoded: Sequence[Decoded], exchanges: Sequence[Exchange], earlier: int, later: int) -> str:
    created = decoded[later].created
    if not created or created != decoded[earlier].created:
        return ""
    first = exchanges[earlier]
    if abs(created - first.started_at.timestamp()) > PLAUSIBLE_CLOCK.total_seconds():
        return ""
    arrived = first.started_at + timedelta(milliseconds=first.latency_ms)
    if exchanges[later].started_at < arrived + CLOCK_SLACK:
        return ""
    return f"created at {created}, before it was asked for"


def _too_fast(answer: Decoded, exchange: Exchange, slowest_ms: float) -> str:
    tokens = answer.usage.completion_tokens or 0
    latency_ms = exchange.latency_ms
    if tokens < FEWEST_TOKENS or slowest_ms < SLOW_MS or latency_ms * COLLAPSE > slowest_ms:
        return ""
    rate = tokens / max(latency_ms / 1000, 1e-6)
    return f"{tokens} tokens in {latency_ms:.0f} ms" if rate >= FASTEST_TOKENS_PER_S else ""
