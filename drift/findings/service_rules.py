"""Whether an endpoint answers at all, freshly, and counts the prompt as before. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from drift.findings.evidence import Evidence, Found
from drift.findings.kinds import Kind

IN_A_ROW = 2  # runs that say the same before it is believed, in either direction
MOSTLY = 0.5
HARDLY = 0.1


@dataclass(frozen=True, slots=True)
class Service:
    """Streaks of runs, and what is believed. `down`: '' or the kind that was found."""

    failing: int = 0
    gone: int = 0
    answering: int = 0
    since: datetime | None = None
    down: str = ""
    cached_runs: int = 0
    fresh_runs: int = 0
    cached_since: datetime | None = None
    cached: bool = False
    prompt_tokens: Mapping[str, int] = field(default_factory=dict)
    counted_otherwise: int = 0
    counted_since: datetime | None = None

    def to_numbers(self) -> dict[str, Any]:
        return {
            "failing": self.failing,
            "gone": self.gone,
            "answering": self.answering,
            "since": _text(self.since),
            "down": self.down,
            "cached_runs": self.cached_runs,
            "fresh_runs": self.fresh_runs,
            "cached_since": _text(self.cached_since),
            "cached": self.cached,
            "prompt_tokens": dict(self.prompt_tokens),
            "counted_otherwise": self.counted_otherwise,
            "counted_since": _text(self.counted_since),
        }

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, Any]) -> Service:
        times = {name: _time(numbers[name]) for name in ("since", "cached_since", "counted_since")}
        return cls(**{**numbers, **times})


def answered(before: Service, run: Evidence) -> tuple[Service, tuple[Found, ...]]:
    """OUTAGE or RETIRED after two runs without one comparable answer, RECOVERY after two that mostly had them.

    Answers from a cache count as neither: they come from something that stands before the endpoint.
    """
    if run.answers and not run.comparable and run.failed and not run.cached:
        gone = before.gone + 1 if run.model_gone else 0
        after = replace(before, failing=before.failing + 1, gone=gone, answering=0, since=before.since or run.at)
        if before.down or after.failing < IN_A_ROW:
            return after, ()
        kind = Kind.RETIRED if gone >= IN_A_ROW else Kind.OUTAGE
        found = Found(kind, after.since or run.at, facts={"why": run.why, "answers": run.answers})
        return replace(after, down=kind.value), (found,)
    if run.comparable < MOSTLY * run.answers or not run.comparable:
        return replace(before, failing=0, gone=0), ()
    after = replace(before, failing=0, gone=0, answering=before.answering + 1)
    if not before.down:
        return replace(after, since=None), ()
    if after.answering < IN_A_ROW:
        return after, ()
    found = Found(Kind.RECOVERY, run.at, facts={"down_since": _text(before.since), "was": before.down})
    return replace(after, down="", since=None), (found,)


def fresh(before: Service, run: Evidence) -> tuple[Service, tuple[Found, ...]]:
    """CACHED after two runs with half of the answers from a cache, UNCACHED after two with hardly any."""
    if not run.answers:
        return before, ()
    share = run.cached / run.answers
    if share >= MOSTLY:
        runs = before.cached_runs + 1
        after = replace(before, cached_runs=runs, fresh_runs=0, cached_since=before.cached_since or run.at)
        if before.cached or runs < IN_A_ROW:
            return after, ()
        facts = {"cached": run.cached, "answers": run.answers, "why": run.why}
        return replace(after, cached=True), (Found(Kind.CACHED, after.cached_since or run.at, facts=facts),)
    if share > HARDLY:
        return replace(before, cached_runs=0, fresh_runs=0), ()
    after = replace(before, cached_runs=0, fresh_runs=before.fresh_runs + 1)
    if not before.cached:
        return replace(after, cached_since=None), ()
    if after.fresh_runs < IN_A_ROW:
        return after, ()
    found = Found(Kind.UNCACHED, run.at, facts={"cached_since": _text(before.cached_since)})
    return replace(after, cached=False, cached_since=None), (found,)


def counted(before: Service, run: Evidence) -> tuple[Service, tuple[Found, ...], bool]:
    """PROMPT_TOKENS when half of the canaries report another count of the very same prompt, in two runs.

    The count has no noise: it moves with the template or the tokeniser. The third value: samples are wanted at once.
    """
    known = before.prompt_tokens
    told = {canary: count for canary, count in run.prompt_tokens.items() if count is not None}
    if not known:
        return replace(before, prompt_tokens=told), (), False
    moved = {canary: count for canary, count in told.items() if canary in known and count != known[canary]}
    asked = sum(canary in known for canary in told)
    if not asked:
        return before, (), False
    if not moved or len(moved) < MOSTLY * asked:
        learnt = {**{canary: count for canary, count in told.items() if canary not in known}, **known}
        return replace(before, prompt_tokens=learnt, counted_otherwise=0, counted_since=None), (), False
    runs = before.counted_otherwise + 1
    since = before.counted_since or run.at
    if runs < IN_A_ROW:
        return replace(before, counted_otherwise=runs, counted_since=since), (), True
    canary = min(moved)
    facts = {"canaries": len(moved), "asked": asked, "canary": canary, "old": known[canary], "new": moved[canary]}
    after = replace(before, prompt_tokens={**known, **told}, counted_otherwise=0, counted_since=None)
    return after, (Found(Kind.PROMPT_TOKENS, since, facts=facts),), True


def _text(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
