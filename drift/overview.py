"""What a team sees first: every endpoint with its state in a word, and one sentence over all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, TypeVar

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, F, Func, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum, Window
from django.db.models.functions import JSONObject, RowNumber

from drift.cards import Card, cards
from drift.costs import first_of_month
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

SHOWN = (
    "public_id",
    "team",
    "name",
    "provider",
    "model",
    "tags",
    "simulated",
    "in_house",
    "parameters",
    "circuit",
    "failures_in_a_row",
    "rest_reason",
)
"""What a row shows of its endpoint; hundreds of rows would take longer with the rest of the columns."""

FEW_DAYS = timedelta(days=2)  # hours are shown until something was seen longer ago than this

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
    """Every endpoint of the team that is not archived. Costs seven queries, whatever the history.

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
    """The same for chosen endpoints of one team, in six queries."""
    ids = [endpoint.pk for endpoint in endpoints]
    monitors = _grouped(_monitors(ids), "endpoint_id")
    readings = _grouped(_readings(ids), "endpoint_id")
    identities = _grouped(_identities(ids, now), "endpoint_id")
    told = cards(Incident.objects.filter(endpoints__in=ids, state__in=UNRESOLVED).distinct()) if ids else []

    rows = []
    for endpoint in endpoints:
        own = monitors.get(endpoint.pk, [])
        monitor, reading = _primary(own, readings.get(endpoint.pk, []))
        identity = identity_now(identities.get(endpoint.pk, []), now)
        incidents = tuple(card.incident for card in told if endpoint.pk in card.endpoints)
        state, reason = state_of(endpoint, own, reading, incidents, now)
        rows.append(_row(endpoint, own, monitor, reading, identity, incidents, state, reason))
    rows.sort(key=_worst_first)

    fitting = [row for row in rows if keeps(row)]
    if span is None:
        seen_since = min((one.first_seen for known in identities.values() for one in known), default=now)
        span = Span.DAY if seen_since < now - FEW_DAYS else Span.HOUR
    shown = _with_history(fitting[:most], readings, span, now)
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


def _with_history(
    rows: Sequence[Row], readings: Mapping[int, Sequence[Reading]], span: Span, now: datetime
) -> list[Row]:
    """The rows with a cell for every hour or day, and with what all their series cost this month."""
    series = {row.endpoint_id: [one.series_id for one in readings.get(row.endpoint_id, [])] for row in rows}
    kept = _buckets([each for own in series.values() for each in own], span, now)
    moments = _moments(span, now)
    hours = [_hour(moment) for moment in moments]
    filled = []
    for row in rows:
        known = kept.get(row.reading.series_id) if row.reading else None
        since = changed_since(row.incidents)
        from_hour = _hour(start_of(span, since)) if since else None
        costs = [float(kept[each]["cost"]) for each in series[row.endpoint_id] if each in kept and kept[each]["cost"]]
        cells = _cells(known, moments, hours, from_hour)
        filled.append(replace(row, cells=cells, cost_this_month=sum(costs) if costs else None))
    return filled


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
    return Endpoint.objects.filter(team=team, archived_at__isnull=True).only(*SHOWN)


def _monitors(endpoints: Sequence[int]) -> QuerySet[Monitor]:
    ended = Run.objects.filter(monitor=OuterRef("pk"), finished_at__isnull=False).order_by("-scheduled_for")
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
        .defer("created_at", "paused_at")
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
        .defer("digest", "observed_count", "observed_at")
        .annotate(
            place=Window(RowNumber(), partition_by=F("endpoint_id"), order_by=F("last_seen").desc()),
            values_known=Window(Count("pk"), partition_by=F("endpoint_id")),
        )
        .filter(place__lte=12)
        .order_by("endpoint_id", "-last_seen")
    )


class HourNumber(Func):
    """Hours since 1970 as an integer."""

    template = "(extract(epoch FROM %(expressions)s) / 3600)::bigint"
    output_field = IntegerField()


def _hour(moment: datetime) -> int:
    return int(moment.timestamp()) // 3600


Kept = Mapping[str, Any]
"""One series' hours or days as columns of one length (None: there are none), and its `cost` this month."""


def _buckets(series: Sequence[int], span: Span, now: datetime) -> dict[int, Kept]:
    """Hours or days of each series, as one row of arrays per series.

    Times come as whole numbers: thousands of timestamps would take longer to read than the rest of the page.
    """
    shown = Q(span=span, starts_at__gt=start_of(span, now) - SPANS[span])
    month = Q(span=Span.DAY, starts_at__gte=first_of_month(now))
    columns = ("divergence", "divergence_low", "divergence_high", "comparable", "samples")
    arrays = {f"{column}_all": ArrayAgg(column, order_by="starts_at", filter=shown) for column in columns}
    rows = (
        SeriesBucket.objects.filter(shown | month, series__in=series)
        .order_by()
        .values("series_id")
        .annotate(
            hours=ArrayAgg(HourNumber("starts_at"), order_by="starts_at", filter=shown),
            **arrays,
            cost=Sum("cost", filter=month),
        )
    )
    return {row["series_id"]: row for row in rows}


def _moments(span: Span, now: datetime) -> list[datetime]:
    """The start of every hour or day of the window."""
    step = timedelta(hours=1) if span == Span.HOUR else timedelta(days=1)
    last = start_of(span, now)
    return [last - step * back for back in reversed(range(SPANS[span] // step))]


def _cells(
    known: Kept | None, moments: Sequence[datetime], hours: Sequence[int], changed_from: int | None
) -> tuple[Cell, ...]:
    """A cell for every moment, the missing ones as gaps; from an unresolved change on they are `changed`."""
    place = {hour: i for i, hour in enumerate(known["hours"] or ())} if known else {}
    filled = []
    for moment, hour in zip(moments, hours, strict=True):
        i = place.get(hour)
        if known is None or i is None:
            filled.append(Cell(moment, "gap"))
            continue
        comparable, samples = known["comparable_all"][i], known["samples_all"][i]
        kind = "failing" if comparable * 2 < samples else "answered"
        if changed_from is not None and hour >= changed_from and kind == "answered":
            kind = "changed"
        low, high = known["divergence_low_all"][i], known["divergence_high_all"][i]
        filled.append(Cell(moment, kind, known["divergence_all"][i], low, high, comparable, samples))
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
