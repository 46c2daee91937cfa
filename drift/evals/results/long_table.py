"""One row per answer: `item_id, model, score, epoch`, or an answer to be graded against its target."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext

from drift.evals import graders
from drift.evals.answers import Answer, CaseAnswers, Results, gathered
from drift.evals.case import Case
from drift.evals.cases.inspect_cases import texts
from drift.evals.cases.mapped import at
from drift.evals.errors import EvalError, FileError
from drift.evals.lines import rows_of

_WORDS = {
    "true": 1.0,
    "false": 0.0,
    "c": 1.0,
    "i": 0.0,
    "p": 0.5,
    "n": 0.0,
    "pass": 1.0,
    "fail": 0.0,
    "yes": 1.0,
    "no": 0.0,
}
_NO_SCORE = ("", "nan", "none", "null", "error")


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column holds what; '' for none. Without a score column, `grader` scores `answer` against `target`."""

    case: str
    score: str = ""
    arm: str = ""
    round: str = ""
    answer: str = ""
    target: str = ""
    subset: str = ""
    cluster: str = ""
    identity: str = ""
    question: str = ""
    grader: Mapping[str, Any] = field(default_factory=lambda: {"kind": "exact"})

    @property
    def complete(self) -> bool:
        return bool(self.case and (self.score or (self.answer and self.target)))


def guess(names: Sequence[str]) -> Columns:
    """A mapping from common names, for a person to correct."""

    def pick(*words: str) -> str:
        return next((name for word in words for name in names if name.lower() == word), "")

    return Columns(
        case=pick("item_id", "case", "case_id", "item", "id", "example_id", "question_id", "task_id", "doc_id", "name"),
        score=pick("score", "reward", "correct", "passed", "pass", "success", "accuracy", "value"),
        arm=pick("model", "model_id", "arm", "provider", "endpoint", "system", "variant"),
        round=pick("epoch", "sample_idx", "run", "repeat", "trial", "round", "seed", "repeat_index"),
        answer=pick("response", "answer", "output", "completion", "text", "prediction"),
        target=pick("target", "gt", "ideal", "expected", "label", "reference"),
        subset=pick("subset", "task", "dataset", "split"),
        cluster=pick("cluster_id", "cluster", "group"),
        identity=pick("system_fingerprint", "fingerprint", "identity"),
        question=pick("question", "prompt", "input"),
    )


def read(name: str, data: bytes, columns: Columns) -> Results:
    """Raises FileError naming the line of the first row that cannot be used."""
    if not columns.complete:
        raise EvalError(
            gettext("name the column of the case, and that of the score (or those of the answer and its target)")
        )
    grader = None if columns.score else graders.make(columns.grader)
    if isinstance(grader, graders.ModelGraded | graders.Webhook):
        raise EvalError(gettext("a file's answers are graded here and now: pick a grader that asks nobody"))
    arms = gathered(_answers(name, data, columns, grader))
    if not arms:
        raise FileError(gettext("the file has no rows"))
    return Results(name, arms)


def _answers(
    name: str, data: bytes, columns: Columns, grader: graders.Local | None
) -> Iterator[tuple[str, CaseAnswers]]:
    for line, row in rows_of(name, data):
        item, subset = str(at(row, columns.case) or ""), _text(row, columns.subset)
        if not item:
            raise FileError(gettext("the column '{case}' is empty").format(case=columns.case), line)
        number = _round(_text(row, columns.round))
        text = _text(row, columns.answer) if columns.answer else None
        targets = texts(at(row, columns.target)) if columns.target else ()
        key = f"{subset}/{item}" if subset else item
        if grader is not None:
            grade = grader.grade(text or "", Case(key, targets=targets))
        else:
            score = score_of(at(row, columns.score), line)
            grade = graders.Grade(score, why="" if score is not None else gettext("no score in the file"))
        answer = Answer(
            grade.score,
            number,
            text,
            identity=_text(row, columns.identity),
            extracted=grade.extracted,
            why=grade.why,
        )
        case = CaseAnswers(
            key=key,
            answers=(answer,),
            question=_text(row, columns.question)[:4000],
            targets=targets,
            cluster=_text(row, columns.cluster),
            subset=subset,
        )
        yield _text(row, columns.arm) or "answers", case


def _text(row: Mapping[str, Any], column: str) -> str:
    value = at(row, column)
    return "" if value is None else str(value)


def _round(text: str) -> int:
    """The round's number; 0, which has the rounds numbered by their order, where it is none."""
    return int(text) if text.isdecimal() and len(text) < 6 else 0


def score_of(value: Any, line: int | None = None) -> float | None:
    """A score in [0, 1] from a number, a truth value or a word; None for an empty cell or NaN. Raises FileError."""
    if value is None or (isinstance(value, str) and value.strip().lower() in _NO_SCORE):
        return None
    if isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise FileError(gettext("'{value}' is not a score").format(value=str(value)[:60]), line) from None
    if math.isnan(number):
        return None
    if not 0 <= number <= 1:
        raise FileError(
            gettext("the score {number} is not between 0 and 1; scale the scores first").format(number=f"{number:g}"),
            line,
        )
    return number
