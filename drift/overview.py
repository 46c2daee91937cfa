"""What a team sees first: every endpoint with its state in a word, and one sentence over all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby
from typing import TypeVar
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.functions import JSONObject, RowNumber
from django.utils import timezone

from drift import figures
from drift.cards import Card, cards, mark_of
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
from drift.models.endpoint import Circuit
from drift.rollups import start_of

T = TypeVar("T")

FRESH = timedelta(hours=24)  # a reading older than this is no reading
NEW = timedelta(hours=24)  # an identity is new for so long
REMEMBERED = timedelta(days=7)  # identities not seen for longer do not count as what an endpoint was before
CHURNING = 9  # distinct identities in `REMEMBERED` from which a single new one says nothing
ENOUGH_ANSWERS = 2  # comparable answers per canary: the least that can disagree
SPANS: Mapping[str, timedelta] = {Span.HOUR: timedelta(hours=24), Span.DAY: timedelta(days=30)}


class State(StrEnum):
    """The state of an endpoint, worst first."""

    CHANGED = "changed"
    DOWN = "down"
    WATCHING = "watching"
    NO_DATA = "no data"
    STABLE = "stable"
    PAUSED = "paused"

    @property
    def word(self) -> str:
        return self.value.capitalize()

    @property
    def key(self) -> str:
        return self.value.replace(" ", "-")

    @property
    def rank(self) -> int:
        return list(State).index(self)


@dataclass(frozen=True, slots=True)
class IdentityNow:
    """Who answers: the latest identities (short form), what was there before, and since when."""

    labels: tuple[str, ...] = ()
    former: tuple[str, ...] = ()
    values_known: int = 0
    seen_since: datetime | None = None
    new: bool = False
    all_new: bool = False
    churning: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One hour or day of a strip. `kind`: answered, changed, failing, gap."""

    starts_at: datetime
    kind: str
    divergence: float | None = None
    low: float | None = None
    high: float | None = None
    comparable: int = 0
    samples: int = 0


@dataclass(frozen=True, slots=True)
class Running:
    """A run that waits for a worker or is under way."""

    state: str
    samples_done: int


@dataclass(frozen=True, slots=True)
class Datum:
    """The latest baseline of a series that was not replaced."""

    state: str
    name: str
    runs_count: int
    wanted_runs: int


@dataclass(frozen=True, slots=True)
class Row:
    """One endpoint as the overview shows it."""

    endpoint_id: int
    public_id: UUID
    name: str
    provider: str
    model: str
    tags: tuple[str, ...]
    simulated: bool
    in_house: str
    temperature_zero: bool
    state: State
    reason: str
    identity: IdentityNow
    reading: Reading | None
    monitor: Monitor | None
    other_monitors: int
    last_finished_at: datetime | None
    last_state: str
    next_due_at: datetime | None
    running: Running | None
    expected: int
    incidents: tuple[Incident, ...]
    datum: Datum | None
    cells: tuple[Cell, ...] = ()

    @property
    def diverges(self) -> bool:
        return bool(self.reading and self.reading.pairs_differing)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The sentence over all endpoints, what follows from it, and one more for who reads on."""

    headline: str
    consequence: str = ""
    detail: str = ""
    worst: State = State.STABLE


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
        filled.append(replace(row, cells=_cells(known, span, now, _changes(row.incidents))))
    return span, filled


def _ceiling(rows: Sequence[Row]) -> float:
    known = [cell.divergence for row in rows for cell in row.cells if cell.divergence is not None]
    return min(1.0, max([0.05, *known]) * 1.15)


def _worst_first(row: Row) -> tuple[int, float, str]:
    return row.state.rank, -((row.reading and row.reading.divergence) or 0), row.name.lower()


def state_of(
    endpoint: Endpoint,
    monitors: Sequence[Monitor],
    reading: Reading | None,
    incidents: Sequence[Incident],
    now: datetime,
) -> tuple[State, str]:
    """The state and why, the first line that applies:

    no monitor | all paused        paused    the reason given
    circuit not closed             down      what failed
    an unresolved incident         its mark  its title
    no or an old reading, too few  no data   how many answers of how many
    something may be changing      watching  what
    otherwise                      stable
    """
    active = [monitor for monitor in monitors if monitor.active]
    if not active:
        if not monitors:
            return State.PAUSED, "No monitor yet: nothing is asked"
        return State.PAUSED, monitors[0].paused_reason or "Paused"
    if endpoint.circuit != Circuit.CLOSED:
        return State.DOWN, endpoint.rest_reason or f"{endpoint.failures_in_a_row} failures in a row"
    if incidents:
        worst = min(incidents, key=lambda incident: _state_of_mark(incident).rank)
        return _state_of_mark(worst), _in_short(worst)
    if reading is None:
        return State.NO_DATA, "No answers yet"
    if now - reading.taken_at > FRESH:
        return State.NO_DATA, f"No answers for {figures.duration(now - reading.taken_at)}"
    if reading.divergence is None:
        needed = ENOUGH_ANSWERS * _canaries(active[0])
        return State.NO_DATA, f"Not enough data: {reading.comparable} of {needed} comparable answers"
    if watching := getattr(reading, "watching", None):
        return State.WATCHING, f"May be changing: {watching}"
    return State.STABLE, ""


def _state_of_mark(incident: Incident) -> State:
    return next(state for state in State if state.key == mark_of(incident).key)


def _in_short(incident: Incident) -> str:
    """The title without the name that the row has already."""
    _, _, what = incident.title.partition(": ")
    short = what or incident.title
    acknowledged = ", acknowledged" if incident.state == Incident.State.ACKNOWLEDGED else ""
    return f"{short[:1].upper()}{short[1:]}{acknowledged}"


def _changes(incidents: Sequence[Incident]) -> datetime | None:
    """Since when the endpoint is not what it was."""
    since = [i.began_at for i in incidents if _state_of_mark(i) in (State.CHANGED, State.WATCHING)]
    return min(since, default=None)


def identity_now(identities: Sequence[Identity], now: datetime) -> IdentityNow:
    """What an endpoint calls itself now, from its identities of the last week, the latest first.

    An identity is new for 24 hours, and only where an older one is remembered: the first day only learns.
    """
    if not identities:
        return IdentityNow()
    known = identities[0].values_known  # type: ignore[attr-defined]
    latest = identities[0].last_seen
    current = [i for i in identities if latest - i.last_seen <= timedelta(hours=1)]
    former = [i for i in identities if i not in current]
    remembered = [i for i in identities if now - i.first_seen > NEW]
    new = [i for i in current if now - i.first_seen <= NEW] if remembered else []
    current.sort(key=lambda i: (i not in new, -i.samples_count))
    return IdentityNow(
        labels=tuple(dict.fromkeys(i.label for i in current)),
        former=tuple(dict.fromkeys(i.label for i in former)) if new else (),
        values_known=known,
        seen_since=max(i.first_seen for i in new) if new else min(i.first_seen for i in current),
        new=bool(new),
        all_new=bool(new) and len(new) == len(current),
        churning=known >= CHURNING,
    )


def verdict(rows: Sequence[Row], told: Sequence[Card], now: datetime) -> Verdict:
    """One sentence: what is worst, then what follows, then what temperature 0 is worth here."""
    if not rows:
        return Verdict("No endpoint is watched yet.", worst=State.NO_DATA)
    by_state = {state: [row for row in rows if row.state == state] for state in State}
    if changed := by_state[State.CHANGED]:
        since = min((i.began_at for row in changed for i in row.incidents), default=now)
        detail = " ".join(part for part in (_being_taken(changed), _agreement_sentence(rows)) if part)
        headline = f"{_some(changed, rows)} changed since {_day_or_hour(since, now)}."
        return Verdict(headline, _void_baselines(changed, told), detail, State.CHANGED)
    if down := by_state[State.DOWN]:
        what = ", ".join(row.name for row in down[:3])
        headline = f"{_some(down, rows)} cannot be asked."
        return Verdict(headline, f"{what}: {down[0].reason}.", _agreement_sentence(rows), State.DOWN)
    measured = [row for row in rows if row.reading is not None and row.reading.divergence is not None]
    if not measured:
        if all(row.state == State.PAUSED for row in rows):
            return Verdict("Everything is paused.", "Nothing is being asked.", worst=State.PAUSED)
        wait = "Figures appear when each canary has two answers."
        return Verdict("The first answers are on their way.", "", wait, State.NO_DATA)
    diverging = [row for row in measured if row.diverges]
    watching = by_state[State.WATCHING]
    calm = f"{_some(watching, rows)} may be changing." if watching else "No endpoint changed."
    worst = State.WATCHING if watching else State.STABLE
    if not diverging:
        if any(row.reading is not None and (row.reading.total_agreement or 0) < 1 for row in measured):
            first = "Only the first answers of a run differed from the later ones, as from a cold cache."
            return Verdict(calm, first, _limits(measured), worst)
        return Verdict(calm, "Every prompt got the same answer every time.", _limits(measured), worst)
    zero = " at temperature 0" if all(row.temperature_zero for row in diverging) else ""
    verb = "gives" if len(diverging) == 1 else "give"
    headline = f"{_some(diverging, measured)} {verb} different answers to the same prompt{zero}."
    return Verdict(headline, calm if watching else "", _agreement_sentence(rows), worst)


def _day_or_hour(since: datetime, now: datetime) -> str:
    """'14:05' of the last hours, 'Tuesday' within six days, '3 Nov' before."""
    there, here = timezone.localtime(since), timezone.localtime(now)
    if now - since < timedelta(hours=18):
        return f"{there:%H:%M}"
    return f"{there:%A}" if (here.date() - there.date()).days <= 6 else f"{there.day} {there:%b}"


def _void_baselines(changed: Sequence[Row], told: Sequence[Card]) -> str:
    """What can no longer be compared with: 'Baseline “May” of gpt-4o no longer holds.'"""
    names = {row.endpoint_id: row.name for row in changed}
    void = {b.pk: (b, endpoint) for card in told for b, endpoint in card.void_of if endpoint in names}
    if not void:
        return ""
    if len(void) > 1:
        return f"{len(void)} baselines no longer hold."
    baseline, endpoint = next(iter(void.values()))
    what = f"Baseline “{baseline.name}”" if baseline.name else "The baseline"
    return f"{what} of {names[endpoint]} no longer holds."


def _being_taken(changed: Sequence[Row]) -> str:
    for row in changed:
        if row.datum and row.datum.state == Baseline.State.COLLECTING:
            return f"A new baseline is being taken: {row.datum.runs_count} of {row.datum.wanted_runs} runs."
    return ""


def _some(rows: Sequence[Row], of: Sequence[Row]) -> str:
    """'2 of 14 endpoints'; the name where there is only one."""
    return rows[0].name if len(of) == 1 else f"{len(rows)} of {figures.plural(len(of), 'endpoint')}"


def _agreement_sentence(rows: Sequence[Row]) -> str:
    """The endpoint that disagrees most with itself, and the one asked most of those that never did."""
    measured = [(row.name, row.reading) for row in rows if row.reading is not None and row.reading.pairs]
    worst = max(measured, key=lambda pair: pair[1].divergence or 0, default=None)
    exact = [pair for pair in measured if not pair[1].pairs_differing]
    parts = []
    if worst and worst[1].pairs_differing:
        share = figures.percent(worst[1].divergence)
        parts.append(f"Two answers of {worst[0]} to one prompt differ in {share} of pairs.")
    if exact:
        name, reading = max(exact, key=lambda pair: pair[1].pairs)
        parts.append(f"{name} never differed: 0 of {figures.plural(reading.pairs, 'pair')}.")
    return " ".join(parts)


def _limits(rows: Sequence[Row]) -> str:
    pairs = sum(row.reading.pairs for row in rows if row.reading)
    return f"0 of {figures.plural(pairs, 'pair')} of answers differed in the last 24 hours."


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
        expected=monitor.repeats * _canaries(monitor) if monitor else 0,
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


def _canaries(monitor: Monitor) -> int:
    return getattr(monitor, "canaries_count", None) or 0


def _grouped(rows: Iterable[T], key: str) -> dict[int, list[T]]:
    return {value: list(group) for value, group in groupby(rows, key=lambda row: getattr(row, key))}
