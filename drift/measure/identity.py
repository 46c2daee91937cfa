"""What kind of name an endpoint gives itself, and whether the names changed.

An identity is any hashable value made of what the endpoint says it is (`system_fingerprint`, model echo, upstream);
None is 'says nothing'. Names flap: some endpoints return several at once, some a new one with each call. So names are
compared with the set seen before, and a run (one scheduled slot) is the unit: answers of one run may come from one
machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import comb, sqrt
from typing import TypeAlias

import numpy as np

from drift.measure.intervals import Estimate, at_most
from drift.measure.two_sample import total_variation

Runs: TypeAlias = Sequence[Mapping[Hashable, int]]

ENOUGH_ANSWERS = 8
CHURNING_MASS = 0.2
LEVEL = 0.001
PERMUTATIONS = 2000


class IdentityKind(StrEnum):
    """How much an endpoint's name can tell."""

    UNKNOWN = "unknown"  # too few answers to say
    ABSENT = "absent"  # never says anything
    CONSTANT = "constant"
    STABLE_SET = "stable_set"  # several values, all of them seen before
    CHURNING = "churning"  # new values keep coming; a new one means nothing


@dataclass(frozen=True, slots=True)
class IdentityProfile:
    """An endpoint's names so far. `unseen`: chance that the next answer bears a name never seen (Good-Turing).

    `flips`: share of consecutive answers with another name than the one before; None under two answers.
    """

    kind: IdentityKind
    answers: int
    distinct: int
    singletons: int
    unseen: Estimate | None
    flips: float | None


class IdentityEvent(StrEnum):
    """What happened to a set of names."""

    NEW = "new"
    VANISHED = "vanished"
    MIX_SHIFT = "mix_shift"


@dataclass(frozen=True, slots=True)
class IdentityChange:
    """One event with the chance of seeing it (or more) although nothing changed. `value` is None for a mix shift."""

    event: IdentityEvent
    value: Hashable | None
    p: float
    runs_before: int
    runs_since: int


def profile(values: Sequence[Hashable | None]) -> IdentityProfile:
    """Class of an endpoint from the names of its answers, in order.

    Churning where the unseen mass is above 0.2; a `None` beside real names counts as a name.
    """
    counts = Counter(values)
    size = len(values)
    unseen = unseen_mass(list(counts.values()))
    singletons = sum(count == 1 for count in counts.values())
    flips = sum(a != b for a, b in pairwise(values)) / (size - 1) if size > 1 else None
    if size < ENOUGH_ANSWERS:
        kind = IdentityKind.UNKNOWN
    elif set(counts) == {None}:
        kind = IdentityKind.ABSENT
    elif len(counts) == 1:
        kind = IdentityKind.CONSTANT
    elif singletons / size > CHURNING_MASS:
        kind = IdentityKind.CHURNING
    else:
        kind = IdentityKind.STABLE_SET
    return IdentityProfile(kind, size, len(counts), singletons, unseen, flips)


def unseen_mass(counts: Sequence[int]) -> Estimate | None:
    """Chance that the next answer bears a name not seen yet: Good-Turing n_1 / n, n_1 names seen once in n answers.

    Interval: n_1 / n +- 1.96 sqrt(n_1 + 2 n_2 - n_1^2 / n) / n (Esty 1983), the upper end never under what n answers
    without a new name leave possible (`at_most`). None without an answer.
    """
    sizes = [count for count in counts if count > 0]
    n = sum(sizes)
    if not n:
        return None
    once, twice = sizes.count(1), sizes.count(2)
    mass = once / n
    half = 1.959964 * sqrt(max(0.0, once + 2 * twice - once**2 / n)) / n
    floor = at_most(n) or 1.0
    return Estimate(mass, max(0.0, mass - half), min(1.0, max(mass + half, floor)), n)


def chance_of_new(runs_before: int, runs_since: int, runs_with: int, alike: int = 1) -> float:
    """P(a name of an unchanged endpoint was in none of the runs before and in `runs_with` of the runs since).

    Under exchangeable runs a name borne in r of N + R runs has all of them among the last R with chance
    C(R, r) / C(N + R, r); times `alike`, the number of names borne in exactly r runs, for having looked at all of
    them. With r = R = 1 it is the Good-Turing mass; where new names keep coming `alike` is large and nothing is
    surprising. It is for one look: over a long watch about this share of new names will pass it by chance.
    """
    if not 0 < runs_with <= runs_since:
        raise ValueError(f"a new name was seen in 1 to {runs_since} of the runs since, not {runs_with}")
    return min(1.0, alike * comb(runs_since, runs_with) / comb(runs_before + runs_since, runs_with))


def chance_of_vanishing(runs_before: int, runs_since: int, runs_with: int, names: int = 1) -> float:
    """P(a name borne in `runs_with` of the runs before is in none of the runs since, though nothing changed).

    C(N, r) / C(N + R, r), times the number of names that could have vanished.
    """
    if not 0 < runs_with <= runs_before:
        raise ValueError(f"a vanished name was seen in 1 to {runs_before} of the runs before, not {runs_with}")
    return min(1.0, names * comb(runs_before, runs_with) / comb(runs_before + runs_since, runs_with))


def mix_shift(before: Runs, since: Runs, rng: np.random.Generator, permutations: int = PERMUTATIONS) -> float | None:
    """p of 'the shares of the names are the same': total variation between the sides, runs exchanged as a whole.

    Exchanging runs and not answers keeps what answers of one run share. p = (1 + #) / (1 + B). None without runs on
    a side.
    """
    if not before or not since:
        return None
    names = {name: column for column, name in enumerate({name for run in (*before, *since) for name in run})}
    counts = np.zeros((len(before) + len(since), len(names)), dtype=np.int64)
    for row, run in enumerate((*before, *since)):
        for name, count in run.items():
            counts[row, names[name]] = count
    counts = counts[counts.sum(axis=1) > 0]
    first = sum(1 for run in before if sum(run.values()) > 0)
    if not 0 < first < len(counts):
        return None
    chosen = np.zeros((permutations, len(counts)), dtype=np.int64)
    np.put_along_axis(chosen, rng.random(chosen.shape).argsort(axis=1)[:, :first], 1, axis=1)
    total = counts.sum(axis=0)
    sides = np.vstack([counts[:first].sum(axis=0), chosen @ counts])
    apart = total_variation(sides, total - sides)
    return float((1 + (apart[1:] >= apart[0] - 1e-12).sum()) / (1 + permutations))


def identity_changes(
    before: Runs, since: Runs, rng: np.random.Generator, level: float = LEVEL
) -> tuple[IdentityChange, ...]:
    """What changed between the runs of a baseline and the runs since, each run a count of answers by name.

    Names and mix are tested at `level` each. An endpoint whose names are absent or churning in the baseline has no
    events: its names say nothing. Assumes runs exchangeable while nothing changed; a name that one machine keeps for
    hours needs a baseline longer than that.
    """
    named_before, named_since = ([run for run in runs if sum(run.values()) > 0] for runs in (before, since))
    kind = profile([name for run in named_before for name, count in run.items() for _ in range(count)]).kind
    if kind not in (IdentityKind.CONSTANT, IdentityKind.STABLE_SET) or not named_since:
        return ()
    older, newer = (
        Counter(name for run in runs for name, n in run.items() if n) for runs in (named_before, named_since)
    )
    size, since_size = len(named_before), len(named_since)
    together = Counter((older + newer).values())
    changes = []
    for name, runs_with in newer.items():
        if name not in older:
            p = chance_of_new(size, since_size, runs_with, together[runs_with])
            changes.append(IdentityChange(IdentityEvent.NEW, name, p, 0, runs_with))
    for name, runs_with in older.items():
        if name not in newer:
            p = chance_of_vanishing(size, since_size, runs_with, len(older))
            changes.append(IdentityChange(IdentityEvent.VANISHED, name, p, runs_with, 0))
    shifted = mix_shift(named_before, named_since, rng, max(PERMUTATIONS, round(2 / level)))
    if shifted is not None:
        changes.append(IdentityChange(IdentityEvent.MIX_SHIFT, None, shifted, size, since_size))
    return tuple(change for change in changes if change.p <= level)
