"""The state of an endpoint in a word, and why."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from django.utils.translation import gettext, gettext_noop

from drift import figures, said
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
        return gettext(self.text)

    @property
    def text(self) -> str:
        """The word as a message, not translated yet."""
        return {
            "changed": gettext_noop("Changed"),
            "down": gettext_noop("Down"),
            "watching": gettext_noop("Watching"),
            "no data": gettext_noop("No data"),
            "stable": gettext_noop("Stable"),
            "paused": gettext_noop("Paused"),
        }[self.value]

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
            return State.PAUSED, gettext("No monitor yet: nothing is asked")
        return State.PAUSED, monitors[0].paused_reason or gettext("Paused")
    if endpoint.circuit != Circuit.CLOSED:
        return State.DOWN, endpoint.rest_reason or gettext("{number} failures in a row").format(
            number=endpoint.failures_in_a_row
        )
    if incidents:
        worst = min(incidents, key=lambda incident: _state_of_mark(incident).rank)
        return _state_of_mark(worst), _in_short(worst)
    if reading is None:
        return State.NO_DATA, gettext("No answers yet")
    if now - reading.taken_at > FRESH:
        return State.NO_DATA, gettext("No answers for {duration}").format(
            duration=figures.duration(now - reading.taken_at)
        )
    if reading.divergence is None:
        needed = ENOUGH_ANSWERS * canaries_of(active[0])
        return State.NO_DATA, gettext("Not enough data: {number} of {needed} comparable answers").format(
            number=reading.comparable, needed=needed
        )
    if watching := getattr(reading, "watching", None):
        return State.WATCHING, gettext("May be changing: {what}").format(what=watching)
    return State.STABLE, ""


def _state_of_mark(incident: Incident) -> State:
    return next(state for state in State if state.key == mark_of(incident).key)


def _in_short(incident: Incident) -> str:
    """The title without the name that the row has already."""
    what = said.filler(incident.title, "what") or incident.title.partition(": ")[2]
    short = what or incident.title
    short = f"{short[:1].upper()}{short[1:]}"
    acknowledged = incident.state == Incident.State.ACKNOWLEDGED
    return gettext("{what}, acknowledged").format(what=short) if acknowledged else short


def changed_since(incidents: Sequence[Incident]) -> datetime | None:
    """Since when the endpoint is not what it was."""
    since = [i.began_at for i in incidents if _state_of_mark(i) in (State.CHANGED, State.WATCHING)]
    return min(since, default=None)


def canaries_of(monitor: Monitor) -> int:
    return getattr(monitor, "canaries_count", None) or 0
