"""The answer holds one, or all, of the targets somewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop

from drift.evals.case import Case
from drift.evals.errors import GraderError
from drift.evals.graders.exact import wanted
from drift.evals.graders.grade import Grade, right_or_wrong
from drift.evals.graders.normalise import comparable
from drift.said import said

PLACES = ("anywhere", "start", "end")


@dataclass(frozen=True, slots=True)
class Includes:
    """`mode`: any or all of the targets. `place`: anywhere, start or end. Case is ignored unless told otherwise."""

    version: ClassVar[int] = 1
    mode: str = "any"
    place: str = "anywhere"
    ignore_case: bool = True
    value: tuple[str, ...] | str = ()

    def __post_init__(self) -> None:
        if self.mode not in ("any", "all"):
            raise GraderError(gettext("includes: mode is any or all, not '{mode}'").format(mode=self.mode))
        if self.place not in PLACES:
            raise GraderError(
                gettext("includes: place is {join}, not '{place}'").format(join=", ".join(PLACES), place=self.place)
            )

    def grade(self, answer: str, case: Case) -> Grade:
        targets = wanted(self.value, case)
        if not targets:
            return Grade(None, "", said(gettext_noop("the case has no target")))
        text = comparable(answer, self.ignore_case, ignore_punctuation=False)
        held = [target for target in targets if self._holds(text, target)]
        missing = [target for target in targets if target not in held]
        passed = not missing if self.mode == "all" else bool(held)
        return right_or_wrong(
            passed,
            ", ".join(held)[:200],
            "" if passed else said(gettext_noop("lacks {join}"), join=", ".join(missing)[:200]),
        )

    def _holds(self, text: str, target: str) -> bool:
        sought = comparable(target, self.ignore_case, ignore_punctuation=False)
        if self.place == "start":
            return text.startswith(sought)
        return text.endswith(sought) if self.place == "end" else sought in text
