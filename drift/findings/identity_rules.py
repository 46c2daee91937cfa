"""When a new name is only seen, and when it is a change. Pure.

A name counts as new if it is in none of the runs of the set. It becomes a change in one of two ways: it takes over (no
known name in the last runs at all), or it persists beside the known ones. Either needs runs enough that an unchanged
endpoint would hardly do so (`drift.measure.identity.chance_of_new`). Where names come in stretches, as from a pool of
machines, a stretch counts as one run. Where new names keep coming they mean nothing, and nothing is found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from drift.findings.evidence import Found
from drift.findings.kinds import Kind
from drift.findings.names import Name, kind_of_change
from drift.measure.identity import (
    CHURNING_MASS,
    IdentityKind,
    chance_of_new,
    chance_of_vanishing,
    profile,
    unseen_mass,
)

LEARNS = 12  # runs in which every name simply joins the set
TAKEOVER = 2  # runs in a row without any known name
TAKEOVER_LEVEL = 0.005
PERSISTS = 3  # runs that bear a new name beside known ones
PERSISTS_LEVEL = 0.001
STREAK_LEVEL = 1e-5  # chance of so many runs in a row with new names only, where now and then one comes
VANISHED_LEVEL = 1e-6  # asked at every run, so far below any one-look level
WATCHED_RUNS = 24  # after that a new name that was no change joins the set
MOST_EXTRA = 2  # runs asked for at once because of one new name
MOST_NAMES = 100


@dataclass(frozen=True, slots=True)
class Known:
    """How often one name of the set was borne, and in which run last."""

    runs: int
    answers: int
    last_run: int


@dataclass(frozen=True, slots=True)
class Identities:
    """The set of names of a series and what is being watched beside it.

    `stretches`: runs, where a stretch of runs that bear one and the same name alone counts once. `since`: the runs from
    the first sighting of a new name on.
    """

    runs: int = 0
    known: Mapping[str, Known] = field(default_factory=dict)
    former: tuple[str, ...] = ()
    alone: str = ""
    stretch: int = 0
    longest_stretch: int = 0
    stretches: int = 0
    since: tuple[Mapping[str, int], ...] = ()
    since_at: datetime | None = None
    extra: int = 0

    @property
    def learned(self) -> bool:
        """After a change there is no second time of learning: what it could hide is a second change."""
        return self.runs >= LEARNS or bool(self.former)

    @property
    def kind(self) -> IdentityKind:
        """How much the names can tell."""
        counts = [known.answers for known in self.known.values()]
        if self.known and all(Name.read(key).says_nothing for key in self.known) and len(self.known) == 1:
            return IdentityKind.ABSENT
        kind = profile([key for key, known in self.known.items() for _ in range(min(known.answers, 50))]).kind
        mass = unseen_mass(counts)
        by_run = unseen_mass([known.runs for known in self.known.values()])
        if any(each is not None and each.value > CHURNING_MASS for each in (mass, by_run)) and len(self.known) > 1:
            return IdentityKind.CHURNING
        return kind

    @property
    def main(self) -> str | None:
        """The commonest name."""
        return max(self.known, key=lambda key: (self.known[key].answers, key), default=None)

    @property
    def in_stretches(self) -> bool:
        """Whether one name answers several runs alone and then another: a pool of machines behind one address."""
        return len(self.known) > 1 and self.stretches * 2 <= self.runs and self.longest_stretch > 1

    @property
    def new_names(self) -> tuple[str, ...]:
        """Names being watched, the commonest first."""
        counts: dict[str, int] = {}
        for run in self.since:
            for key, answers in run.items():
                if key not in self.known:
                    counts[key] = counts.get(key, 0) + answers
        return tuple(sorted(counts, key=lambda key: -counts[key]))

    @property
    def taken_over(self) -> int:
        """How many of the last runs bore no known name at all."""
        number = 0
        for run in reversed(self.since):
            if any(key in self.known for key in run):
                break
            number += 1
        return number

    def to_numbers(self) -> dict[str, Any]:
        return {
            "runs": self.runs,
            "known": {key: [k.runs, k.answers, k.last_run] for key, k in self.known.items()},
            "former": list(self.former),
            "alone": [self.alone, self.stretch, self.longest_stretch, self.stretches],
            "since": [dict(run) for run in self.since],
            "since_at": self.since_at.isoformat() if self.since_at else None,
            "extra": self.extra,
        }

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, Any]) -> Identities:
        alone, stretch, longest, stretches = numbers["alone"]
        return cls(
            runs=int(numbers["runs"]),
            known={key: Known(*map(int, row)) for key, row in numbers["known"].items()},
            former=tuple(numbers["former"]),
            alone=alone,
            stretch=int(stretch),
            longest_stretch=int(longest),
            stretches=int(stretches),
            since=tuple({key: int(n) for key, n in run.items()} for run in numbers["since"]),
            since_at=datetime.fromisoformat(numbers["since_at"]) if numbers["since_at"] else None,
            extra=int(numbers["extra"]),
        )


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
        return Seen(_absorbed(before, names))
    fresh = [key for key in names if key not in before.known]
    only_former = all(key in before.former for key in fresh)
    if not before.since and (not fresh or (only_former and len(fresh) < len(names))):
        after = _absorbed(before, names)
        return _vanished(after, at)
    if before.kind == IdentityKind.CHURNING:
        return Seen(_absorbed(before, names))
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
        fresh = _absorbed(fresh, run)
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
        after = _absorbed(after, run)
    return after


def _absorbed(state: Identities, names: Mapping[str, int]) -> Identities:
    number = state.runs + 1
    known = dict(state.known)
    for key, answers in names.items():
        old = known.get(key, Known(0, 0, 0))
        known[key] = Known(old.runs + 1, old.answers + answers, number)
    if len(known) > MOST_NAMES:
        known = dict(sorted(known.items(), key=lambda item: -item[1].last_run)[:MOST_NAMES])
    alone = next(iter(names)) if len(names) == 1 else ""
    same = bool(alone) and alone == state.alone
    stretch = state.stretch + 1 if same else int(bool(alone))
    return replace(
        state,
        runs=number,
        known=known,
        former=tuple(key for key in state.former if key not in known),
        alone=alone,
        stretch=stretch,
        longest_stretch=max(state.longest_stretch, stretch),
        stretches=state.stretches + (not same),
    )
