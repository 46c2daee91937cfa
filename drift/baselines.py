"""The life of a baseline: taken, valid, void, replaced. Every step leaves its time, its reason and a line to read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext, gettext_noop

from drift import datum, feed
from drift.findings.budgets import limits_of
from drift.findings.gather import Tops, evened_out, whitespace_digests
from drift.findings.judge import State, begun_anew, with_datum
from drift.measure.agreement import divergence
from drift.measure.first_divergence import median_first_divergence
from drift.models import Baseline, Event, Run, Series, SeriesWatch, User
from drift.readings import gives_tokens, pooled_lengths
from drift.said import said

FIRST_RUNS = 12
AFTER_CHANGE_RUNS = 8
LEAST_RUNS = 4


class BaselineError(ValueError):
    """A baseline that cannot be taken so. The message says why and what to do."""


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
    runs = datum.runs_of(baseline)
    if not runs:
        raise BaselineError(gettext("There is no comparable answer in that time."))
    reference = datum.total(run.outputs for run in runs)
    digests = whitespace_digests(output for counts in reference.values() for output in counts)
    baseline.reference = {canary: dict(counts) for canary, counts in reference.items()}
    baseline.normalised = {canary: dict(evened_out(counts, digests)) for canary, counts in reference.items()}
    baseline.identities = dict(datum.summed(run.names for run in runs))
    baseline.prompt_tokens = datum.constant_prompts(baseline)
    baseline.runs_count = len(runs)
    baseline.answers_count = sum(sum(counts.values()) for counts in reference.values())
    baseline.since, baseline.until = runs[0].at, runs[-1].at
    _measure(baseline, reference)
    limits = limits_of(baseline.series)
    state = with_datum(
        state,
        datum.answers_watch(runs, reference, digests, limits),
        datum.logprobs_watch(baseline),
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
        said(
            gettext_noop("Baseline {baseline} is valid: {answers} answers of {runs} runs."),
            baseline=baseline.called,
            answers=baseline.answers_count,
            runs=baseline.runs_count,
        ),
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
        text = said(gettext_noop("Baseline {baseline} is void: {reason}"), baseline=baseline.called, reason=reason)
        feed.note(baseline.series.endpoint, Event.Kind.BASELINE, text, now)
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
                gettext(
                    "A baseline needs at least {least} runs with comparable answers; that time holds {found}. "
                    "Choose a longer time."
                ).format(least=LEAST_RUNS, found=found)
            )
        series.baselines.filter(state=Baseline.State.COLLECTING).update(
            state=Baseline.State.SUPERSEDED, superseded_at=now, reason=said(gettext_noop("replaced by one set by hand"))
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
            state=Baseline.State.SUPERSEDED,
            superseded_at=now,
            reason=said(gettext_noop("a person began a new one")),
            pinned=False,
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


def _measure(baseline: Baseline, reference: datum.Counts) -> None:
    estimate = divergence([list(counts.values()) for counts in reference.values()])
    if estimate:
        baseline.divergence = estimate.value
        baseline.divergence_low, baseline.divergence_high = estimate.low, estimate.high
    pooled = {int(canary): {int(pk): n for pk, n in counts.items()} for canary, counts in reference.items()}
    lengths, _ = pooled_lengths(pooled, gives_tokens(baseline.series))
    baseline.first_divergence = median_first_divergence(lengths)
