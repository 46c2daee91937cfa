"""One endpoint as the overview shows it, and who answers there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from drift.models import Identity, Incident, Monitor, Reading
from drift.states import State

NEW = timedelta(hours=24)  # an identity is new for so long
REMEMBERED = timedelta(days=7)  # identities not seen for longer do not count as what an endpoint was before
CHURNING = 9  # distinct identities in `REMEMBERED` from which a single new one says nothing


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


class Cell(NamedTuple):
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
    cost_this_month: float | None = None  # dollars; None: not known
    cells: tuple[Cell, ...] = ()

    @property
    def diverges(self) -> bool:
        return bool(self.reading and self.reading.pairs_differing)


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
