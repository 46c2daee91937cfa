"""OpenAI evals: JSONL of `input` (text or chat) and `ideal` (text or list). Their `Match` is 'starts with'."""

from __future__ import annotations

from drift.evals.case import Case
from drift.evals.cases.imported import Imported, Problem
from drift.evals.cases.inspect_cases import messages_of, texts
from drift.evals.cases.refusals import refused_value
from drift.evals.errors import FileError
from drift.evals.lines import rows_of


def read(name: str, data: bytes) -> Imported:
    cases: list[Case] = []
    problems: list[Problem] = []
    for line, row in rows_of(name, data):
        why = refused_value({"input": row.get("input"), "ideal": row.get("ideal")})
        if why:
            problems.append(Problem(line, why))
            continue
        try:
            cases.append(
                Case(
                    key=str(row.get("id") or f"case-{len(cases) + 1}"),
                    messages=messages_of(row.get("input")),
                    targets=texts(row.get("ideal")),
                    metadata={name: value for name, value in row.items() if name not in ("input", "ideal", "id")},
                )
            )
        except FileError as error:
            problems.append(Problem(line, str(error)))
    grader = {"kind": "includes", "place": "start", "ignore_case": False}
    return Imported(tuple(cases), graders=(grader,), problems=tuple(problems))
