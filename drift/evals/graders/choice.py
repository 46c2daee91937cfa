"""The answer names the right letter of a multiple-choice question, or says the right choice in its own words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from django.utils.translation import gettext_noop

from drift.evals.case import LETTERS, Case
from drift.evals.graders.grade import Grade, right_or_wrong
from drift.evals.graders.normalise import comparable, field_of
from drift.said import said

_STATED = re.compile(r"(?:answer|choice|option)\s*(?:is|:|=)?\s*[\"'*(\[]*\s*([A-Z])(?![A-Za-z])", re.IGNORECASE)
_ALONE = re.compile(r"^\W*([A-Za-z])\W*$")
_FIRST = re.compile(r"^\W*([A-Z])[).:,]")
_BRACKETED = re.compile(r"\(([A-Z])\)")


@dataclass(frozen=True, slots=True)
class Choice:
    """`json_field`: look in that field of a JSON answer. An answer without a recognisable choice is wrong."""

    version: ClassVar[int] = 1
    json_field: str = ""

    def grade(self, answer: str, case: Case) -> Grade:
        if not case.targets:
            return Grade(None, "", said(gettext_noop("the case has no target")))
        targets = {letter_of(target, case) or comparable(target, True, True) for target in case.targets}
        text, problem = field_of(answer, self.json_field) if self.json_field else (answer, "")
        if problem:
            return right_or_wrong(False, "", problem)
        found = letter_of(text, case)
        if found is None:
            return right_or_wrong(False, "", said(gettext_noop("no choice recognised in the answer")))
        wanted = " or ".join(sorted(targets))
        return right_or_wrong(
            found in targets, found, "" if found in targets else said(gettext_noop("wanted {wanted}"), wanted=wanted)
        )


def letter_of(text: str, case: Case) -> str | None:
    """The choice a text names: a letter alone, 'answer: B', '(B)', 'B) ...', or a choice's own words."""
    alone = _ALONE.match(text)
    if alone:
        return alone[1].upper()
    mine = comparable(text, ignore_case=True, ignore_punctuation=True)
    for letter, choice in zip(LETTERS, case.choices, strict=False):
        if mine == comparable(choice, ignore_case=True, ignore_punctuation=True):
            return letter
    stated = _STATED.findall(text)
    if stated:
        return str(stated[-1]).upper()
    match = _FIRST.match(text)
    if match:
        return match[1]
    bracketed = set(_BRACKETED.findall(text))
    if len(bracketed) == 1:
        return str(bracketed.pop())
    return mine or None if not case.choices and len(mine.split()) == 1 else None
