"""The answers of a baseline, counted, and what later runs are watched against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from drift.findings.answer_rules import Answers, Logprobs
from drift.findings.evidence import Limits
from drift.findings.gather import distance_of, evened_out, name_of, share_departing
from drift.findings.tracker import Run as WatchedRun
from drift.findings.tracker import Tracker
from drift.models import Baseline, Identity, Run, Sample

MOST_RUNS = 5000

Counts = dict[str, Counter[str]]


@dataclass(frozen=True, slots=True)
class RunCounts:
    """One run of a datum: {canary: {output: answers}} and {name: answers}."""

    at: datetime
    outputs: Counts
    names: Counter[str]


def runs_of(baseline: Baseline) -> list[RunCounts]:
    """The finished runs of a baseline's time that have comparable answers, the oldest first."""
    rows = Run.objects.filter(
        series=baseline.series_id,
        state=Run.State.FINISHED,
        samples_comparable__gt=0,
        scheduled_for__gte=baseline.since,
    ).order_by("scheduled_for")
    if baseline.until is not None:
        rows = rows.filter(scheduled_for__lte=baseline.until)
    order = dict(rows.values_list("pk", "scheduled_for")[:MOST_RUNS])
    names: dict[int, Counter[str]] = {pk: Counter() for pk in order}
    warm: dict[int, Counts] = {pk: {} for pk in order}
    cold: dict[int, Counts] = {pk: {} for pk in order}
    keys = {row.pk: name_of(row).key() for row in Identity.objects.filter(endpoint=baseline.series.endpoint_id)}
    samples = Sample.objects.filter(
        series=baseline.series_id, scheduled_for__gte=min(order.values(), default=baseline.since), run__in=list(order)
    ).values_list("run_id", "canary_id", "output_id", "cold", "identity_id")
    for run, canary, output, is_cold, identity in samples.iterator():
        if identity is not None:
            names[run][keys[identity]] += 1
        if output is not None:
            (cold if is_cold else warm)[run].setdefault(str(canary), Counter())[str(output)] += 1
    return [RunCounts(at, {**cold[pk], **warm[pk]}, names[pk]) for pk, at in order.items()]


def total(runs: Any) -> Counts:
    total: Counts = {}
    for outputs in runs:
        for canary, counts in outputs.items():
            total.setdefault(canary, Counter()).update(counts)
    return total


def summed(counters: Any) -> Counter[str]:
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def answers_watch(
    runs: Sequence[RunCounts], reference: Counts, digests: Mapping[str, str], limits: Limits
) -> Answers | None:
    """The watch over departing answers. Each run is compared with all the others."""
    facts, normalised, answers = [], 0.0, 0.0
    for run in runs:
        differing = size = 0.0
        for canary, counts in run.outputs.items():
            others = reference[canary] - counts
            share = share_departing(others, counts)
            even = share_departing(evened_out(others, digests), evened_out(counts, digests))
            if share is None or even is None:
                continue
            number = sum(counts.values())
            differing, size = differing + share * number, size + number
            normalised, answers = normalised + even * number, answers + number
        if size:
            facts.append(WatchedRun(run.at, differing, size))
    tracker = Tracker.begin(facts, limits.miss) if facts else None
    return Answers(tracker, normalised / answers) if tracker and answers else None


def logprobs_watch(baseline: Baseline) -> Logprobs | None:
    """The watch over first tokens, from each run's distance from the others."""
    length = max((len(tops) for tops in baseline.first_tokens.values()), default=0)
    scores = []
    for index in range(length):
        rest = {c: tops[:index] + tops[index + 1 :] for c, tops in baseline.first_tokens.items() if len(tops) > index}
        own = {canary: tops[index] for canary, tops in baseline.first_tokens.items() if len(tops) > index}
        score = distance_of(rest, own)
        if score is not None:
            scores.append(score)
    return Logprobs.begin(scores, baseline.until or baseline.since)


def constant_prompts(baseline: Baseline) -> dict[str, int]:
    rows = (
        Sample.objects.filter(
            series=baseline.series_id,
            scheduled_for__gte=baseline.since,
            scheduled_for__lte=baseline.until or baseline.since,
            output__isnull=False,
            prompt_tokens__isnull=False,
        )
        .values_list("canary_id", "prompt_tokens")
        .distinct()
    )
    told: dict[str, set[int]] = {}
    for canary, count in rows:
        told.setdefault(str(canary), set()).add(count or 0)
    return {canary: next(iter(counts)) for canary, counts in told.items() if len(counts) == 1}
