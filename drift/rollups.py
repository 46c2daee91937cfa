"""Hourly and daily sums of a series, kept up with every run and rebuildable from the samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal

from django.db import transaction

from drift import latency
from drift.measure.agreement import divergence_of_pairs, pair_counts
from drift.models import CanaryBucket, Run, Sample, Series, SeriesBucket, Span


def start_of(span: Span, moment: datetime) -> datetime:
    """The first instant of the UTC hour or day that holds `moment`."""
    hour = moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return hour if span == Span.HOUR else hour.replace(hour=0)


def add_run(series: Series, run: Run, samples: Sequence[Sample]) -> None:
    """Adds one run's samples to the buckets of its slot. The caller holds the series' row lock."""
    for span in Span:
        _add_to_span(series, run, samples, Span(span))


def rebuild(series: Series) -> None:
    """Makes the buckets of a series anew from its samples."""
    with transaction.atomic():
        Series.objects.select_for_update().get(pk=series.pk)
        CanaryBucket.objects.filter(series=series).delete()
        SeriesBucket.objects.filter(series=series).delete()
        for run in Run.objects.filter(series=series, state=Run.State.FINISHED).order_by("scheduled_for").iterator():
            add_run(series, run, list(run.samples.defer("raw", "request", "logprobs", "margins")))


def _add_to_span(series: Series, run: Run, samples: Sequence[Sample], span: Span) -> None:
    starts_at = start_of(span, run.scheduled_for)
    buckets = {
        bucket.canary_id: bucket
        for bucket in CanaryBucket.objects.filter(series=series, span=span, starts_at=starts_at)
    }
    by_canary: dict[int, list[Sample]] = {}
    for sample in samples:
        by_canary.setdefault(sample.canary_id, []).append(sample)
    changed = []
    for canary_id, group in by_canary.items():
        bucket = buckets.setdefault(
            canary_id, CanaryBucket(series=series, canary_id=canary_id, span=span, starts_at=starts_at)
        )
        _add_to_canary(bucket, group)
        changed.append(bucket)
    CanaryBucket.objects.bulk_create(
        changed,
        update_conflicts=True,
        unique_fields=["series", "span", "starts_at", "canary"],
        update_fields=["samples", "output_counts", "cold_counts", "prompt_tokens"],
    )

    total, _ = SeriesBucket.objects.get_or_create(series=series, span=span, starts_at=starts_at)
    _add_to_series(total, samples, by_canary.values())
    pairs = [pair_counts(list(bucket.output_counts.values())) for bucket in buckets.values()]
    estimate = divergence_of_pairs(pairs)
    total.pairs = sum(pair.total for pair in pairs)
    total.pairs_differing = sum(pair.differing for pair in pairs)
    total.canaries = sum(pair.total > 0 for pair in pairs)
    total.divergence = estimate.value if estimate else None
    total.divergence_low = estimate.low if estimate else None
    total.divergence_high = estimate.high if estimate else None
    total.save()


def _add_to_canary(bucket: CanaryBucket, group: Sequence[Sample]) -> None:
    bucket.samples += len(group)
    warm = Counter(str(s.output_id) for s in group if s.output_id and not s.cold)
    cold = Counter(str(s.output_id) for s in group if s.output_id and s.cold)
    prompts = Counter(str(s.prompt_tokens) for s in group if s.prompt_tokens is not None)
    bucket.output_counts = latency.added(bucket.output_counts, warm)
    bucket.cold_counts = latency.added(bucket.cold_counts, cold)
    bucket.prompt_tokens = latency.added(bucket.prompt_tokens, prompts)


def _add_to_series(total: SeriesBucket, samples: Sequence[Sample], groups: Iterable[Sequence[Sample]]) -> None:
    comparable = [sample for sample in samples if sample.output_id]
    total.runs += 1
    total.samples += len(samples)
    total.comparable += len(comparable)
    total.outcomes = latency.added(total.outcomes, Counter(str(s.outcome) for s in samples))
    total.identities = latency.added(total.identities, Counter(str(s.identity_id) for s in samples if s.identity_id))
    total.latency = latency.added(total.latency, Counter(str(latency.bucket(s.latency_ms)) for s in comparable))
    total.completion_tokens += sum(s.completion_tokens or 0 for s in samples)
    total.prompt_tokens += sum(s.prompt_tokens or 0 for s in samples)
    total.cost += sum((s.cost for s in samples if s.cost is not None), Decimal(0))
    sizes = [size for s in samples for size in s.batch_sizes or ()]
    if sizes:
        total.batch_min = min(sizes) if total.batch_min is None else min(total.batch_min, *sizes)
        total.batch_max = max(sizes) if total.batch_max is None else max(total.batch_max, *sizes)
    for group in groups:
        outputs = [s.output_id for s in group if s.output_id]
        if len(outputs) >= 2:
            total.groups += 1
            total.groups_identical += len(set(outputs)) == 1
            total.distinct_sum += len(set(outputs))
            total.answers_sum += len(outputs)


def pooled_output_counts(buckets: Iterable[CanaryBucket]) -> dict[int, dict[int, int]]:
    """Warm answers per canary and output over several buckets: {canary id: {output id: answers}}."""
    pooled: dict[int, dict[int, int]] = {}
    for bucket in buckets:
        counts = pooled.setdefault(bucket.canary_id, {})
        for output, count in bucket.output_counts.items():
            counts[int(output)] = counts.get(int(output), 0) + count
    return pooled


def total_of(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Several {key: count} maps together."""
    total: dict[str, int] = {}
    for each in counts:
        total = latency.added(total, each)
    return total
