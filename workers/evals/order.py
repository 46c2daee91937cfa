"""In which order a run's questions are asked: arms beside each other in time, so that a change hits all alike."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from drift.models import EvalArm, EvalCase


@dataclass(frozen=True, slots=True)
class Place:
    """One question of a run."""

    arm: EvalArm
    case: EvalCase
    repeat: int

    @property
    def key(self) -> tuple[int, int, int]:
        return self.arm.pk, self.case.pk, self.repeat


def rounds(cases: Sequence[EvalCase], repeats: int) -> int:
    """The most repeats that any case gets."""
    return max((case.repeats or repeats for case in cases), default=0)


def places(
    arms: Sequence[EvalArm],
    cases: Sequence[EvalCase],
    repeats: int,
    wanted: Sequence[int],
    done: Collection[tuple[int, int, int]],
    seed: int,
) -> list[Place]:
    """The places of the rounds `wanted` (from 1) that are not done, round by round.

    Each round has an order of cases of its own; the arms of a case follow each other in random order. The same seed
    gives the same order, so a run that is taken up again goes on where it was.
    """
    found: list[Place] = []
    for repeat in wanted:
        shuffle = random.Random(f"{seed}:{repeat}")  # noqa: S311  an order, not a secret
        asked = [case for case in cases if repeat <= (case.repeats or repeats)]
        shuffle.shuffle(asked)
        for case in asked:
            beside = list(arms)
            shuffle.shuffle(beside)
            found += [Place(arm, case, repeat) for arm in beside]
    return [place for place in found if place.key not in done]
