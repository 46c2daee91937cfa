"""The life of a baseline: taken, valid, void, replaced. Every step leaves its time, its reason and a line to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from drift import feed
from drift.findings.answer_rules import Answers, Logprobs
from drift.findings.budgets import limits_of
from drift.findings.evidence import Limits
from drift.findings.gather import Tops, distance_of, evened_out, name_of, share_departing, whitespace_digests
from drift.findings.judge import State, begun_anew, with_datum
from drift.findings.tracker import Run as WatchedRun
from drift.findings.tracker import Tracker
from drift.measure.agreement import divergence
from drift.measure.first_divergence import median_first_divergence
from drift.models import Baseline, Event, Identity, Run, Sample, Series, SeriesWatch, User
from drift.readings import pooled_lengths

FIRST_RUNS = 12
AFTER_CHANGE_RUNS = 8
LEAST_RUNS = 4
MOST_RUNS = 5000

Counts = dict[str, Counter[str]]


class BaselineError(ValueError):
    """A baseline that cannot be taken so. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class RunCounts:
    """One run of a datum: {canary: {output: answers}} and {name: answers}."""

    at: datetime
    outputs: Counts
    names: Counter[str]


def current(series: Series) -> Baseline | None:
    """The baseline that is valid, else the one being taken."""
    rows = {
        baseline.state: baseline
        for baseline in series.baselines.filter(state__in=[Baseline.State.VALID, Baseline.State.COLLECTING])
    }
    return rows.get(Baseline.State.VALID) or rows.get(Baseline.State.COLLECTING)


def begin(series: Series, since: datetime, origin: str, wanted: int = FIRST_RUNS, **fields: Any) -> Baseline:
    """Starts taking a baseline from the runs at and after `since`."""
    return Baseline.objects.create(series=series, since=since, origin=origin, wanted_runs=wanted, **fields)


def collect(baseline: Baseline, at: datetime, tops: Mapping[str, Tops], comparable: int) -> None:
    """Adds one run to a baseline being taken: how far it is, and the log probabilities, which samples do not keep."""
    for canary, top in tops.items():
        baseline.first_tokens.setdefault(canary, []).append(top)
    baseline.runs_count += 1
    baseline.answers_count += comparable
    baseline.until = at
    baseline.save(update_fields=["first_tokens", "runs_count", "answers_count", "until"])


def freeze(baseline: Baseline, state: State, now: datetime) -> State:
    """Makes a baseline valid from the runs it covers; the state that watches against it. Replaces an earlier one.

    The departure of each of its own runs is taken from the other runs, so that it compares with that of later runs.
    """
    runs = _runs(baseline)
    if not runs:
        raise BaselineError("There is no comparable answer in that time.")
    reference = _total(run.outputs for run in runs)
    digests = whitespace_digests(output for counts in reference.values() for output in counts)
    baseline.reference = {canary: dict(counts) for canary, counts in reference.items()}
    baseline.normalised = {canary: dict(evened_out(counts, digests)) for canary, counts in reference.items()}
    baseline.identities = dict(_summed(run.names for run in runs))
    baseline.prompt_tokens = _constant_prompts(baseline)
    baseline.runs_count = len(runs)
    baseline.answers_count = sum(sum(counts.values()) for counts in reference.values())
    baseline.since, baseline.until = runs[0].at, runs[-1].at
    _measure(baseline, reference)
    limits = limits_of(baseline.series)
    state = with_datum(
        state,
        _answers(runs, reference, digests, limits),
        _logprobs(baseline),
        [(run.at, run.names) for run in runs],
        baseline.prompt_tokens,
        limits,
    )
    _supersede(baseline.series, now)
    baseline.state = Baseline.State.VALID
    baseline.valid_at = now
    baseline.save()
    feed.note(
        baseline.series.endpoint,
        Event.Kind.BASELINE,
        f"Baseline {baseline} is valid: {baseline.answers_count} answers of {baseline.runs_count} runs.",
        now,
    )
    return state


def invalidate(baseline: Baseline, reason: str, evidence: Mapping[str, Any], now: datetime) -> None:
    """Voids a valid baseline; one that is still being taken is thrown away, since it mixes before and after."""
    was_valid = baseline.state == Baseline.State.VALID
    baseline.state = Baseline.State.INVALIDATED if was_valid else Baseline.State.SUPERSEDED
    baseline.reason = reason
    baseline.evidence = {**baseline.evidence, **evidence}
    baseline.pinned = False
    if was_valid:
        baseline.invalidated_at = now
        feed.note(baseline.series.endpoint, Event.Kind.BASELINE, f"Baseline {baseline} is void: {reason}", now)
    else:
        baseline.superseded_at = now
    baseline.save()


def _supersede(series: Series, now: datetime) -> None:
    series.baselines.filter(state__in=[Baseline.State.VALID, Baseline.State.INVALIDATED]).update(
        state=Baseline.State.SUPERSEDED, superseded_at=now, pinned=False
    )


def set_by_hand(
    series: Series,
    since: datetime,
    until: datetime,
    user: User | None,
    now: datetime,
    name: str = "",
    pin: bool = False,
) -> Baseline:
    """'This week is the datum': a valid baseline from the finished runs of a time that has passed.

    Raises BaselineError where that time holds too few runs.
    """
    with transaction.atomic():
        series = Series.objects.select_for_update().select_related("endpoint__team").get(pk=series.pk)
        found = Run.objects.filter(
            series=series,
            state=Run.State.FINISHED,
            samples_comparable__gt=0,
            scheduled_for__gte=since,
            scheduled_for__lte=until,
        ).count()
        if found < LEAST_RUNS:
            raise BaselineError(
                f"A baseline needs at least {LEAST_RUNS} runs with comparable answers; that time holds {found}. "
                "Choose a longer time."
            )
        series.baselines.filter(state=Baseline.State.COLLECTING).update(
            state=Baseline.State.SUPERSEDED, superseded_at=now, reason="replaced by one set by hand"
        )
        baseline = Baseline(
            series=series,
            since=since,
            until=until,
            origin=Baseline.Origin.PERSON,
            wanted_runs=min(found, 30_000),
            created_by=user,
            name=name,
            pinned=pin,
        )
        watch, _ = SeriesWatch.objects.get_or_create(series=series, defaults={"updated_at": now})
        # the valid one steps down first: the database allows one
        _supersede(series, now)
        state = freeze(baseline, begun_anew(State.from_numbers(watch.state)), now)
        watch.state = state.to_numbers()
        watch.updated_at = now
        watch.save()
    return baseline


def take_now(series: Series, user: User | None, now: datetime) -> Baseline:
    """Begins a fresh baseline from the next run on; the one there is replaced."""
    with transaction.atomic():
        Series.objects.select_for_update().get(pk=series.pk)
        series.baselines.filter(state__in=[Baseline.State.VALID, Baseline.State.COLLECTING]).update(
            state=Baseline.State.SUPERSEDED, superseded_at=now, reason="a person began a new one", pinned=False
        )
        baseline = begin(series, now, Baseline.Origin.PERSON, created_by=user)
        watch, _ = SeriesWatch.objects.get_or_create(series=series, defaults={"updated_at": now})
        watch.state = begun_anew(State.from_numbers(watch.state)).to_numbers()
        watch.updated_at = now
        watch.save()
    return baseline


def rename(baseline: Baseline, name: str) -> None:
    baseline.name = name
    baseline.save(update_fields=["name"])


def pin(baseline: Baseline, pinned: bool) -> None:
    baseline.pinned = pinned
    baseline.save(update_fields=["pinned"])


def _runs(baseline: Baseline) -> list[RunCounts]:
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


def _total(runs: Any) -> Counts:
    total: Counts = {}
    for outputs in runs:
        for canary, counts in outputs.items():
            total.setdefault(canary, Counter()).update(counts)
    return total


def _summed(counters: Any) -> Counter[str]:
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def _answers(
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


def _logprobs(baseline: Baseline) -> Logprobs | None:
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


def _constant_prompts(baseline: Baseline) -> dict[str, int]:
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


def _measure(baseline: Baseline, reference: Counts) -> None:
    estimate = divergence([list(counts.values()) for counts in reference.values()])
    if estimate:
        baseline.divergence = estimate.value
        baseline.divergence_low, baseline.divergence_high = estimate.low, estimate.high
    pooled = {int(canary): {int(pk): n for pk, n in counts.items()} for canary, counts in reference.items()}
    lengths, _ = pooled_lengths(pooled)
    baseline.first_divergence = median_first_divergence(lengths)
