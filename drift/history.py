"""A series over time, in hours or days, for charts: what is missing stays missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils.translation import gettext

from drift import figures, latency
from drift.findings.kinds import Family, Kind
from drift.measure.agreement import distinct, modal_share, pair_counts
from drift.models import Canary, CanaryBucket, Finding, Identity, Run, Series, SeriesBucket, Span
from drift.rollups import pooled_output_counts, start_of

STEP: Mapping[str, timedelta] = {Span.HOUR: timedelta(hours=1), Span.DAY: timedelta(days=1)}
HOURS_UP_TO = timedelta(days=8)  # longer windows are told by day


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` up to `end`, in steps of `span`."""

    start: datetime
    end: datetime

    @property
    def span(self) -> Span:
        return Span.HOUR if self.end - self.start <= HOURS_UP_TO else Span.DAY

    @property
    def step(self) -> timedelta:
        return STEP[self.span]

    def starts(self) -> list[datetime]:
        """The start of every hour or day of the window."""
        first = start_of(self.span, self.start)
        count = -((first - self.end) // self.step)
        return [first + self.step * i for i in range(count)]


@dataclass(frozen=True, slots=True)
class Point:
    """One hour or day of a series. None: not known; `samples` 0: nothing was asked."""

    starts_at: datetime
    runs: int = 0
    samples: int = 0
    comparable: int = 0
    divergence: float | None = None
    low: float | None = None
    high: float | None = None
    pairs: int = 0
    pairs_differing: int = 0
    canaries: int = 0
    distinct_mean: float | None = None
    outcomes: Mapping[str, int] | None = None
    identities: Mapping[int, int] | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    completion_tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Lane:
    """One identity over a window: the share of the answers of each hour or day that carried it (0: none)."""

    label: str
    detail: str
    first_seen: datetime
    shares: tuple[float, ...]
    answers: int


@dataclass(frozen=True, slots=True)
class CanaryFigures:
    """One canary over a window, first answers of runs left out."""

    canary: Canary
    answers: int
    distinct: int
    modal_share: float | None
    divergence: float | None
    pairs: int
    pairs_differing: int


@dataclass(frozen=True, slots=True)
class HeatRow:
    canary: Canary
    divergences: tuple[float | None, ...]


def points(series: Series, window: Window) -> list[Point]:
    """Every hour or day of the window, in order, with an empty point where nothing was asked."""
    known = {
        row.starts_at: point_of(row)
        for row in SeriesBucket.objects.filter(
            series=series,
            span=window.span,
            starts_at__gte=start_of(window.span, window.start),
            starts_at__lt=window.end,
        )
    }
    return [known.get(at) or Point(at) for at in window.starts()]


def point_of(row: SeriesBucket) -> Point:
    return Point(
        starts_at=row.starts_at,
        runs=row.runs,
        samples=row.samples,
        comparable=row.comparable,
        divergence=row.divergence,
        low=row.divergence_low,
        high=row.divergence_high,
        pairs=row.pairs,
        pairs_differing=row.pairs_differing,
        canaries=row.canaries,
        distinct_mean=row.distinct_sum / row.groups if row.groups else None,
        outcomes=row.outcomes,
        identities={int(key): count for key, count in row.identities.items()},
        p50_ms=latency.quantile_ms(row.latency, 0.5),
        p95_ms=latency.quantile_ms(row.latency, 0.95),
        completion_tokens=row.completion_tokens,
        cost=float(row.cost),
    )


def lanes(over: Sequence[Point], most: int = 6) -> list[Lane]:
    """The identities that answered most over these points; what is left over shares one last lane."""
    totals: dict[int, int] = {}
    for point in over:
        for identity, count in (point.identities or {}).items():
            totals[identity] = totals.get(identity, 0) + count
    if not totals:
        return []
    ranked = sorted(totals, key=lambda pk: -totals[pk])
    kept = ranked if len(ranked) <= most else ranked[: most - 1]
    rows = Identity.objects.in_bulk(kept)
    found = [
        Lane(rows[pk].label, detail_of(rows[pk]), rows[pk].first_seen, _shares(over, {pk}), totals[pk])
        for pk in kept
        if pk in rows
    ]
    found.sort(key=lambda lane: lane.first_seen)
    if rest := set(ranked) - set(kept):
        count = sum(totals[pk] for pk in rest)
        found.append(
            Lane(gettext("{rest} others").format(rest=len(rest)), "", over[0].starts_at, _shares(over, rest), count)
        )
    return found


def detail_of(identity: Identity) -> str:
    """Everything else an identity says, in a line."""
    model = (
        gettext("no model echoed")
        if identity.model_echo is None
        else gettext("model {model_echo}").format(model_echo=identity.model_echo)
    )
    parts = [
        model,
        identity.upstream and gettext("served by {upstream}").format(upstream=identity.upstream),
        identity.region and gettext("in {region}").format(region=identity.region),
    ]
    return ", ".join(part for part in parts if part)


def _shares(over: Sequence[Point], wanted: set[int]) -> tuple[float, ...]:
    shares = []
    for point in over:
        seen = point.identities or {}
        total = sum(seen.values())
        shares.append(sum(seen.get(pk, 0) for pk in wanted) / total if total else 0.0)
    return tuple(shares)


def canary_buckets(series: Series, window: Window) -> list[CanaryBucket]:
    """The sums by canary and hour or day, in one query for all that is told of them."""
    return list(
        CanaryBucket.objects.filter(
            series=series,
            span=window.span,
            starts_at__gte=start_of(window.span, window.start),
            starts_at__lt=window.end,
        )
    )


def canary_figures(buckets: Sequence[CanaryBucket], canaries: Sequence[Canary]) -> list[CanaryFigures]:
    """Each canary over the window of the buckets, in the order given; zero answers where none came."""
    pooled = pooled_output_counts(buckets)
    rows = []
    for canary in canaries:
        counts = list(pooled.get(canary.pk, {}).values())
        pairs = pair_counts(counts)
        rows.append(
            CanaryFigures(
                canary=canary,
                answers=sum(counts),
                distinct=distinct(counts),
                modal_share=modal_share(counts),
                divergence=pairs.divergence,
                pairs=pairs.total,
                pairs_differing=pairs.differing,
            )
        )
    return rows


def heatmap(buckets: Sequence[CanaryBucket], canaries: Sequence[Canary], window: Window) -> list[HeatRow]:
    """Divergence of each canary in each hour or day of the window; None without a pair."""
    cells: dict[tuple[int, datetime], float | None] = {}
    for bucket in buckets:
        cells[bucket.canary_id, bucket.starts_at] = pair_counts(list(bucket.output_counts.values())).divergence
    starts = window.starts()
    return [HeatRow(canary, tuple(cells.get((canary.pk, at)) for at in starts)) for canary in canaries]


def changes(series: Series, window: Window) -> list[tuple[datetime, str]]:
    """What was found to have changed at the endpoint of the series inside the window, in a few words each."""
    rows = Finding.objects.filter(
        Q(series=series) | Q(series__isnull=True),
        endpoint=series.endpoint_id,
        began_at__gte=window.start,
        began_at__lt=window.end,
    ).order_by("began_at", "pk")
    told: dict[datetime, list[str]] = {}
    for began, kind in rows.values_list("began_at", "kind")[:100]:
        if Kind(kind).opens and Kind(kind).family == Family.CHANGE:
            told.setdefault(began, []).append(Kind(kind).headline)
    return [(at, figures.listed(dict.fromkeys(words))) for at, words in told.items()]


def gaps(series: Series, window: Window) -> list[tuple[datetime, datetime, str]]:
    """Stretches of the window in which slots were missed or runs failed, with the reason, for labels on a chart."""
    runs = (
        Run.objects.filter(
            Q(series=series)
            | Q(series__isnull=True, monitor__endpoint=series.endpoint_id, monitor__suite=series.suite_id),
            state__in=[Run.State.SKIPPED, Run.State.FAILED],
            scheduled_for__gte=window.start,
            scheduled_for__lt=window.end,
        )
        .select_related("monitor")
        .order_by("scheduled_for")[:200]
    )
    stretches: list[tuple[datetime, datetime, str]] = []
    for run in runs:
        length = timedelta(seconds=run.monitor.cadence_s) * max(1, run.missed_slots)
        if length >= window.step * 2:
            stretches.append((run.scheduled_for, run.scheduled_for + length, run.problem or gettext("not asked")))
    return stretches
