"""promptfoo's assertions as our graders."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext

from drift.evals import graders
from drift.evals.cases.refusals import refused_type, refused_value
from drift.evals.errors import FileError

Description = dict[str, Any]
_CELL = re.compile(
    r"^(?P<kind>(?:not-)?[a-z]+(?:-[a-z]+)*)(?:\((?P<threshold>[\d.]+)\))?\s*:\s*(?P<value>.*)$", re.DOTALL
)


def _list(value: Any) -> list[str]:
    items = value if isinstance(value, list) else str(value).split(",")
    return [str(item).strip() for item in items]


def _schema(value: Any) -> str:
    if value in (None, ""):
        return "{}"
    return value if isinstance(value, str) else json.dumps(value)


TYPES: Mapping[str, Callable[[Any], Description]] = {
    "equals": lambda v: (
        {"kind": "json_equal", "value": json.dumps(v)}
        if isinstance(v, dict | list)
        else {"kind": "exact", "value": str(v)}
    ),
    "contains": lambda v: {"kind": "includes", "value": str(v), "ignore_case": False},
    "icontains": lambda v: {"kind": "includes", "value": str(v)},
    "contains-any": lambda v: {"kind": "includes", "value": _list(v), "ignore_case": False},
    "icontains-any": lambda v: {"kind": "includes", "value": _list(v)},
    "contains-all": lambda v: {"kind": "includes", "value": _list(v), "mode": "all", "ignore_case": False},
    "icontains-all": lambda v: {"kind": "includes", "value": _list(v), "mode": "all"},
    "starts-with": lambda v: {"kind": "includes", "value": str(v), "place": "start", "ignore_case": False},
    "regex": lambda v: {"kind": "regex", "pattern": str(v)},
    "is-json": lambda v: {"kind": "json_schema", "schema": _schema(v)},
    "llm-rubric": lambda v: {"kind": "model_graded", "rubric": str(v)},
    "webhook": lambda v: {"kind": "webhook", "url": str(v)},
}


def grader_of(assertion: Any) -> Description:
    """The grader that says the same as `{type, value, threshold, weight}`. Raises EvalError on code and the unknown."""
    if not isinstance(assertion, dict) or "type" not in assertion:
        raise FileError(gettext("an assertion needs a type"))
    kind = str(assertion["type"])
    why = refused_type(kind) or refused_value(assertion.get("value")) or refused_value(assertion.get("transform"))
    if why:
        raise FileError(why)
    if assertion.get("transform"):
        raise FileError(gettext("transform is refused: no uploaded code is run here"))
    negate = kind.startswith("not-")
    plain = kind.removeprefix("not-")
    if plain not in TYPES:
        raise FileError(
            gettext("the assertion '{kind}' has no equal here; there are: {join}").format(
                kind=kind, join=", ".join(TYPES)
            )
        )
    described = TYPES[plain](assertion.get("value", ""))
    if negate:
        described["negate"] = True
    if plain == "llm-rubric" and assertion.get("threshold") is not None:
        described["threshold"] = float(assertion["threshold"])
    if assertion.get("weight") is not None:
        described["weight"] = assertion["weight"]
    if assertion.get("metric"):
        described["name"] = str(assertion["metric"])
    graders.make(described)
    return described


def from_cell(cell: str) -> Description:
    """A grader from a CSV cell: `type: value`, `type(threshold): value`, or a text to equal."""
    text = cell.strip()
    why = refused_value(text)
    if why:
        raise FileError(why)
    match = _CELL.match(text)
    if match and (match["kind"].removeprefix("not-") in TYPES or refused_type(match["kind"])):
        assertion: dict[str, Any] = {"type": match["kind"], "value": match["value"].strip()}
        if match["threshold"]:
            assertion["threshold"] = match["threshold"]
        return grader_of(assertion)
    if text.removeprefix("not-") == "is-json":
        return grader_of({"type": text})
    return grader_of({"type": "equals", "value": text})
