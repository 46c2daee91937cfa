"""One share watched against its datum: how it was while nothing changed, and the evidence since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from drift.measure.rates import RateBaseline, RateBound, fall, rate_baseline, rise
from drift.measure.sequential import Watch

ALTERNATIVES = 8  # four steps up and four down
GROWS = timedelta(hours=24)  # every quarter of the day belongs to the datum before it is closed
ENOUGH_HOURS = 3
ALLOWANCE = 0.05


def stratum_of(at: datetime) -> int:
    """The quarter of the UTC day: answers have a daily rhythm."""
    return at.hour // 6


@dataclass(frozen=True, slots=True)
class Hour:
    """The sums of one UTC hour of the datum."""

    at: int  # hours since 1970
    differing: float
    answers: float

    @property
    def stratum(self) -> int:
        return self.at % 24 // 6

    @property
    def day(self) -> int:
        return self.at // 24


def hour_of(at: datetime) -> int:
    return int(at.timestamp()) // 3600


@dataclass(frozen=True, slots=True)
class Tracker:
    """`began`: when the datum's first run was; it grows by every calm run until `GROWS` after that.

    A quarter of the day of which it holds less than three hours is given an allowance for the rhythm: twice the rate
    of what is held and five points more. A first baseline of one hour therefore misses small changes at first.
    """

    began: datetime
    hours: tuple[Hour, ...]
    datum: RateBaseline
    miss: float
    watch: Watch
    since: tuple[datetime, ...]  # per alternative: the slot its evidence has been rising from

    @classmethod
    def begin(cls, runs: Sequence[tuple[datetime, float, float]], miss: float) -> Tracker | None:
        """From the datum's runs as (slot, differing, answers). None without an answer."""
        hours: tuple[Hour, ...] = ()
        for at, differing, answers in runs:
            hours = _added(hours, at, differing, answers)
        datum = _datum(hours, miss)
        if datum is None:
            return None
        began = min(at for at, _, _ in runs)
        return cls(began, hours, datum, miss, Watch.begin(ALTERNATIVES), (began,) * ALTERNATIVES)

    def look(self, at: datetime, differing: float, answers: float) -> Tracker:
        """After one more run. A run without answers is no look."""
        if answers <= 0:
            return self
        # outputs repeat over canaries, so sums of shares can leave [0, answers] by rounding only
        differing = min(max(differing, 0.0), answers)
        datum = self._usable(stratum_of(at))
        up = rise(datum, stratum_of(at), differing, answers)
        down = fall(datum, stratum_of(at), differing, answers)
        if up is None or down is None:
            return self
        watch = self.watch.look(up + down)
        since = tuple(at if new == self.watch.looks else old for new, old in zip(watch.since, self.since, strict=True))
        return replace(self, watch=watch, since=since)

    def grow(self, at: datetime, differing: float, answers: float) -> Tracker:
        """The datum with this run, while it still grows."""
        if answers <= 0 or at - self.began >= GROWS:
            return self
        hours = _added(self.hours, at, min(max(differing, 0.0), answers), answers)
        if len(hours) == len(self.hours):
            return replace(self, hours=hours)
        # a new hour has begun: what came before is complete
        datum = _datum(self.hours, self.miss) or self.datum
        return replace(self, hours=hours, datum=datum)

    def _usable(self, stratum: int) -> RateBaseline:
        """The datum, with an allowance in the place of a quarter of the day of which it holds too little."""
        held = sum(1 for hour in self.hours if hour.stratum == stratum)
        if held >= ENOUGH_HOURS and stratum in self.datum.bounds:
            return self.datum
        pooled = _datum(self.hours, self.miss, strata=False) or self.datum
        bound = next(iter(pooled.bounds.values()))
        low, high = max(0.0, bound.lower / 2 - ALLOWANCE), min(0.98, 2 * bound.upper + ALLOWANCE)
        return replace(pooled, bounds={stratum: RateBound(bound.value, low, high, bound.answers)})

    @property
    def rate(self) -> float:
        """The datum's share over all hours."""
        answers = sum(hour.answers for hour in self.hours)
        return sum(hour.differing for hour in self.hours) / answers if answers else 0.0

    @property
    def changed_since(self) -> datetime:
        """The slot from which the leading alternative argues."""
        return self.since[self.watch.leading]

    @property
    def chance(self) -> float:
        """Chance that so much evidence ever comes up although nothing changed, at most."""
        return min(1.0, 1 / max(self.watch.evidence_ever, 1e-300))

    def restarted(self) -> Tracker:
        return replace(self, watch=Watch.begin(ALTERNATIVES))

    def to_numbers(self) -> dict[str, Any]:
        return {
            "began": self.began.isoformat(),
            "hours": [[h.at, h.differing, h.answers] for h in self.hours],
            "datum": self.datum.to_numbers(),
            "miss": self.miss,
            "watch": self.watch.to_numbers(),
            "since": [at.isoformat() for at in self.since],
        }

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, Any]) -> Tracker:
        return cls(
            datetime.fromisoformat(numbers["began"]),
            tuple(Hour(int(at), float(k), float(n)) for at, k, n in numbers["hours"]),
            RateBaseline.from_numbers(numbers["datum"]),
            float(numbers["miss"]),
            Watch.from_numbers(numbers["watch"]),
            tuple(datetime.fromisoformat(at) for at in numbers["since"]),
        )


def _added(hours: tuple[Hour, ...], at: datetime, differing: float, answers: float) -> tuple[Hour, ...]:
    label = hour_of(at)
    if hours and hours[-1].at == label:
        last = hours[-1]
        return (*hours[:-1], Hour(label, last.differing + differing, last.answers + answers))
    return (*hours, Hour(label, differing, answers))


def _datum(hours: Sequence[Hour], miss: float, strata: bool = True) -> RateBaseline | None:
    return rate_baseline(
        [hour.differing for hour in hours],
        [hour.answers for hour in hours],
        [hour.stratum if strata else 0 for hour in hours],
        [hour.day for hour in hours],
        miss,
    )
