"""The current figures of a series, over the last 24 hours."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np

from drift import latency
from drift.measure.agreement import divergence, pair_counts, split_text
from drift.measure.first_divergence import median_first_divergence
from drift.measure.horizon import AgreementLengths, agreement_lengths, horizon
from drift.models import CanaryBucket, Output, Reading, Series, SeriesBucket, Span
from drift.rollups import pooled_output_counts, start_of, total_of

WINDOW = timedelta(hours=24)
OUTPUTS_PER_CANARY = 200  # the commonest; beyond that a horizon gains nothing


def refresh(series: Series, now: datetime) -> Reading:
    """Takes the reading of a series anew from its hourly buckets. The caller holds the series' row lock."""
    since = start_of(Span.HOUR, now - WINDOW)
    window = {"series": series, "span": Span.HOUR, "starts_at__gte": since}
    pooled = pooled_output_counts(CanaryBucket.objects.filter(**window))
    totals = list(SeriesBucket.objects.filter(**window))
    counts = [list(outputs.values()) for outputs in pooled.values()]
    estimate = divergence(counts)
    pairs = [pair_counts(each) for each in counts]
    lengths, tokens_known = pooled_lengths(pooled, gives_tokens(series))
    limit = horizon(lengths, np.random.default_rng(series.pk))
    groups = sum(total.groups for total in totals)
    latencies = total_of(total.latency for total in totals)
    reading, _ = Reading.objects.update_or_create(
        series=series,
        defaults={
            "taken_at": now,
            "samples": sum(total.samples for total in totals),
            "comparable": sum(total.comparable for total in totals),
            "divergence": estimate.value if estimate else None,
            "divergence_low": estimate.low if estimate else None,
            "divergence_high": estimate.high if estimate else None,
            "pairs": sum(pair.total for pair in pairs),
            "pairs_differing": sum(pair.differing for pair in pairs),
            "canaries": sum(pair.total > 0 for pair in pairs),
            "canaries_diverging": sum(pair.differing > 0 for pair in pairs),
            "distinct_mean": sum(total.distinct_sum for total in totals) / groups if groups else None,
            "answers_mean": sum(total.answers_sum for total in totals) / groups if groups else None,
            "total_agreement": sum(total.groups_identical for total in totals) / groups if groups else None,
            "first_divergence": median_first_divergence(lengths),
            "horizon": limit.length if limit else None,
            "horizon_low": limit.low if limit else None,
            "horizon_high": limit.high if limit else None,
            "horizon_limit_seen": bool(limit and limit.limit_seen),
            "tokens_known": tokens_known,
            "latency_p50_ms": latency.quantile_ms(latencies, 0.50),
            "latency_p95_ms": latency.quantile_ms(latencies, 0.95),
            "batch_min": min((t.batch_min for t in totals if t.batch_min is not None), default=None),
            "batch_max": max((t.batch_max for t in totals if t.batch_max is not None), default=None),
        },
    )
    return reading


def tokens_of(output: Output) -> tuple[list[bytes], bool]:
    """The answer as tokens, and whether they are the model's own (else the documented split of the text)."""
    if output.token_bytes is None or output.token_ends is None:
        return [piece.encode() for piece in split_text(output.text)], False
    joined = bytes(output.token_bytes)
    starts = [0, *output.token_ends[:-1]]
    return [joined[start:end] for start, end in zip(starts, output.token_ends, strict=True)], True


def gives_tokens(series: Series) -> bool:
    """Whether the series' latest answers came with tokens of their own. Outputs are shared by endpoints: that some
    other endpoint gave the same text with tokens does not say what these tokens were.
    """
    latest = series.samples.filter(output__isnull=False).order_by("-scheduled_for").values_list("run_id", flat=True)[:1]
    return series.samples.filter(run__in=list(latest), logprobs__isnull=False).exists()


def pooled_lengths(pooled: dict[int, dict[int, int]], own_tokens: bool) -> tuple[list[AgreementLengths], bool]:
    """Agreement lengths per canary, and whether every position in them is a real token.

    `own_tokens`: whether the series gives tokens (`gives_tokens`); if not, all texts are split the documented way.
    """
    kept = {
        canary: dict(sorted(counts.items(), key=lambda item: -item[1])[:OUTPUTS_PER_CANARY])
        for canary, counts in pooled.items()
    }
    outputs = Output.objects.in_bulk([pk for counts in kept.values() for pk in counts])
    lengths = []
    all_known = bool(outputs)
    for counts in kept.values():
        rows = [(tokens_of(outputs[pk]), count) for pk, count in counts.items()]
        known = own_tokens and all(is_token for (_, is_token), _ in rows)
        if not known:  # one axis for all answers to a canary
            rows = [(([p.encode() for p in split_text(outputs[pk].text)], False), n) for pk, n in counts.items()]
        all_known = all_known and known
        lengths.append(agreement_lengths([tokens for (tokens, _), _ in rows], [count for _, count in rows]))
    return lengths, all_known
