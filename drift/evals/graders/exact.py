"""The answer, or one field of it, is one of the targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from django.utils.translation import gettext_noop

from drift.evals.case import Case
from drift.evals.graders.grade import Grade, right_or_wrong
from drift.evals.graders.normalise import comparable, field_of
from drift.said import said


@dataclass(frozen=True, slots=True)
class Exact:
    """`json_field`: judge that field of a JSON answer. `value`: instead of the case's targets.

    An answer that has no such field is wrong, not unscored: the model was asked for it.
    """

    version: ClassVar[int] = 1
    ignore_case: bool = False
    ignore_punctuation: bool = False
    json_field: str = ""
    value: tuple[str, ...] | str = ()

    def grade(self, answer: str, case: Case) -> Grade:
        text, problem = field_of(answer, self.json_field) if self.json_field else (answer, "")
        if problem:
            return right_or_wrong(False, "", problem)
        targets = wanted(self.value, case)
        if not targets:
            return Grade(None, text, said(gettext_noop("the case has no target")))
        mine = comparable(text, self.ignore_case, self.ignore_punctuation)
        hit = any(mine == comparable(target, self.ignore_case, self.ignore_punctuation) for target in targets)
        return right_or_wrong(
            hit, mine, "" if hit else said(gettext_noop("wanted {join}"), join=" or ".join(targets)[:200])
        )


def wanted(value: tuple[str, ...] | str, case: Case) -> tuple[str, ...]:
    """The grader's own value, else the case's targets."""
    own = (value,) if isinstance(value, str) else value
    return tuple(text for text in own if text) or case.targets
