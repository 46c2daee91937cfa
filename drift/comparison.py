"""Several endpoints over the same window: the figures of each, pooled from its hourly or daily sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import TypeVar

from drift import latency
from drift.answers import COMPARABLE
from drift.history import Point, Window, point_of
from drift.measure.agreement import divergence_of_pairs, pair_counts
from drift.measure.intervals import Estimate
from drift.models import CanaryBucket, Identity, Series, SeriesBucket, Team
from drift.overview import overview
from drift.rollups import pooled_output_counts, start_of, total_of
from drift.rows import Row

MOST = 8
Bucket = TypeVar("Bucket", SeriesBucket, CanaryBucket)


@dataclass(frozen=True, slots=True)
class Compared:
    """One endpoint over the window."""

    row: Row
    series: Series
    divergence: Estimate | None
    pairs: int
    pairs_differing: int
    canaries: int
    distinct_mean: float | None
    answers_mean: float | None
    new_identities: int
    asked: int
    comparable: int
    p50_ms: float | None
    p95_ms: float | None
    cost: float
    points: tuple[Point, ...]

    @property
    def failing(self) -> float | None:
        """The share of requests without a comparable answer."""
        return 1 - self.comparable / self.asked if self.asked else None


def compare(rows: Sequence[Row], series: Mapping[str, Series], window: Window) -> list[Compared]:
    """The rows in their order, each by the series given for it (by endpoint id). Four queries."""
    chosen = [(row, series[str(row.public_id)]) for row in rows if str(row.public_id) in series]
    ids = [one.pk for _, one in chosen]
    wanted = {
        "series__in": ids,
        "span": window.span,
        "starts_at__gte": start_of(window.span, window.start),
        "starts_at__lt": window.end,
    }
    buckets = _by_series(SeriesBucket.objects.filter(**wanted).order_by("series_id", "starts_at"))
    canaries = _by_series(CanaryBucket.objects.filter(**wanted).order_by("series_id"))
    fresh = _new_identities([one for _, one in chosen], window)
    compared = []
    for row, one in chosen:
        mine = buckets.get(one.pk, [])
        pairs = [
            pair_counts(list(counts.values())) for counts in pooled_output_counts(canaries.get(one.pk, [])).values()
        ]
        groups = sum(bucket.groups for bucket in mine)
        times = total_of(bucket.latency for bucket in mine)
        outcomes = total_of(bucket.outcomes for bucket in mine)
        points = {bucket.starts_at: point_of(bucket) for bucket in mine}
        compared.append(
            Compared(
                row=row,
                series=one,
                divergence=divergence_of_pairs(pairs),
                pairs=sum(pair.total for pair in pairs),
                pairs_differing=sum(pair.differing for pair in pairs),
                canaries=sum(pair.total > 0 for pair in pairs),
                distinct_mean=sum(bucket.distinct_sum for bucket in mine) / groups if groups else None,
                answers_mean=sum(bucket.answers_sum for bucket in mine) / groups if groups else None,
                new_identities=fresh.get(one.endpoint_id, 0),
                asked=sum(outcomes.values()),
                comparable=sum(count for kind, count in outcomes.items() if kind in COMPARABLE),
                p50_ms=latency.quantile_ms(times, 0.5),
                p95_ms=latency.quantile_ms(times, 0.95),
                cost=sum(float(bucket.cost) for bucket in mine),
                points=tuple(points.get(at) or Point(at) for at in window.starts()),
            )
        )
    return compared


def measured(team: Team, now: datetime) -> list[Row]:
    """The team's endpoints that have figures to compare, worst first."""
    return [row for row in overview(team, now).rows if row.reading]


def compare_rows(rows: Sequence[Row], window: Window) -> list[Compared]:
    """Each by the series of its current reading."""
    ids = [row.reading.series_id for row in rows if row.reading]
    series = Series.objects.filter(pk__in=ids).select_related("endpoint", "suite")
    return compare(rows, {str(one.endpoint.public_id): one for one in series}, window)


def _new_identities(series: Sequence[Series], window: Window) -> dict[int, int]:
    """Per endpoint, identities first seen inside the window, the first hour of an endpoint's life left out."""
    born: dict[int, datetime] = {}
    fresh: dict[int, int] = {}
    rows = Identity.objects.filter(endpoint__in=[one.endpoint_id for one in series]).order_by("first_seen")
    for endpoint, seen in rows.values_list("endpoint_id", "first_seen"):
        first = born.setdefault(endpoint, seen)
        if seen > first + timedelta(hours=1) and window.start <= seen < window.end:
            fresh[endpoint] = fresh.get(endpoint, 0) + 1
    return fresh


def _by_series(rows: Iterable[Bucket]) -> dict[int, list[Bucket]]:
    return {key: list(group) for key, group in groupby(rows, key=lambda row: row.series_id)}
