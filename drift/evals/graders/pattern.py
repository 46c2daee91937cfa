"""A regular expression finds the answer: it matches at all, or its group equals a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from drift.evals.case import Case
from drift.evals.errors import GraderError
from drift.evals.graders.bounded_regex import TooSlowError, compiled, search
from drift.evals.graders.grade import Grade, right_or_wrong
from drift.evals.graders.normalise import comparable


@dataclass(frozen=True, slots=True)
class Pattern:
    """`group` None: matching is enough. Otherwise the group's text must be one of the case's targets."""

    version: ClassVar[int] = 1
    pattern: str = ""
    group: int | None = None
    ignore_case: bool = False

    def __post_init__(self) -> None:
        if not self.pattern:
            raise GraderError("regex needs a pattern")
        groups = compiled(self.pattern, self.ignore_case).groups
        if self.group is not None and not 0 <= self.group <= groups:
            raise GraderError(f"regex: the pattern has {groups} groups, so group {self.group} does not exist")

    def grade(self, answer: str, case: Case) -> Grade:
        try:
            match = search(self.pattern, answer, self.ignore_case)
        except TooSlowError as error:
            return Grade(None, "", str(error))
        if match is None:
            return right_or_wrong(False, "", "no match")
        if self.group is None:
            return right_or_wrong(True, match[0])
        if not case.targets:
            return Grade(None, "", "the case has no target")
        found = match[self.group] or ""
        hit = any(
            comparable(found, self.ignore_case, False) == comparable(target, self.ignore_case, False)
            for target in case.targets
        )
        return right_or_wrong(hit, found, "" if hit else f"wanted {' or '.join(case.targets)[:200]}")
