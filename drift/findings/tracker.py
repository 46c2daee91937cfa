"""One share watched against its datum: how it was while nothing changed, and the evidence since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from drift.measure import shares
from drift.measure.ranks import EXPONENTS
from drift.measure.rates import RateBound, fall, rate_baseline, rise
from drift.measure.shares import WEIGHTS, ShareWatch

GROWS = timedelta(hours=24)  # every quarter of the day belongs to the datum before it is closed
ENOUGH_HOURS = 3
ALLOWANCE = 0.05


class Run(NamedTuple):
    """Of `answers` answers in the slot, `differing` differ from the reference."""

    at: datetime
    differing: float
    answers: float


def stratum_of(at: datetime) -> int:
    """The quarter of the UTC day: answers have a daily rhythm."""
    return at.hour // 6


@dataclass(frozen=True, slots=True)
class Tracker:
    """`runs` of the datum, kept while it grows: by every calm run until `GROWS` after `began`.

    A quarter of the day of which it holds less than three hours is given an allowance for the rhythm: twice the rate
    of what is held and five points more. A first baseline of one hour therefore misses small changes at first.
    """

    began: datetime
    runs: tuple[Run, ...]
    rate: float
    hours: Mapping[int, int]
    share: ShareWatch
    pooled: RateBound
    since: tuple[datetime, ...]  # per alternative: the slot its evidence has been rising from

    @classmethod
    def begin(cls, runs: Sequence[Run], miss: float) -> Tracker | None:
        """From the datum's runs. None without an answer."""
        runs = [_sane(run) for run in runs]
        share, pooled = _watch(runs, miss)
        if share is None or pooled is None:
            return None
        began = min(run.at for run in runs)
        since = (began,) * len(WEIGHTS)
        return cls(began, tuple(runs), _rate(runs), _hours(runs), share, pooled, since)._closed(max(r.at for r in runs))

    def look(self, run: Run, tie: float) -> Tracker:
        """After one more run. A run without answers is no look."""
        if run.answers <= 0:
            return self
        run = _sane(run)
        stratum = stratum_of(run.at)
        if self.hours.get(stratum, 0) >= ENOUGH_HOURS:
            after = self.share.look(stratum, run.differing, run.answers, tie)
        else:
            after = self._look_with_allowance(stratum, run)
        before = self.share.watch.since
        since = tuple(
            run.at if new != old else at for new, old, at in zip(after.watch.since, before, self.since, strict=True)
        )
        return replace(self, share=after, since=since)

    def grow(self, run: Run, miss: float) -> Tracker:
        """The datum with this run, while it still grows."""
        if run.answers <= 0 or not self.runs:
            return self
        ended = run.at.replace(minute=0, second=0, microsecond=0)
        new_hour = self.runs[-1].at < ended
        after = self
        if new_hour:  # what came before is complete
            share, pooled = _watch(self.runs, miss)
            if share is not None and pooled is not None:
                share = ShareWatch(share.baseline, share.tallies, self.share.watch)
                after = replace(self, share=share, pooled=pooled, hours=_hours(self.runs), rate=_rate(self.runs))
        return replace(after, runs=(*after.runs, _sane(run)))._closed(run.at)

    def _closed(self, at: datetime) -> Tracker:
        return self if at - self.began < GROWS else replace(self, runs=())

    def _look_with_allowance(self, stratum: int, run: Run) -> ShareWatch:
        low, high = max(0.0, self.pooled.lower / 2 - ALLOWANCE), min(0.98, 2 * self.pooled.upper + ALLOWANCE)
        wide = RateBound(self.pooled.value, low, high, self.pooled.answers)
        baseline = replace(self.share.baseline, bounds={stratum: wide})
        above, below = (side(baseline, stratum, run.differing, run.answers) for side in (rise, fall))
        if above is None or below is None:
            return self.share
        no_ranks = (1.0,) * (2 * len(EXPONENTS))
        return replace(self.share, watch=self.share.watch.look((*no_ranks, *above, *below)))

    @property
    def evidence(self) -> float:
        return self.share.evidence

    @property
    def looks(self) -> int:
        return self.share.watch.looks

    @property
    def changed_since(self) -> datetime:
        """The slot from which the leading alternative argues."""
        return self.since[self.share.watch.leading]

    @property
    def chance(self) -> float:
        """Chance that so much evidence ever comes up although nothing changed, at most."""
        return min(1.0, 1 / max(self.share.watch.evidence_ever, 1e-300))

    def to_numbers(self) -> dict[str, Any]:
        return {
            "began": self.began.isoformat(),
            "runs": [[int(run.at.timestamp()), round(run.differing, 4), run.answers] for run in self.runs],
            "rate": self.rate,
            "hours": {str(stratum): hours for stratum, hours in self.hours.items()},
            "share": self.share.to_numbers(),
            "pooled": [self.pooled.value, self.pooled.lower, self.pooled.upper, self.pooled.answers],
            "since": [at.isoformat() for at in self.since],
        }

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, Any]) -> Tracker:
        began = datetime.fromisoformat(numbers["began"])
        return cls(
            began,
            tuple(Run(datetime.fromtimestamp(at, began.tzinfo), float(k), float(n)) for at, k, n in numbers["runs"]),
            float(numbers["rate"]),
            {int(stratum): int(hours) for stratum, hours in numbers["hours"].items()},
            ShareWatch.from_numbers(numbers["share"]),
            RateBound(*(float(x) for x in numbers["pooled"])),
            tuple(datetime.fromisoformat(at) for at in numbers["since"]),
        )


def _sane(run: Run) -> Run:
    """Sums of shares can leave [0, answers] by rounding only."""
    return Run(run.at.replace(microsecond=0), round(min(max(run.differing, 0.0), run.answers), 4), run.answers)


def _watch(runs: Sequence[Run], miss: float) -> tuple[ShareWatch | None, RateBound | None]:
    """The watch by quarters of the day, and the bound over all of them together."""
    k, n = [run.differing for run in runs], [run.answers for run in runs]
    days = [run.at.toordinal() for run in runs]
    pooled = rate_baseline(k, n, [0] * len(runs), days, miss)
    share = shares.begin(k, n, [stratum_of(run.at) for run in runs], days, miss)
    return share, pooled.bounds[0] if pooled else None


def _rate(runs: Sequence[Run]) -> float:
    answers = sum(run.answers for run in runs)
    return sum(run.differing for run in runs) / answers if answers else 0.0


def _hours(runs: Sequence[Run]) -> dict[int, int]:
    """How many hours of each quarter of the day the datum holds."""
    return dict(Counter(stratum for stratum, _ in {(stratum_of(r.at), (r.at.date(), r.at.hour)) for r in runs}))
