"""What a team sees first: every endpoint with its state in a word, and one sentence over all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import TypeVar

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.functions import JSONObject, RowNumber

from drift.cards import Card, cards
from drift.costs import this_month
from drift.incidents import UNRESOLVED
from drift.models import (
    Baseline,
    Endpoint,
    Identity,
    Incident,
    Monitor,
    Reading,
    Run,
    SeriesBucket,
    Span,
    SuiteCanary,
    Team,
)
from drift.rollups import start_of
from drift.rows import REMEMBERED, Cell, Datum, IdentityNow, Row, Running, identity_now
from drift.states import State, canaries_of, changed_since, state_of
from drift.verdict import Verdict, verdict

T = TypeVar("T")

SPANS: Mapping[str, timedelta] = {Span.HOUR: timedelta(hours=24), Span.DAY: timedelta(days=30)}


@dataclass(frozen=True, slots=True)
class Overview:
    """`rows`: every endpoint, worst first. `shown`: those asked for, with their cells; `kept`: how many fitted.

    `cards`: the unresolved incidents of these endpoints. `ceiling`: one scale for all sparklines, so that rows compare.
    """

    rows: tuple[Row, ...]
    shown: tuple[Row, ...]
    kept: int
    cards: tuple[Card, ...]
    verdict: Verdict
    span: Span
    taken_at: datetime
    ceiling: float


def overview(
    team: Team,
    now: datetime,
    span: Span | None = None,
    keeps: Callable[[Row], bool] = lambda row: True,
    most: int | None = None,
) -> Overview:
    """Every endpoint of the team that is not archived. Costs eight queries, whatever the history.

    Of the rows that `keeps` lets through, the first `most` are shown; only they get their history drawn.
    """
    return read(list(_endpoints(team)), now, span, keeps, most)


def read(
    endpoints: Sequence[Endpoint],
    now: datetime,
    span: Span | None = None,
    keeps: Callable[[Row], bool] = lambda row: True,
    most: int | None = None,
) -> Overview:
    """The same for chosen endpoints of one team, in seven queries."""
    ids = [endpoint.pk for endpoint in endpoints]
    monitors = _grouped(_monitors(ids), "endpoint_id")
    readings = _grouped(_readings(ids), "endpoint_id")
    identities = _grouped(_identities(ids, now), "endpoint_id")
    told = cards(Incident.objects.filter(endpoints__in=ids, state__in=UNRESOLVED).distinct()) if ids else []

    spent = this_month(ids, now)
    rows = []
    for endpoint in endpoints:
        own = monitors.get(endpoint.pk, [])
        monitor, reading = _primary(own, readings.get(endpoint.pk, []))
        identity = identity_now(identities.get(endpoint.pk, []), now)
        incidents = tuple(card.incident for card in told if endpoint.pk in card.endpoints)
        state, reason = state_of(endpoint, own, reading, incidents, now)
        row = _row(endpoint, own, monitor, reading, identity, incidents, state, reason)
        rows.append(replace(row, cost_this_month=spent.get(endpoint.pk)))
    rows.sort(key=_worst_first)

    fitting = [row for row in rows if keeps(row)]
    span, shown = _with_cells(fitting[:most], span, now)
    by_endpoint = {row.endpoint_id: row for row in shown}
    return Overview(
        rows=tuple(by_endpoint.get(row.endpoint_id, row) for row in rows),
        shown=tuple(shown),
        kept=len(fitting),
        cards=tuple(told),
        verdict=verdict(rows, told, now),
        span=span,
        taken_at=now,
        ceiling=_ceiling(shown),
    )


def _with_cells(rows: Sequence[Row], span: Span | None, now: datetime) -> tuple[Span, list[Row]]:
    buckets = _buckets([row.reading.series_id for row in rows if row.reading is not None], now)
    span = span or _span_with_history(buckets, now)
    filled = []
    for row in rows:
        known = buckets.get((row.reading.series_id, span), []) if row.reading else []
        filled.append(replace(row, cells=_cells(known, span, now, changed_since(row.incidents))))
    return span, filled


def _ceiling(rows: Sequence[Row]) -> float:
    known = [cell.divergence for row in rows for cell in row.cells if cell.divergence is not None]
    return min(1.0, max([0.05, *known]) * 1.15)


def _worst_first(row: Row) -> tuple[int, float, str]:
    return row.state.rank, -((row.reading and row.reading.divergence) or 0), row.name.lower()


def _row(
    endpoint: Endpoint,
    monitors: Sequence[Monitor],
    monitor: Monitor | None,
    reading: Reading | None,
    identity: IdentityNow,
    incidents: tuple[Incident, ...],
    state: State,
    reason: str,
) -> Row:
    open_run = next((m.open_run for m in monitors if m.open_run), None)  # type: ignore[attr-defined]
    datum = getattr(reading, "datum", None)
    return Row(
        endpoint_id=endpoint.pk,
        public_id=endpoint.public_id,
        name=endpoint.name,
        provider=endpoint.provider,
        model=endpoint.model,
        tags=tuple(endpoint.tags),
        simulated=endpoint.simulated,
        in_house=endpoint.in_house,
        temperature_zero=endpoint.parameters.get("temperature") == 0,
        state=state,
        reason=reason,
        identity=identity,
        reading=reading,
        monitor=monitor,
        other_monitors=max(0, len(monitors) - 1),
        last_finished_at=max((m.last_finished_at for m in monitors if m.last_finished_at), default=None),  # type: ignore[attr-defined]
        last_state=monitor.last_state or "" if monitor else "",  # type: ignore[attr-defined]
        next_due_at=min((m.next_due_at for m in monitors if m.active), default=None),
        running=Running(**open_run) if open_run else None,
        expected=monitor.repeats * canaries_of(monitor) if monitor else 0,
        incidents=incidents,
        datum=Datum(**datum) if datum else None,
    )


def _endpoints(team: Team) -> QuerySet[Endpoint]:
    return Endpoint.objects.filter(team=team, archived_at__isnull=True).defer("api_key", "ca_bundle", "extra_headers")


def _monitors(endpoints: Sequence[int]) -> QuerySet[Monitor]:
    ended = Run.objects.filter(monitor=OuterRef("pk"), finished_at__isnull=False).order_by("-finished_at")
    canaries = (
        SuiteCanary.objects.filter(suite=OuterRef("suite"))
        .order_by()
        .values("suite")
        .annotate(n=Count("pk"))
        .values("n")
    )
    open_states = [Run.State.DUE, Run.State.RUNNING]
    going_on = Run.objects.filter(monitor=OuterRef("pk"), state__in=open_states).order_by("-scheduled_for")
    return (
        Monitor.objects.filter(endpoint__in=endpoints)
        .select_related("suite")
        .annotate(
            last_finished_at=Subquery(ended.values("finished_at")[:1]),
            last_state=Subquery(ended.values("state")[:1]),
            canaries_count=Subquery(canaries),
            open_run=Subquery(going_on.values(found=JSONObject(state="state", samples_done="samples_done"))[:1]),
        )
        .order_by("endpoint_id", "-active", "created_at")
    )


def _readings(endpoints: Sequence[int]) -> QuerySet[Reading]:
    datum = JSONObject(state="state", name="name", runs_count="runs_count", wanted_runs="wanted_runs")
    in_force = Baseline.objects.filter(series=OuterRef("series_id")).exclude(state=Baseline.State.SUPERSEDED)
    return (
        Reading.objects.filter(series__endpoint__in=endpoints)
        .annotate(
            endpoint_id=F("series__endpoint_id"),
            suite_id=F("series__suite_id"),
            watching=F("series__watch__watching"),
            datum=Subquery(in_force.order_by("-since", "-pk").values(found=datum)[:1]),
        )
        .order_by("endpoint_id", "-taken_at")
    )


def _identities(endpoints: Sequence[int], now: datetime) -> QuerySet[Identity]:
    return (
        Identity.objects.filter(endpoint__in=endpoints, last_seen__gte=now - REMEMBERED)
        .annotate(
            place=Window(RowNumber(), partition_by=F("endpoint_id"), order_by=F("last_seen").desc()),
            values_known=Window(Count("pk"), partition_by=F("endpoint_id")),
        )
        .filter(place__lte=12)
        .order_by("endpoint_id", "-last_seen")
    )


def _buckets(series: Sequence[int], now: datetime) -> dict[tuple[int, str], list[Cell]]:
    """Hours and days of each series, as one row of arrays per series and span."""
    wanted = Q()
    for span, length in SPANS.items():
        wanted |= Q(span=span, starts_at__gt=start_of(Span(span), now) - length)
    columns = ("starts_at", "divergence", "divergence_low", "divergence_high", "comparable", "samples")
    arrays = {f"{column}_all": ArrayAgg(column, order_by="starts_at") for column in columns}
    rows = (
        SeriesBucket.objects.filter(wanted, series__in=series).order_by().values("series_id", "span").annotate(**arrays)
    )
    return {
        (row["series_id"], row["span"]): [
            Cell(at, "failing" if comparable * 2 < samples else "answered", value, low, high, comparable, samples)
            for at, value, low, high, comparable, samples in zip(
                *(row[f"{column}_all"] for column in columns),  # type: ignore[literal-required]
                strict=True,
            )
        ]
        for row in rows
    }


def _span_with_history(buckets: Mapping[tuple[int, str], list[Cell]], now: datetime) -> Span:
    """Days once any series has three of them; hours before."""
    old = now - timedelta(days=2)
    days = any(cells[0].starts_at < old for (_, span), cells in buckets.items() if span == Span.DAY)
    return Span.DAY if days else Span.HOUR


def _cells(cells: Iterable[Cell], span: Span, now: datetime, changed: datetime | None) -> tuple[Cell, ...]:
    """Every hour or day of the window, the missing ones as gaps; from an unresolved change on they are `changed`."""
    step = timedelta(hours=1) if span == Span.HOUR else timedelta(days=1)
    length = SPANS[span] // step
    last = start_of(span, now)
    known = {cell.starts_at: cell for cell in cells}
    changed_from = start_of(span, changed) if changed else None
    filled = []
    for back in reversed(range(length)):
        at = last - step * back
        cell = known.get(at) or Cell(at, "gap")
        if changed_from and at >= changed_from and cell.kind == "answered":
            cell = replace(cell, kind="changed")
        filled.append(cell)
    return tuple(filled)


def _primary(monitors: Sequence[Monitor], readings: Sequence[Reading]) -> tuple[Monitor | None, Reading | None]:
    """The monitor a row speaks of (the first active one) and the latest reading of its suite."""
    for monitor in monitors:
        for reading in readings:
            if reading.suite_id == monitor.suite_id:  # type: ignore[attr-defined]
                return monitor, reading
    return (monitors[0] if monitors else None), (readings[0] if readings else None)


def _grouped(rows: Iterable[T], key: str) -> dict[int, list[T]]:
    return {value: list(group) for value, group in groupby(rows, key=lambda row: getattr(row, key))}
