"""The rules applied to a run, inside the transaction that records it: baseline, findings, incidents, extra samples."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import Sum
from django.utils.translation import gettext_noop

from drift import baselines, feed, incidents
from drift.answers import Decoded
from drift.findings import explain
from drift.findings.budgets import limits_of
from drift.findings.evidence import Found
from drift.findings.gather import evidence_of, first_tokens
from drift.findings.judge import Judgement, State, judge, watching
from drift.findings.kinds import Kind
from drift.findings.requests import request_changed
from drift.findings.words import label
from drift.models import Baseline, Event, Finding, Monitor, Run, Sample, Series, SeriesBucket, SeriesWatch, Span
from drift.rollups import start_of
from drift.said import found as said_of
from drift.said import in_facts, said

log = logging.getLogger(__name__)

LEAST_EXTRA_LEFT = 0.1  # extra samples leave this share of the day's tokens to the schedule
MOST_EXTRA_A_DAY = 40


def after_run(run: Run, series: Series, samples: Sequence[Sample], decoded: Sequence[Decoded], now: datetime) -> None:
    """Judges a finished run. The caller holds the series' row lock and has written everything else of the run.

    All or nothing of it is kept. A fault in the rules costs the judgement and not the answers, and is told in the feed.
    """
    try:
        with transaction.atomic():
            _judge(run, series, samples, decoded, now)
    except DatabaseError:
        raise
    except Exception as error:
        log.exception("run %s could not be judged; its answers are kept", run.public_id)
        text = said(
            gettext_noop("A run of {name} could not be judged ({error}); its answers are kept."),
            name=series.endpoint.name,
            error=type(error).__name__,
        )
        feed.note(series.endpoint, Event.Kind.FINDING, text, now)


def _judge(run: Run, series: Series, samples: Sequence[Sample], decoded: Sequence[Decoded], now: datetime) -> None:
    watch, _ = SeriesWatch.objects.get_or_create(series=series, defaults={"updated_at": now})
    state = State.from_numbers(watch.state)
    baseline = baselines.current(series)
    if baseline is None:
        origin = Baseline.Origin.FIRST if not series.baselines.exists() else Baseline.Origin.AFTER_CHANGE
        baseline = baselines.begin(series, run.scheduled_for, origin)
        state = replace(state, wanted=baseline.wanted_runs)
    valid = baseline if baseline.state == Baseline.State.VALID else None
    evidence = evidence_of(run, samples, decoded, valid)
    judgement = judge(state, evidence, limits_of(series))
    if valid is None and evidence.comparable and not any(found.kind.voids for found in judgement.found):
        baselines.collect(baseline, run.scheduled_for, first_tokens(samples, decoded), evidence.comparable)
    first_of_series = baseline.origin == Baseline.Origin.FIRST and not watch.state
    findings = [_finding(found, run, series, valid, now) for found in judgement.found]
    for finding, found in zip(findings, judgement.found, strict=True):
        _explain(finding, found, series, valid)
    state = judgement.state
    voiding = next((finding for finding in findings if finding.voids), None)
    if voiding is not None:
        state = _void(baseline, voiding, findings, state, now)
    if judgement.ready and voiding is None:
        state, verdict = _freeze(baseline, state, run, now)
        findings += verdict
    watch.state = state.to_numbers()
    watch.watching = label(watching(state)) if watching(state) else ""
    watch.updated_at = now
    watch.save()
    if first_of_series and (asked := request_changed(series, run, now)) is not None:
        findings.append(asked)
    incidents.file(findings, now)
    if _wants_more(judgement, state, baseline, voiding):
        ask_again(run.monitor, now)


def ask_again(monitor: Monitor, now: datetime) -> Run | None:
    """An extra run due at once. None where one is open already, the monitor rests, or the day's budget is used up."""
    if not monitor.active or Run.objects.filter(monitor=monitor, state__in=[Run.State.DUE, Run.State.RUNNING]).exists():
        return None
    today = start_of(Span.DAY, now)
    extra = Run.objects.filter(monitor=monitor, origin=Run.Origin.EXTRA, scheduled_for__gte=today).count()
    if extra >= MOST_EXTRA_A_DAY or not _affordable(monitor, today):
        return None
    run = Run(
        monitor=monitor,
        scheduled_for=now,
        origin=Run.Origin.EXTRA,
        repeats=monitor.repeats,
        concurrency=monitor.concurrency,
    )
    Run.objects.bulk_create([run], ignore_conflicts=True)
    return run


def _affordable(monitor: Monitor, today: datetime) -> bool:
    if monitor.tokens_per_day is None:
        return True
    used = SeriesBucket.objects.filter(
        series__endpoint=monitor.endpoint_id, series__suite=monitor.suite_id, span=Span.DAY, starts_at=today
    ).aggregate(out=Sum("completion_tokens"), asked=Sum("prompt_tokens"))
    return (used["out"] or 0) + (used["asked"] or 0) < (1 - LEAST_EXTRA_LEFT) * monitor.tokens_per_day


def _wants_more(judgement: Judgement, state: State, baseline: Baseline, voiding: Finding | None) -> bool:
    if judgement.extra or voiding is not None:
        return True
    # a datum after a change is taken at once, half of it in extra runs, so that pipelines can trust again soon
    after_change = baseline.state == Baseline.State.COLLECTING and baseline.origin == Baseline.Origin.AFTER_CHANGE
    return after_change and not state.service.down and baseline.runs_count < baseline.wanted_runs // 2


def _finding(found: Found, run: Run, series: Series, valid: Baseline | None, now: datetime) -> Finding:
    return Finding(
        team_id=series.endpoint.team_id,
        endpoint=series.endpoint,
        series=series,
        run=run,
        baseline=valid,
        kind=found.kind,
        severity=found.kind.severity,
        began_at=found.began,
        found_at=now,
        voids=found.kind.voids,
        chance=found.chance,
        facts=dict(found.facts),
    )


def _explain(finding: Finding, found: Found, series: Series, valid: Baseline | None) -> None:
    """Adds what people need to see for themselves: the clearest pair of answers, before and after."""
    if found.kind is Kind.RECOVERY and (since := found.facts.get("down_since")):
        finding.facts["down_for"] = in_facts(finding.found_at - datetime.fromisoformat(since))
    if valid is None or not (found.kind.voids or found.kind is Kind.BEHAVIOURAL):
        return
    after = explain.counts_since(series, finding.began_at)
    finding.facts |= explain.first_parting(valid.reference, after)


def _void(baseline: Baseline, voiding: Finding, findings: list[Finding], state: State, now: datetime) -> State:
    """The baseline ends; the next is taken from the first run after the change."""
    moved = any(f.kind in (Kind.BEHAVIOURAL, Kind.SILENT_CHANGE, Kind.FORMATTING) for f in findings)
    reason = said_of(voiding.kind, voiding.began_at, voiding.facts)
    was_valid = baseline.state == Baseline.State.VALID
    baselines.invalidate(baseline, reason, {"kind": voiding.kind, "chance": voiding.chance, **voiding.facts}, now)
    compare: dict[str, Any] = {"moved": moved}
    earlier = baseline.pk if was_valid else baseline.evidence.get("compare_with")
    if earlier is not None:
        compare["compare_with"] = earlier
    baselines.begin(
        baseline.series,
        voiding.began_at,
        Baseline.Origin.AFTER_CHANGE,
        wanted=baselines.AFTER_CHANGE_RUNS,
        evidence=compare,
        runs_count=state.collected or 0,
    )
    return replace(state, wanted=baselines.AFTER_CHANGE_RUNS)


def _freeze(baseline: Baseline, state: State, run: Run, now: datetime) -> tuple[State, list[Finding]]:
    """The baseline becomes valid; after a change of names, whether the answers moved with it is told."""
    try:
        state = baselines.freeze(baseline, state, now)
    except baselines.BaselineError:
        return state, []
    earlier = Baseline.objects.filter(pk=baseline.evidence.get("compare_with")).first()
    if earlier is None or baseline.evidence.get("moved"):
        return state, []
    seen = explain.verdict(earlier, baseline)
    if not seen:
        return state, []
    kind = Kind.BEHAVIOURAL if seen["moved"] else Kind.COSMETIC
    facts = seen | (explain.first_parting(earlier.reference, baseline.reference) if seen["moved"] else {})
    found = Found(kind, baseline.since, seen["p"] if seen["moved"] else None, facts)
    return state, [_finding(found, run, baseline.series, earlier, now)]
