"""The last number of the answer is a target, within a tolerance."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop

from drift.evals.case import Case
from drift.evals.errors import GraderError
from drift.evals.graders.exact import wanted
from drift.evals.graders.grade import Grade, right_or_wrong
from drift.said import said

_NUMBER = re.compile(r"[-+−]?(?:\d{1,3}(?:[,\u202f\u00a0 ]\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?|[-+−]?\.\d+")
_LONGEST = 200_000


@dataclass(frozen=True, slots=True)
class Number:
    """|answer - target| <= max(absolute, relative * |target|). Signs for money, units and thousands are looked past.

    `which`: last (as in 'so the total is 59.70 EUR') or first number of the answer.
    """

    version: ClassVar[int] = 1
    absolute: float = 0.0
    relative: float = 0.0
    which: str = "last"
    value: tuple[str, ...] | str = ()

    def __post_init__(self) -> None:
        for name, tolerance in (("absolute", self.absolute), ("relative", self.relative)):
            if not isinstance(tolerance, int | float) or not tolerance >= 0 or math.isinf(tolerance):
                raise GraderError(
                    gettext("number: {name} must be a number that is not below 0, not {tolerance}").format(
                        name=name, tolerance=f"{tolerance!r}"
                    )
                )
        if self.which not in ("first", "last"):
            raise GraderError(gettext("number: which is first or last, not '{which}'").format(which=self.which))

    def grade(self, answer: str, case: Case) -> Grade:
        targets = [number for target in wanted(self.value, case) if (number := read(target, "last")) is not None]
        if not targets:
            return Grade(None, "", said(gettext_noop("the case has no number as its target")))
        found = read(answer, self.which)
        if found is None:
            return right_or_wrong(False, "", said(gettext_noop("no number in the answer")))
        hit = any(abs(found - t) <= max(self.absolute, self.relative * abs(t), 1e-12 * abs(t)) for t in targets)
        return right_or_wrong(
            hit, f"{found:.12g}", "" if hit else said(gettext_noop("wanted {targets}"), targets=f"{targets[0]:.12g}")
        )


def read(text: str, which: str) -> float | None:
    """The first or last number in a text; None without one."""
    matches = _NUMBER.findall(text[-_LONGEST:] if which == "last" else text[:_LONGEST])
    if not matches:
        return None
    chosen = matches[-1] if which == "last" else matches[0]
    number = float(re.sub(r"[,\u202f\u00a0 ]", "", chosen).replace("−", "-"))
    return number if math.isfinite(number) else None
