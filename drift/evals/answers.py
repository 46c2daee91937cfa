"""Scored answers by arm and case: what every report is made of, wherever the answers came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from drift.branching import Token
from drift.measure.evals.cases import Cases, Floats


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to one case. `score` None: unscored, for the reason in `why`; it is never counted as a fail.

    `round`: which repeat it is, from 1. `verdicts`: what a judge said each time it was asked. `link`: where to see it.
    `tokens`: the model's own, where known, with the margins in nats between the two best at each.
    """

    score: float | None
    round: int
    text: str | None = None
    outcome: str = "text"
    identity: str = ""
    extracted: str = ""
    why: str = ""
    verdicts: tuple[float, ...] = ()
    tokens: tuple[Token, ...] | None = None
    margins: tuple[float | None, ...] = ()
    batch_sizes: frozenset[int] = frozenset()
    link: str = ""


@dataclass(frozen=True, slots=True)
class CaseAnswers:
    """One arm's answers to one case. `prompt_digest` '': not known. `subset`: a part reported by itself."""

    key: str
    answers: tuple[Answer, ...]
    question: str = ""
    targets: tuple[str, ...] = ()
    prompt_digest: str = ""
    cluster: str = ""
    subset: str = ""

    @property
    def scores(self) -> list[float]:
        return [answer.score for answer in self.answers if answer.score is not None]


@dataclass(frozen=True, slots=True)
class ArmAnswers:
    """`void`: why the endpoint's baseline was not valid meanwhile. `baseline`: what else is known of it, in words.

    `setup`: endpoint and parameters; arms of the same setup and prompts are two dates of one endpoint.
    """

    name: str
    cases: tuple[CaseAnswers, ...]
    endpoint: str = ""
    void: str = ""
    baseline: str = ""
    setup: str = ""

    @property
    def scored(self) -> list[CaseAnswers]:
        """The cases with at least one score."""
        return [case for case in self.cases if case.scores]

    @property
    def numbers(self) -> Cases:
        return Cases.of([case.scores for case in self.scored])

    def rounds(self) -> Floats:
        """Scores by case and round: float64[n, K], NaN where there is none."""
        last = max((answer.round for case in self.cases for answer in case.answers), default=0)
        table = np.full((len(self.cases), last), np.nan)
        for row, case in enumerate(self.cases):
            for answer in case.answers:
                if answer.score is not None:
                    table[row, answer.round - 1] = answer.score
        return table

    @property
    def subsets(self) -> dict[str, ArmAnswers]:
        """The parts that are reported by themselves; empty where there is only one."""
        names = dict.fromkeys(case.subset for case in self.cases)
        if len(names) < 2:
            return {}
        return {
            name or "(none)": ArmAnswers(self.name, tuple(case for case in self.cases if case.subset == name))
            for name in names
        }


@dataclass(frozen=True, slots=True)
class Results:
    """All arms of one run, or one file."""

    name: str
    arms: tuple[ArmAnswers, ...]
    notes: tuple[str, ...] = field(default=())


def gathered(rows: Iterable[tuple[str, CaseAnswers]]) -> tuple[ArmAnswers, ...]:
    """Arms from (arm, case with some answers), cases of the same key merged, all in order of appearance.

    Rounds counted from 0 come out from 1 on; where rounds repeat or are not known, they are numbered by order.
    """
    arms: dict[str, dict[str, list[CaseAnswers]]] = {}
    for arm, case in rows:
        arms.setdefault(arm, {}).setdefault(case.key, []).append(case)
    every = [[a.round for part in parts for a in part.answers] for cases in arms.values() for parts in cases.values()]
    numbered = all(len(set(rounds)) == len(rounds) for rounds in every) and any(map(any, every))
    shift = 1 if any(0 in rounds for rounds in every) else 0
    return tuple(
        ArmAnswers(arm, tuple(_merged(parts, shift if numbered else None) for parts in cases.values()))
        for arm, cases in arms.items()
    )


def _merged(parts: list[CaseAnswers], shift: int | None) -> CaseAnswers:
    answers = [answer for part in parts for answer in part.answers]
    if shift is None:
        answers = [replace(answer, round=number) for number, answer in enumerate(answers, start=1)]
    else:
        answers = sorted((replace(a, round=a.round + shift) for a in answers), key=lambda answer: answer.round)
    return replace(parts[0], answers=tuple(answers))


def identities(arm: ArmAnswers) -> Mapping[str, int]:
    """How many answers each identity gave, the most first; answers that say nothing are left out."""
    counts: dict[str, int] = {}
    for case in arm.cases:
        for answer in case.answers:
            if answer.identity:
                counts[answer.identity] = counts.get(answer.identity, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))
