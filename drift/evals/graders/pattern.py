"""A regular expression finds the answer: it matches at all, or its group equals a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop

from drift.evals.case import Case
from drift.evals.errors import GraderError
from drift.evals.graders.bounded_regex import TooSlowError, compiled, search
from drift.evals.graders.grade import Grade, right_or_wrong
from drift.evals.graders.normalise import comparable
from drift.said import said


@dataclass(frozen=True, slots=True)
class Pattern:
    """`group` None: matching is enough. Otherwise the group's text must be one of the case's targets."""

    version: ClassVar[int] = 1
    pattern: str = ""
    group: int | None = None
    ignore_case: bool = False

    def __post_init__(self) -> None:
        if not self.pattern:
            raise GraderError(gettext("regex needs a pattern"))
        groups = compiled(self.pattern, self.ignore_case).groups
        if self.group is not None and not 0 <= self.group <= groups:
            raise GraderError(
                gettext("regex: the pattern has {groups} groups, so group {group} does not exist").format(
                    groups=groups, group=self.group
                )
            )

    def grade(self, answer: str, case: Case) -> Grade:
        try:
            match = search(self.pattern, answer, self.ignore_case)
        except TooSlowError as error:
            return Grade(None, "", str(error))
        if match is None:
            return right_or_wrong(False, "", said(gettext_noop("no match")))
        if self.group is None:
            return right_or_wrong(True, match[0])
        if not case.targets:
            return Grade(None, "", said(gettext_noop("the case has no target")))
        found = match[self.group] or ""
        hit = any(
            comparable(found, self.ignore_case, False) == comparable(target, self.ignore_case, False)
            for target in case.targets
        )
        return right_or_wrong(
            hit, found, "" if hit else said(gettext_noop("wanted {join}"), join=" or ".join(case.targets)[:200])
        )
