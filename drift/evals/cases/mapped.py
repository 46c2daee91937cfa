"""Any CSV or JSONL of cases, its columns named by a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from drift.evals.case import Case
from drift.evals.cases.imported import Imported, Problem
from drift.evals.cases.inspect_cases import messages_of, texts
from drift.evals.cases.refusals import refused_value
from drift.evals.errors import FileError
from drift.evals.lines import rows_of


@dataclass(frozen=True, slots=True)
class CaseColumns:
    """Which column holds what; '' for none. A dotted name reaches into nested objects. Others become variables."""

    question: str
    target: str = ""
    key: str = ""
    choices: str = ""
    cluster: str = ""
    repeats: str = ""

    @property
    def named(self) -> tuple[str, ...]:
        every = (self.question, self.target, self.key, self.choices, self.cluster, self.repeats)
        return tuple(name for name in every if name)


def read(name: str, data: bytes, columns: CaseColumns, graders: Sequence[Mapping[str, Any]]) -> Imported:
    """The cases of a file under a mapping. Rows that cannot be used are named with their line."""
    cases: list[Case] = []
    problems: list[Problem] = []
    for line, row in rows_of(name, data):
        try:
            cases.append(_case(row, columns, len(cases) + 1))
        except FileError as error:
            problems.append(Problem(line, str(error)))
    return Imported(tuple(cases), graders=tuple(graders), problems=tuple(problems)).with_unique_keys()


def _case(row: Mapping[str, Any], columns: CaseColumns, number: int) -> Case:
    why = refused_value(dict(row))
    if why:
        raise FileError(why)
    repeats = str(at(row, columns.repeats) or "").strip()
    if repeats and not (repeats.isdecimal() and 1 <= int(repeats) <= 100):
        raise FileError(gettext("repeats must be 1 to 100, not '{repeats}'").format(repeats=repeats))
    return Case(
        key=str(at(row, columns.key) or f"case-{number}"),
        messages=messages_of(at(row, columns.question)),
        targets=texts(at(row, columns.target)),
        choices=texts(at(row, columns.choices), split=True),
        variables={name: str(value) for name, value in row.items() if name not in columns.named and _plain(value)},
        cluster=str(at(row, columns.cluster) or ""),
        repeats=int(repeats) if repeats else None,
    )


def at(row: Mapping[str, Any], path: str) -> Any:
    """The value of a column; `a.b` looks into nested objects. None where there is none."""
    if not path:
        return None
    if path in row:
        return row[path]
    value: Any = row
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return value


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names a person can choose from, nested ones dotted, in order of appearance."""
    names: dict[str, None] = {}
    for row in rows:
        for name, value in row.items():
            names[name] = None
            if isinstance(value, Mapping):
                names |= {f"{name}.{inner}": None for inner in value}
    return list(names)


def guess(names: Sequence[str]) -> CaseColumns:
    """A first mapping from common names, for the person to correct."""

    def pick(*words: str) -> str:
        return next((name for word in words for name in names if name.lower().rpartition(".")[2] == word), "")

    return CaseColumns(
        question=pick("input", "question", "prompt", "problem", "instruction", "text", "query"),
        target=pick("target", "answer", "ideal", "expected", "label", "gt", "output", "solution", "reference"),
        key=pick("id", "item_id", "case", "key", "name"),
        choices=pick("choices", "options"),
        cluster=pick("cluster", "cluster_id", "group", "topic", "category", "subject"),
        repeats=pick("repeats"),
    )


def _plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)
