"""Cold against warm prefix, and answers that come out of a cache."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drift.answers import Outcome
from drift.checkup.taken import Examination, Kind, Taken
from drift.measure.intervals import Estimate, at_most, student_t, wilson


@dataclass(frozen=True, slots=True)
class Prefix:
    """`excess`: how much more often a cold answer differs from a warm one than two warm ones do, over fresh prompts.

    `hits`: share of warm requests for which cached tokens were reported; None where they never are. `cached_share`: of
    a hit's prompt. `faster`: median cold over median warm latency.
    """

    prompts: int
    excess: Estimate | None
    cold_differs: Estimate | None
    hits: Estimate | None
    cached_share: float | None
    faster: float | None
    same_prompt: bool | None


@dataclass(frozen=True, slots=True)
class Caching:
    """Answers served from a cache of answers instead of being computed. `share` over all repeats that came."""

    cached: int
    share: Estimate | None
    evidence: tuple[str, ...]


def prefix(examination: Examination) -> Prefix | None:
    """None where no fresh prompts were asked three times."""
    stage = examination.stage(Kind.PREFIX)
    if stage is None:
        return None
    prompts: dict[str, dict[int, Taken]] = {}
    for answer in stage.answers:
        if answer.comparable:
            prompts.setdefault(answer.question, {})[answer.repeat] = answer
    full = [answers for answers in prompts.values() if {0, 1, 2} <= set(answers)]
    if not full:
        return None
    said = [[answers[i].decoded.compared for i in range(3)] for answers in full]
    cold = [(float(a != b) + float(a != c)) / 2 for a, b, c in said]
    excess = [one - float(b != c) for one, (_, b, c) in zip(cold, said, strict=True)]
    counts = [[answers[i].decoded.usage for i in range(3)] for answers in full]
    reported = [(u.cached_tokens, u.prompt_tokens) for row in counts for u in row[1:] if u.cached_tokens is not None]
    hits = [(cached, whole) for cached, whole in reported if cached]
    sizes = [{u.prompt_tokens for u in row} for row in counts]
    return Prefix(
        prompts=len(full),
        excess=_mean(excess),
        cold_differs=wilson(sum(value > 0 for value in cold), len(cold)),
        hits=wilson(len(hits), len(reported)) if reported else None,
        cached_share=float(np.mean([cached / whole for cached, whole in hits if whole])) if hits else None,
        faster=_faster(full),
        same_prompt=None if any(None in one for one in sizes) else all(len(one) == 1 for one in sizes),
    )


def caching(examination: Examination) -> Caching:
    answers = [one.decoded for stage in examination.stages for one in stage.answers]
    cached = [one for one in answers if one.outcome is Outcome.CACHED]
    came = len(cached) + sum(one.comparable for stage in examination.stages for one in stage.answers)
    seen = dict.fromkeys(one.cache_evidence for one in cached if one.cache_evidence)
    return Caching(len(cached), wilson(len(cached), came), tuple(list(seen)[:3]))


def _mean(values: list[float]) -> Estimate | None:
    """Student's t; where all values are equal, the share of prompts that could differ unseen is allowed for."""
    found = student_t(values)
    if found is None or float(np.ptp(values)) > 1e-12:
        return found
    unseen = at_most(len(values)) or 1.0
    return Estimate(found.value, max(-1.0, found.value - unseen), min(1.0, found.value + unseen), len(values))


def _faster(full: list[dict[int, Taken]]) -> float | None:
    cold = [row[0].latency_ms for row in full if row[0].latency_ms]
    warm = [row[i].latency_ms for row in full for i in (1, 2) if row[i].latency_ms]
    if not cold or not warm:
        return None
    ratio: float = float(np.median([v for v in cold if v])) / float(np.median([v for v in warm if v]))
    return ratio
