"""Several endpoints over the same weeks: every figure of the compare page, what changed when, and an order as far as
intervals allow one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from drift.alike import Pair
from drift.checkup.side_by_side import open_ranks
from drift.comparison import Compared
from drift.findings import words
from drift.history import Window
from drift.measure.agreement import pair_counts
from drift.measure.intervals import Estimate
from drift.models import CanaryBucket, Finding
from drift.rollups import pooled_output_counts, start_of

MOST_CHANGES = 40


@dataclass(frozen=True, slots=True)
class Change:
    at: datetime
    severity: str
    sentence: str


@dataclass(frozen=True, slots=True)
class OverTime:
    """One hour or day; None where nothing comparable came."""

    at: datetime
    divergence: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Weeks:
    """One endpoint. `rank`: best and worst place by divergence that the comparisons leave open; None without a figure.

    `horizon` is of the last 24 hours; `cost` in dollars, None where it is not known.
    """

    name: str
    provider: str
    model: str
    simulated: bool
    state: str
    suite: str
    divergence: Estimate | None
    pairs: int
    pairs_differing: int
    canaries: int
    distinct_mean: float | None
    answers_mean: float | None
    horizon: int | None
    horizon_limit_seen: bool
    tokens_known: bool
    new_identities: int
    asked: int
    failing: float | None
    p50_ms: float | None
    p95_ms: float | None
    cost: float | None
    rank: tuple[int, int] | None
    changes: tuple[Change, ...]
    changes_in_all: int
    points: tuple[OverTime, ...]


@dataclass(frozen=True, slots=True)
class Alike:
    """Whether two endpoints answer from one distribution: `drift.alike.Pair` by names."""

    endpoint: str
    other: str
    different: bool
    p: float | None
    p_adjusted: float | None
    effect: Estimate | None
    would_have_been_seen: float | None
    canaries: int
    answers: int


@dataclass(frozen=True, slots=True)
class WeeksReport:
    """`comparable`: all were asked the same suite, so one scale and a ranking make sense."""

    start: datetime
    end: datetime
    made_at: datetime
    sentence: str
    comparable: bool
    endpoints: tuple[Weeks, ...]
    pairs: tuple[Alike, ...] = ()


def report(compared: Sequence[Compared], window: Window, now: datetime, pairs: Sequence[Pair] = ()) -> WeeksReport:
    """Two queries more than the comparison itself."""
    same = len({one.series.suite_id for one in compared}) == 1
    shares = _shares(compared, window)
    ranks = open_ranks([shares.get(one.series.pk, {}) for one in compared]) if same else [None] * len(compared)
    changes = _changes(compared, window)
    endpoints = tuple(
        _weeks(one, rank, changes.get(one.series.endpoint_id, [])) for one, rank in zip(compared, ranks, strict=True)
    )
    names = {one.row.public_id: one.row.name for one in compared}
    told = tuple(
        Alike(names[p.a], names[p.b], p.differ, p.p, p.adjusted, p.effect, p.unseen, p.canaries, p.answers)
        for p in pairs
    )
    return WeeksReport(window.start, window.end, now, _sentence(endpoints, same), same, endpoints, told)


def _shares(compared: Sequence[Compared], window: Window) -> Mapping[int, dict[str, float]]:
    """Share of differing pairs by series and canary, pooled over the window."""
    buckets: dict[int, list[CanaryBucket]] = {}
    rows = CanaryBucket.objects.filter(
        series__in=[one.series.pk for one in compared],
        span=window.span,
        starts_at__gte=start_of(window.span, window.start),
        starts_at__lt=window.end,
    )
    for row in rows:
        buckets.setdefault(row.series_id, []).append(row)
    found: dict[int, dict[str, float]] = {}
    for series, mine in buckets.items():
        for canary, counts in pooled_output_counts(mine).items():
            share = pair_counts(list(counts.values())).divergence
            if share is not None:
                found.setdefault(series, {})[str(canary)] = share
    return found


def _changes(compared: Sequence[Compared], window: Window) -> dict[int, list[Change]]:
    """What was found of each endpoint in the window, oldest first."""
    found: dict[int, list[Change]] = {}
    rows = Finding.objects.filter(
        endpoint__in=[one.series.endpoint_id for one in compared],
        found_at__gte=window.start,
        found_at__lt=window.end,
    ).order_by("began_at", "id")
    for row in rows:
        said = words.sentence(row.kind, row.began_at, row.facts)
        found.setdefault(row.endpoint_id, []).append(Change(row.began_at, row.severity, said))
    return found


def _weeks(one: Compared, rank: tuple[int, int] | None, changes: Sequence[Change]) -> Weeks:
    reading = one.row.reading
    return Weeks(
        name=one.row.name,
        provider=one.row.provider,
        model=one.row.model,
        simulated=one.row.simulated,
        state=one.row.state.word,
        suite=str(one.series.suite),
        divergence=one.divergence,
        pairs=one.pairs,
        pairs_differing=one.pairs_differing,
        canaries=one.canaries,
        distinct_mean=one.distinct_mean,
        answers_mean=one.answers_mean,
        horizon=reading.horizon if reading else None,
        horizon_limit_seen=bool(reading and reading.horizon_limit_seen),
        tokens_known=bool(reading and reading.tokens_known),
        new_identities=one.new_identities,
        asked=one.asked,
        failing=one.failing,
        p50_ms=one.p50_ms,
        p95_ms=one.p95_ms,
        cost=one.cost or None,
        rank=rank,
        changes=tuple(changes[-MOST_CHANGES:]),
        changes_in_all=len(changes),
        points=tuple(OverTime(p.starts_at, p.divergence, p.low, p.high) for p in one.points),
    )


def _sentence(endpoints: Sequence[Weeks], same: bool) -> str:
    known = [one for one in endpoints if one.divergence is not None]
    if len(known) < 2:
        return gettext("Not enough answers to compare.")
    if not same:
        return gettext("These endpoints were asked different suites: no common scale, so no ranking.")
    ranked = [one for one in known if one.rank is not None]
    first = [one.name for one in ranked if one.rank and one.rank[1] == 1]
    last = [one.name for one in ranked if one.rank and one.rank[0] == len(ranked)]
    changed = sum(one.changes_in_all > 0 for one in endpoints)
    tail = (
        gettext("{number} of {total} showed a change.").format(number=changed, total=len(endpoints))
        if changed
        else gettext("None showed a change.")
    )
    if first and last:
        said = gettext("{best} repeats best and {worst} least, by more than chance allows. {tail}")
    elif first:
        said = gettext("{best} repeats best, by more than chance allows. {tail}")
    elif last:
        said = gettext("{worst} repeats least, by more than chance allows. {tail}")
    else:
        said = gettext("No order can be told: the differences are within what chance allows. {tail}")
    return said.format(best="".join(first[:1]), worst="".join(last[:1]), tail=tail)
