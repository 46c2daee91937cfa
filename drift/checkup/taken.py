"""What a check-up brought back, as the report reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from drift.answers import COMPARABLE, Decoded
from drift.measure.agreement import split_text
from drift.models.checkup import CheckupStage

Kind = CheckupStage.Kind


@dataclass(frozen=True, slots=True)
class Taken:
    """One answer. `latency_ms` None: recorded elsewhere without it."""

    question: str
    repeat: int
    decoded: Decoded
    started_at: datetime
    latency_ms: float | None = None

    @property
    def comparable(self) -> bool:
        return self.decoded.outcome in COMPARABLE


@dataclass(frozen=True, slots=True)
class StageAnswers:
    """The answers of one stage, in the order of asking. `note`: why there are fewer than planned, or ''."""

    kind: str
    label: str
    concurrency: int
    max_tokens: int
    answers: tuple[Taken, ...]
    note: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def by_question(self) -> dict[str, list[Taken]]:
        """Comparable answers per question, warm ones only in the quiet stage (repeat 0 may have met a cold cache)."""
        groups: dict[str, list[Taken]] = {}
        for answer in self.answers:
            groups.setdefault(answer.question, [])
            if answer.comparable and not (self.kind == Kind.QUIET and answer.repeat == 0):
                groups[answer.question].append(answer)
        return groups


@dataclass(frozen=True, slots=True)
class Feature:
    """What one parameter did when it was asked for."""

    name: str
    state: str
    value: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Examination:
    """Everything that a report is made of. `questions`: name by key."""

    name: str
    model: str
    began: datetime
    questions: Mapping[str, str]
    stages: tuple[StageAnswers, ...]
    capabilities: tuple[Feature, ...] = ()
    in_house: str = ""
    recorded: bool = False
    asked: Mapping[str, Any] = field(default_factory=dict)

    def stage(self, kind: str) -> StageAnswers | None:
        return next((stage for stage in self.stages if stage.kind == kind and stage.answers), None)

    @property
    def quiet(self) -> StageAnswers | None:
        """The stage that the headline figures come from."""
        return self.stage(Kind.QUIET) or self.stage(Kind.RECORDED)

    def loads(self) -> list[StageAnswers]:
        return [stage for stage in self.stages if stage.kind == Kind.LOAD and stage.answers]


def tokens_of(answers: Sequence[Taken]) -> tuple[list[list[bytes]], bool]:
    """The answers as tokens on one axis, and whether those are the model's own (else the documented split)."""
    if answers and all(answer.decoded.tokens for answer in answers):
        return [[token.text for token in answer.decoded.tokens or ()] for answer in answers], True
    split = [split_text(answer.decoded.compared) for answer in answers]
    return [[piece.encode("utf-8", "surrogatepass") for piece in pieces] for pieces in split], False
