"""Ways to score an answer. Each is named by `kind` and described by plain options; none runs anyone's code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

from django.utils.translation import gettext, gettext_noop

from drift.evals.errors import GraderError
from drift.evals.graders.choice import Choice
from drift.evals.graders.exact import Exact
from drift.evals.graders.grade import Grade
from drift.evals.graders.includes import Includes
from drift.evals.graders.json_equal import JsonEqual
from drift.evals.graders.json_schema import JsonSchema
from drift.evals.graders.model_graded import ModelGraded
from drift.evals.graders.number import Number
from drift.evals.graders.pattern import Pattern
from drift.evals.graders.webhook import Webhook
from drift.said import said

Local: TypeAlias = Exact | Includes | Pattern | Number | JsonEqual | JsonSchema | Choice
Remote: TypeAlias = ModelGraded | Webhook
Grader: TypeAlias = Local | Remote

KINDS: dict[str, type[Grader]] = {
    "exact": Exact,
    "includes": Includes,
    "regex": Pattern,
    "number": Number,
    "json_equal": JsonEqual,
    "json_schema": JsonSchema,
    "choice": Choice,
    "model_graded": ModelGraded,
    "webhook": Webhook,
}
__all__ = ["KINDS", "Grade", "Grader", "Local", "ModelGraded", "Remote", "Webhook", "combined", "make", "settle"]

COMMON = ("kind", "weight", "negate", "name")


def make(description: Mapping[str, Any]) -> Grader:
    """The grader that `{"kind": ..., option: value, ...}` describes. Raises GraderError."""
    kind = description.get("kind")
    if kind not in KINDS:
        raise GraderError(
            gettext("there is no grader '{kind}'; there are: {join}").format(kind=kind, join=", ".join(KINDS))
        )
    known = {field.name for field in fields(KINDS[kind])}
    options = {name: value for name, value in description.items() if name not in COMMON}
    unknown = sorted(set(options) - known)
    if unknown:
        raise GraderError(
            gettext("{kind} has no option '{unknown}'; it has: {join}").format(
                kind=kind, unknown=unknown[0], join=", ".join(sorted(known)) or "none"
            )
        )
    if not isinstance(description.get("weight", 1), int | float) or description.get("weight", 1) < 0:
        raise GraderError(gettext("the weight of {kind} must be a number that is not below 0").format(kind=kind))
    try:
        return KINDS[kind](**{name: _frozen(value) for name, value in options.items()})
    except TypeError as error:
        raise GraderError(f"{kind}: {error}") from error


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def settle(description: Mapping[str, Any], grade: Grade) -> Grade:
    """A grade as its description wants it counted: `negate` turns it round."""
    if description.get("negate") and grade.score is not None:
        return Grade(
            1 - grade.score,
            grade.extracted,
            said(gettext_noop("not: {why}"), why=grade.why) if grade.why else said(gettext_noop("negated")),
        )
    return grade


def combined(
    descriptions: Sequence[Mapping[str, Any]], scores: Sequence[float | None], threshold: float | None
) -> float | None:
    """One score of one answer from its graders' scores.

    Without a threshold the lowest counts: all must be satisfied. With one, the weighted mean decides: 1 at or above it,
    else 0. None (unscored) if any grader could not score, or if there is none.
    """
    known = [score for score in scores if score is not None]
    if not known or len(known) != len(scores):
        return None
    if threshold is None:
        return min(known)
    weights = [float(description.get("weight", 1)) for description in descriptions]
    if not sum(weights):
        return None
    mean = sum(w * s for w, s in zip(weights, known, strict=True)) / sum(weights)
    return 1.0 if mean >= threshold - 1e-9 else 0.0
