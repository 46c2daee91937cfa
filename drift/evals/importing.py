"""A file of cases on its way to being a version of a set: read as told, checked, saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from drift.evals import cases as formats
from drift.evals.case import prompt
from drift.evals.cases import Imported, mapped
from drift.evals.errors import EvalError
from drift.evals.lines import rows_of
from drift.evals.store import save_version
from drift.models import EvalVersion, Team, User

MAPPED = "mapped"
LOOKED_AT = 20


def recognised(name: str, data: bytes) -> str:
    """The file's format; `mapped` where its columns have to be named. Raises FileError."""
    return formats.recognise(name, data) or MAPPED


def guessed_columns(name: str, data: bytes) -> mapped.CaseColumns:
    """What the columns of a table seem to hold. Raises FileError."""
    rows = [row for _, (_, row) in zip(range(LOOKED_AT), rows_of(name, data), strict=False)]
    return mapped.guess(mapped.columns_of(rows))


def read_cases(
    name: str, data: bytes, kind: str, columns: mapped.CaseColumns, grader: Mapping[str, Any] | None
) -> Imported:
    """The cases of a file in a format, or of a table whose columns are named. Raises EvalError."""
    if kind != MAPPED:
        return formats.read(name, data, kind)
    if not columns.question:
        raise EvalError(gettext("Name the column of the question."))
    return mapped.read(name, data, columns, [grader or {"kind": "includes"}])


def save_cases(
    team: Team,
    user: User | None,
    name: str,
    imported: Imported,
    *,
    grader: Mapping[str, Any] | None = None,
    template: str = "",
    repeats: int | None = None,
    source: str = "",
) -> EvalVersion:
    """The next version of the set of that name, once every case is known to make a prompt. Raises EvalError."""
    chosen = template or next(iter(imported.templates), "")
    for case in imported.cases:
        prompt(case, chosen if chosen or not case.messages else "")
    return save_version(
        team=team,
        name=name,
        cases=imported.cases,
        grader_descriptions=[grader] if grader else imported.graders,
        template=chosen,
        templates=imported.templates,
        repeats=repeats or imported.repeats or 5,
        source=source,
        user=user,
    )
