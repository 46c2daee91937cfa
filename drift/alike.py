"""Do endpoints answer alike? Each pair of several, by the answers to the prompts that both were asked at the same time.

Answers of one hour resemble each other (one batch, one version), and weeks of them would make the smallest difference
look certain; so a few of each hour or day are drawn, and exchanged only within a stretch of time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import combinations
from typing import Any
from uuid import UUID

import numpy as np
from scipy.special import ndtri

from drift.history import Window
from drift.measure.evals.several import holm
from drift.measure.intervals import Estimate
from drift.measure.two_sample import Table, compare_equality
from drift.models import CanaryBucket
from drift.rollups import start_of

LEVEL, POWER = 0.05, 0.8
FIRST_LOOK, PERMUTATIONS = 199, 999  # Holm over 28 pairs needs p below 0.05 / 28; 1 / 1000 is
CLEARLY_ALIKE = 0.2  # a p above this from the first look is final: no level that anyone acts on is near
STRETCHES = 6
WANTED, MOST = 24, 48  # answers per canary and side: drawn until WANTED if they are there, never beyond MOST
FROM_ONE_BUCKET = 8
LEAST_CANARIES = 2  # an interval needs two

Counts = Mapping[int, Mapping[datetime, Mapping[str, int]]]
"""One endpoint's answers: {canary: {hour or day: {output: answers}}}."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two endpoints. `p` and `adjusted` (Holm, over all pairs tested) are None where they cannot be compared.

    `effect`: how much more often an answer of one differs from one of the other than two of the same do, as a share,
    with an interval over canaries. `findable`: the effect that is found with chance `POWER` at the corrected level.
    """

    a: UUID
    b: UUID
    canaries: int
    answers: int
    p: float | None = None
    adjusted: float | None = None
    effect: Estimate | None = None
    findable: float = 0.0

    @property
    def differ(self) -> bool:
        return self.adjusted is not None and self.adjusted <= LEVEL

    @property
    def unseen(self) -> float | None:
        """The difference that would have been seen: what four of five such comparisons find at this level, or what
        still fits the answers if that is larger. None where not even that can be told.
        """
        return None if self.effect is None else min(1.0, max(self.findable, self.effect.high))

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "a": str(self.a), "b": str(self.b)}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Pair:
        effect = Estimate(**kept["effect"]) if kept["effect"] else None
        return cls(**{**kept, "a": UUID(kept["a"]), "b": UUID(kept["b"]), "effect": effect})


def pairs(counts: Mapping[UUID, Counts], window: Window, seed: int = 7) -> list[Pair]:
    """Every pair in the order given. The same counts give the same figures: the draws are seeded."""
    tested = [_pair(a, b, counts[a], counts[b], window, seed) for a, b in combinations(counts, 2)]
    raw = [pair.p for pair in tested if pair.p is not None]
    adjusted = iter(holm(raw))
    # by the normal law of a mean over canaries: beyond chance at the strictest level of the correction, and found
    reach = float(ndtri(1 - LEVEL / max(1, len(raw))) + ndtri(POWER))
    return [
        replace(pair, adjusted=next(adjusted), findable=pair.findable * reach) if pair.p is not None else pair
        for pair in tested
    ]


def counts_of(series: Mapping[UUID, int], window: Window) -> dict[UUID, Counts]:
    """The answers of each series over the window, first answers of runs left out. One query."""
    rows = CanaryBucket.objects.filter(
        series__in=list(series.values()),
        span=window.span,
        starts_at__gte=start_of(window.span, window.start),
        starts_at__lt=window.end,
    ).values_list("series_id", "canary_id", "starts_at", "output_counts")
    found: dict[int, dict[int, dict[datetime, dict[str, int]]]] = {}
    for pk, canary, at, outputs in rows:
        if outputs:
            found.setdefault(pk, {}).setdefault(canary, {})[at] = outputs
    return {key: found.get(pk, {}) for key, pk in series.items()}


def _pair(a: UUID, b: UUID, left: Counts, right: Counts, window: Window, seed: int) -> Pair:
    rng = np.random.default_rng(seed)
    tables: list[Table[str]] = []
    for canary in sorted(left.keys() & right.keys()):
        table = _table(left[canary], right[canary], window, rng)
        if table is not None:
            tables.append(table)
    answers = sum(int(table.a.sum() + table.b.sum()) for table in tables)
    if len(tables) < LEAST_CANARIES:
        return Pair(a, b, len(tables), answers)
    found = compare_equality(tables, rng, FIRST_LOOK)
    if found is not None and found.p <= CLEARLY_ALIKE:
        found = compare_equality(tables, rng, PERMUTATIONS)
    if found is None:
        return Pair(a, b, len(tables), answers)
    # for equality the statistic is twice the effect
    return Pair(a, b, found.canaries, answers, found.p, None, found.effect, found.null_spread / 2)


def _table(
    left: Mapping[datetime, Mapping[str, int]],
    right: Mapping[datetime, Mapping[str, int]],
    window: Window,
    rng: np.random.Generator,
) -> Table[str] | None:
    """One canary's answers from the hours or days in which both were asked; None with fewer than two on a side."""
    shared = sorted(left.keys() & right.keys())
    if not shared:
        return None
    if len(shared) > MOST:
        shared = [shared[i] for i in np.linspace(0, len(shared) - 1, MOST).round().astype(int)]
    each = min(FROM_ONE_BUCKET, math.ceil(WANTED / len(shared)))
    names: dict[str, int] = {}
    for at in shared:
        for name in (*left[at], *right[at]):
            names.setdefault(name, len(names))
    length = (window.end - window.start) / STRETCHES
    sides = np.zeros((2, STRETCHES, len(names)), dtype=np.int64)
    for at in shared:
        stretch = min(STRETCHES - 1, max(0, int((at - window.start) / length)))
        for side, outputs in enumerate((left[at], right[at])):
            for name, count in zip(outputs, _drawn(list(outputs.values()), each, rng), strict=True):
                sides[side, stretch, names[name]] += count
    if min(int(side.sum()) for side in sides) < 2:
        return None
    used = sides.sum(axis=(0, 1)) > 0
    kept = tuple(name for name, at in names.items() if used[at])
    return Table(kept, sides[0][:, used], sides[1][:, used])


def _drawn(counts: Sequence[int], most: int, rng: np.random.Generator) -> Sequence[int]:
    """At most `most` of these answers, drawn without replacement."""
    if sum(counts) <= most:
        return counts
    drawn: list[int] = rng.multivariate_hypergeometric(counts, most, method="marginals").tolist()
    return drawn
