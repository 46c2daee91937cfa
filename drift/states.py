"""The state of an endpoint in a word, and why."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from drift import figures
from drift.cards import mark_of
from drift.models import Endpoint, Incident, Monitor, Reading
from drift.models.endpoint import Circuit

FRESH = timedelta(hours=24)  # a reading older than this is no reading
ENOUGH_ANSWERS = 2  # comparable answers per canary: the least that can disagree


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
        needed = ENOUGH_ANSWERS * canaries_of(active[0])
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


def changed_since(incidents: Sequence[Incident]) -> datetime | None:
    """Since when the endpoint is not what it was."""
    since = [i.began_at for i in incidents if _state_of_mark(i) in (State.CHANGED, State.WATCHING)]
    return min(since, default=None)


def canaries_of(monitor: Monitor) -> int:
    return getattr(monitor, "canaries_count", None) or 0
