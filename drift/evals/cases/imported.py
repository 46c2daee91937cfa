"""What came out of a file of cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext

from drift.evals.case import Case


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the file that is not taken over, and where. `line` None: not known."""

    line: int | None
    text: str

    def __str__(self) -> str:
        return (
            gettext("line {line}: {text}").format(line=self.line, text=self.text)
            if self.line is not None
            else self.text
        )


@dataclass(frozen=True, slots=True)
class Imported:
    """`graders`: for cases that bring none; `templates`: prompts the file names; `problems`: what was left out."""

    cases: tuple[Case, ...]
    graders: tuple[Mapping[str, Any], ...] = ()
    templates: tuple[str, ...] = ()
    repeats: int | None = None
    problems: tuple[Problem, ...] = ()

    def with_unique_keys(self) -> Imported:
        """The same; a key that comes again gets a number, so that every case can be spoken of."""
        seen: dict[str, int] = {}
        taken = {case.key for case in self.cases}
        cases = []
        for case in self.cases:
            count = seen[case.key] = seen.get(case.key, 0) + 1
            key = case.key
            while count > 1 and key in taken:
                key = f"{case.key}-{count}"
                count += 1
            taken.add(key)
            cases.append(replace(case, key=key))
        return replace(self, cases=tuple(cases))
