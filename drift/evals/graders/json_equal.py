"""The answer is the same JSON value as a target: keys in any order, 1 and 1.0 alike."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.translation import gettext_noop

from drift.evals.case import Case
from drift.evals.graders.exact import wanted
from drift.evals.graders.grade import Grade, right_or_wrong
from drift.evals.graders.normalise import parsed_json
from drift.said import said


@dataclass(frozen=True, slots=True)
class JsonEqual:
    """`value`: JSON text instead of the case's targets."""

    version: ClassVar[int] = 1
    value: tuple[str, ...] | str = ()

    def grade(self, answer: str, case: Case) -> Grade:
        targets = []
        for target in wanted(self.value, case):
            value, problem = parsed_json(target)
            if problem:
                return Grade(None, "", said(gettext_noop("the target is {problem}"), problem=problem))
            targets.append(value)
        if not targets:
            return Grade(None, "", said(gettext_noop("the case has no target")))
        mine, problem = parsed_json(answer)
        if problem:
            return right_or_wrong(False, "", problem)
        hit = any(same(mine, target) for target in targets)
        return right_or_wrong(
            hit, json.dumps(mine, ensure_ascii=False)[:500], "" if hit else said(gettext_noop("another value"))
        )


def same(a: Any, b: Any) -> bool:
    """Equality of JSON values in which true is not 1."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)
