"""When a new name is only seen, and when it is a change. Pure.

A name counts as new if it is in none of the runs of the set. It becomes a change in one of two ways: it takes over (no
known name in the last runs at all), or it persists beside the known ones. Either needs runs enough that an unchanged
endpoint would hardly do so (`drift.measure.identity.chance_of_new`). Where names come in stretches, as from a pool of
machines, a stretch counts as one run. Where new names keep coming they mean nothing, and nothing is found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from drift.findings.evidence import Found
from drift.findings.identities import MOST_NAMES, Identities, absorbed
from drift.findings.kinds import Kind
from drift.findings.names import kind_of_change
from drift.measure.identity import (
    IdentityKind,
    chance_of_new,
    chance_of_vanishing,
    unseen_mass,
)

TAKEOVER = 2  # runs in a row without any known name
TAKEOVER_LEVEL = 0.005
PERSISTS = 3  # runs that bear a new name beside known ones
PERSISTS_LEVEL = 0.001
STREAK_LEVEL = 1e-5  # chance of so many runs in a row with new names only, where now and then one comes
VANISHED_LEVEL = 1e-6  # asked at every run, so far below any one-look level
WATCHED_RUNS = 24  # after that a new name that was no change joins the set
MOST_EXTRA = 2  # runs asked for at once because of one new name


@dataclass(frozen=True, slots=True)
class Seen:
    """What a run's names led to. `extra`: samples are wanted at once."""

    identities: Identities
    found: tuple[Found, ...] = ()
    extra: bool = False


def see(before: Identities, names: Mapping[str, int], at: datetime) -> Seen:
    """The set after one more run that bore these names, {name: answers}."""
    if not names:
        return Seen(before)
    if not before.learned:
        return Seen(absorbed(before, names))
    fresh = [key for key in names if key not in before.known]
    only_former = all(key in before.former for key in fresh)
    if not before.since and (not fresh or (only_former and len(fresh) < len(names))):
        after = absorbed(before, names)
        return _vanished(after, at)
    if before.kind == IdentityKind.CHURNING:
        return Seen(absorbed(before, names))
    since = (*before.since, dict(names))
    after = replace(before, since=since, since_at=before.since_at or at)
    found = changed(after, at)
    if found is not None:
        return Seen(renewed(after), (found,), extra=True)
    if len(since) >= WATCHED_RUNS:
        return Seen(_settled(after))
    first_sighting = not before.since
    extra = bool(fresh) and after.extra < MOST_EXTRA
    seen = Found(
        Kind.IDENTITY_SEEN,
        at,
        facts={"new": after.new_names[:3], "known": _known_names(before), "answers": dict(names)},
    )
    after = replace(after, extra=after.extra + extra)
    return Seen(after, (seen,) if first_sighting else (), extra)


def changed(state: Identities, at: datetime, sure: bool = False) -> Found | None:
    """The change that the watched names amount to, if they do. `sure`: the answers themselves say that it changed."""
    streak = state.taken_over
    pooled = state.in_stretches
    runs_before = state.stretches if pooled else state.runs
    if streak:
        chance = _chance_of_takeover(state, streak, runs_before, pooled)
        if sure or (streak >= TAKEOVER and chance <= TAKEOVER_LEVEL):
            return _change(state, at, chance, taken_over=True)
    if pooled:
        return None
    chance, runs_with = _chance_of_persisting(state)
    if runs_with >= PERSISTS and chance <= PERSISTS_LEVEL:
        return _change(state, at, chance, taken_over=False)
    return None


def renewed(state: Identities) -> Identities:
    """The set after a change: the names since, with the earlier ones remembered as former."""
    newer = state.new_names
    back = bool(newer) and all(key in state.former for key in newer)
    streak = state.taken_over
    runs = state.since[-streak:] if streak else state.since
    fresh = Identities()
    for run in runs:
        fresh = absorbed(fresh, run)
    if back:  # two sets that take turns are one set: say so once, and not again
        known = {**{key: replace(k, last_run=fresh.runs) for key, k in state.known.items()}, **fresh.known}
        return replace(fresh, known=known)
    former = tuple(dict.fromkeys([*state.former, *(key for key in state.known if key not in fresh.known)]))
    return replace(fresh, former=former[-MOST_NAMES:])


def _chance_of_takeover(state: Identities, streak: int, runs_before: int, pooled: bool) -> float:
    if pooled:
        # one stretch of a machine not met before says nothing until it outlasts every stretch so far
        return 1.0 if streak <= 2 * state.longest_stretch else chance_of_new(runs_before, 2, 2, 1)
    now_and_then = unseen_mass([known.runs for known in state.known.values()])
    rare = now_and_then.value if now_and_then and len(state.known) > 1 else 0.0
    if rare**streak > STREAK_LEVEL:
        return 1.0
    alike = 1 + sum(known.runs == streak for known in state.known.values())
    return chance_of_new(runs_before, len(state.since), streak, alike)


def _chance_of_persisting(state: Identities) -> tuple[float, int]:
    """The smallest chance over new names, and in how many runs that name was."""
    best, runs_with = 1.0, 0
    borne = {key: sum(key in run for run in state.since) for key in state.new_names}
    for key, number in borne.items():
        if key in state.former:
            continue
        alike = sum(n == number for n in borne.values()) + sum(k.runs == number for k in state.known.values())
        chance = chance_of_new(state.runs, len(state.since), number, max(1, alike))
        if chance < best:
            best, runs_with = chance, number
    return best, runs_with


def _change(state: Identities, at: datetime, chance: float, taken_over: bool) -> Found:
    newer = state.new_names
    older = _known_names(state)
    kind = kind_of_change(state.known, newer)
    if newer and all(key in state.former for key in newer):
        kind = Kind.IDENTITY_RETURNED
    answers = sum(sum(run.values()) for run in state.since)
    bearing = sum(n for run in state.since for key, n in run.items() if key not in state.known)
    return Found(
        kind,
        state.since_at or at,
        chance,
        {
            "new": list(newer[:5]),
            "old": older,
            "taken_over": taken_over,
            "answers": answers,
            "answers_new": bearing,
            "runs": len(state.since),
            "runs_before": state.runs,
        },
    )


def _known_names(state: Identities) -> list[str]:
    return sorted(state.known, key=lambda key: -state.known[key].answers)[:5]


def _vanished(state: Identities, at: datetime) -> Seen:
    """Names of the set that were not borne for so long that they are gone."""
    if state.in_stretches or len(state.known) < 2 or state.kind == IdentityKind.CHURNING:
        return Seen(state)
    gone = []
    for key, known in state.known.items():
        quiet = state.runs - known.last_run
        if known.runs and quiet > 3:
            # its own runs against the quiet ones since; a name borne in r of N runs
            chance = chance_of_vanishing(max(known.last_run, known.runs), quiet, known.runs, len(state.known))
            if chance <= VANISHED_LEVEL:
                gone.append((key, chance, quiet))
    if not gone:
        return Seen(state)
    kept = {key: known for key, known in state.known.items() if key not in {key for key, _, _ in gone}}
    after = replace(state, known=kept, former=tuple(dict.fromkeys([*state.former, *(key for key, _, _ in gone)])))
    found = tuple(
        Found(Kind.VANISHED, at, chance, {"old": [key], "new": list(kept)[:5], "runs": quiet})
        for key, chance, quiet in gone
    )
    return Seen(after, found)


def _settled(state: Identities) -> Identities:
    """The watched names join the set: seen now and then, and no change."""
    runs = state.since
    after = replace(state, since=(), since_at=None, extra=0)
    for run in runs:
        after = absorbed(after, run)
    return after
