"""Does company change the answer? Each load against the quiet stage, and by the true batch where it is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from drift.batch_effect import BINS
from drift.checkup.repeats import divergences, texts
from drift.checkup.taken import Examination, StageAnswers, Taken
from drift.measure.agreement import divergence, pair_counts
from drift.measure.intervals import Estimate
from drift.measure.paired import paired_difference
from drift.measure.two_sample import compare_shares, tabulate

SURE = 0.01


@dataclass(frozen=True, slots=True)
class Difference:
    """Divergence of one stage minus that of another, over the questions of both, with a paired t interval."""

    estimate: Estimate
    p: float

    @property
    def seen(self) -> bool:
        return self.estimate.low > 0 or self.estimate.high < 0


@dataclass(frozen=True, slots=True)
class UnderLoad:
    """One load. `across`: how much more often an answer under load differs from a quiet one than two of one kind do;
    `across_p` by permutation. None: too few answers.
    """

    concurrency: int
    difference: Difference | None
    across: Estimate | None
    across_p: float | None

    @property
    def matters(self) -> bool:
        """Load changes how often answers differ, or which answers come."""
        differs = self.difference is not None and self.difference.p <= SURE
        return differs or (self.across_p is not None and self.across_p <= SURE)


@dataclass(frozen=True, slots=True)
class AtBatch:
    """Answers whose largest batch lay between `low` and `high`, whatever the stage."""

    low: int
    high: int
    answers: int
    divergence: Estimate | None


def under_load(examination: Examination) -> tuple[UnderLoad, ...]:
    quiet = examination.quiet
    if quiet is None:
        return ()
    return tuple(_against(stage, quiet) for stage in examination.loads())


def difference(more: StageAnswers | None, less: StageAnswers | None) -> Difference | None:
    """Divergence of `more` minus that of `less`; None under two questions with pairs in both."""
    if more is None or less is None:
        return None
    a, b = divergences(more), divergences(less)
    both = [key for key in a if key in b]
    found = paired_difference([a[key] for key in both], [b[key] for key in both], np.random.default_rng(0))
    return None if found is None else Difference(found.difference, found.p)


def _against(stage: StageAnswers, quiet: StageAnswers) -> UnderLoad:
    here, there = stage.by_question(), quiet.by_question()
    tables = [
        tabulate(list(texts(answers).elements()), list(texts(there[key]).elements()))
        for key, answers in here.items()
        if key in there
    ]
    sides = compare_shares(tables, np.random.default_rng(1))
    return UnderLoad(
        concurrency=stage.concurrency,
        difference=difference(stage, quiet),
        across=sides.effect if sides else None,
        across_p=sides.p if sides else None,
    )


def by_batch(examination: Examination) -> tuple[AtBatch, ...]:
    """Divergence by the largest batch an answer shared a step with, for servers that say so (our own)."""
    quiet = examination.quiet
    stages = ([quiet] if quiet else []) + examination.loads()
    bins: dict[tuple[int, int], dict[str, list[Taken]]] = {}
    for stage in stages:
        for key, answers in stage.by_question().items():
            for answer in answers:
                if answer.decoded.batch_sizes:
                    largest = max(answer.decoded.batch_sizes)
                    place = next(bounds for bounds in BINS if bounds[0] <= largest <= bounds[1])
                    bins.setdefault(place, {}).setdefault(key, []).append(answer)
    return tuple(_at(bounds, list(bins[bounds].values())) for bounds in sorted(bins))


def _at(bounds: tuple[int, int], groups: Sequence[Sequence[Taken]]) -> AtBatch:
    counts = [list(texts(group).values()) for group in groups]
    known = [each for each in counts if pair_counts(each).total]
    return AtBatch(bounds[0], bounds[1], sum(map(len, groups)), divergence(known))
