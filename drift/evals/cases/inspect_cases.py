"""Inspect samples: `input` (text or chat), `target` (text or list), `choices`, `id`, `metadata`; JSONL or CSV."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.utils.translation import gettext

from drift.evals import graders
from drift.evals.case import LETTERS, Case
from drift.evals.cases.imported import Imported, Problem
from drift.evals.cases.refusals import refused_value
from drift.evals.errors import EvalError, FileError
from drift.evals.lines import rows_of

NOT_TAKEN = ("sandbox", "files", "setup")  # they need a machine to run on
ROLES = ("system", "user", "assistant", "developer")


def read(name: str, data: bytes) -> Imported:
    cases: list[Case] = []
    problems: list[Problem] = []
    for line, row in rows_of(name, data):
        why = _refusal(row)
        if why:
            problems.append(Problem(line, why))
        else:
            try:
                cases.append(_case(row, len(cases) + 1))
            except EvalError as error:
                problems.append(Problem(line, str(error)))
    multiple_choice = bool(cases) and all(case.choices for case in cases)
    fitting = ({"kind": "choice"},) if multiple_choice else ({"kind": "includes"},)
    return Imported(tuple(cases), graders=fitting, problems=tuple(problems))


def _refusal(row: Mapping[str, Any]) -> str | None:
    for field in NOT_TAKEN:
        if row.get(field):
            return gettext("'{field}' is refused: it asks for a machine to run things on").format(field=field)
    return refused_value({"input": row.get("input"), "target": row.get("target")})


def _case(row: Mapping[str, Any], number: int) -> Case:
    choices = texts(row.get("choices"), split=True)
    targets = texts(row.get("target"))
    if choices:  # a target is a letter, or the text of a choice
        targets = tuple(LETTERS[choices.index(target)] if target in choices else target for target in targets)
    variables = row.get("variables") if isinstance(row.get("variables"), dict) else {}
    return Case(
        key=str(row.get("id") or f"case-{number}"),
        messages=() if variables and not row.get("input") else messages_of(row.get("input")),
        targets=targets,
        choices=choices,
        metadata=_metadata(row.get("metadata")),
        **_own(row),
    )


def _own(row: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that our export adds, so that what went out comes back."""
    found: dict[str, Any] = {}
    if isinstance(row.get("variables"), dict):
        found["variables"] = {str(name): str(value) for name, value in row["variables"].items()}
    if isinstance(row.get("graders"), list):
        found["graders"] = tuple(dict(described) for described in row["graders"] if isinstance(described, dict))
        for described in found["graders"]:
            graders.make(described)
    if isinstance(row.get("threshold"), int | float):
        found["threshold"] = float(row["threshold"])
    if isinstance(row.get("repeats"), int) and 1 <= row["repeats"] <= 100:
        found["repeats"] = row["repeats"]
    if row.get("cluster"):
        found["cluster"] = str(row["cluster"])
    return found


def messages_of(value: Any) -> tuple[dict[str, Any], ...]:
    """Chat messages from a text, a list of messages, or their JSON. Raises FileError."""
    if isinstance(value, str) and value.lstrip().startswith("[{"):
        with suppress(ValueError):
            value = json.loads(value)
    if isinstance(value, str):
        if not value.strip():
            raise FileError(gettext("'input' is empty"))
        return ({"role": "user", "content": value},)
    if not isinstance(value, list) or not value:
        raise FileError(gettext("'input' must be a text or a list of messages"))
    messages = []
    for message in value:
        if not isinstance(message, dict) or message.get("role") not in ROLES:
            raise FileError(gettext("a message needs a role ({join}) and content").format(join=", ".join(ROLES)))
        if not isinstance(message.get("content"), str):
            raise FileError(gettext("the content of a message must be text; images and tools are not taken over"))
        messages.append({"role": message["role"], "content": message["content"]})
    return tuple(messages)


def texts(value: Any, split: bool = False) -> tuple[str, ...]:
    """A text or list of texts, or its JSON, as a tuple; `split`: a text is a list with commas. Nothing for NaN."""
    if value is None or (isinstance(value, float) and value != value):
        return ()
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            try:
                value = json.loads(value)
            except ValueError:
                return (value,)
        elif split:
            return tuple(part.strip() for part in value.split(",") if part.strip())
        else:
            return (value,) if value.strip() else ()
    if isinstance(value, list):
        return tuple(item if isinstance(item, str) else json.dumps(item) for item in value)
    return (value if isinstance(value, str) else json.dumps(value),)


def _metadata(value: Any) -> dict[str, Any]:
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except ValueError:
            return {"metadata": value}
    return value if isinstance(value, dict) else {}
