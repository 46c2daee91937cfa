"""Cases that others wrote: one module per format. What would run code is refused by name and line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from django.utils.translation import gettext, gettext_lazy

from drift.evals.cases import inspect_cases, openai_evals, promptfoo
from drift.evals.cases.imported import Imported, Problem
from drift.evals.errors import EvalError, FileError
from drift.evals.lines import rows_of, text_of

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

FORMATS: Mapping[str, tuple[StrOrPromise, Callable[[str, bytes], Imported]]] = {
    "inspect": (gettext_lazy("Inspect: input, target"), inspect_cases.read),
    "promptfoo": (gettext_lazy("promptfoo: YAML, CSV or JSONL tests"), promptfoo.read),
    "openai": (gettext_lazy("OpenAI evals: input, ideal"), openai_evals.read),
}
MOST_CASES = 20_000


def recognise(name: str, data: bytes) -> str | None:
    """Which format a file is; None where its columns have to be mapped by a person. Raises FileError."""
    lowered = name.lower()
    if lowered.endswith((".yaml", ".yml")):
        return "promptfoo"
    if lowered.endswith(".json") and promptfoo.is_config(text_of(data)):
        return "promptfoo"
    first = next(iter(rows_of(name, data)), None)
    if first is None:
        raise FileError(gettext("the file has no rows"))
    columns = set(first[1])
    if {"input", "ideal"} <= columns:
        return "openai"
    if any(column.startswith("__expected") for column in columns) or ({"vars", "assert"} & columns):
        return "promptfoo"
    return "inspect" if "input" in columns and columns & {"target", "choices", "id"} else None


def read(name: str, data: bytes, kind: str) -> Imported:
    """The cases of a file of that format. Raises EvalError where nothing can be read."""
    if kind not in FORMATS:
        raise EvalError(
            gettext("there is no format '{kind}'; there are: {join}").format(kind=kind, join=", ".join(FORMATS))
        )
    found = FORMATS[kind][1](name, data)
    if len(found.cases) > MOST_CASES:
        raise FileError(
            gettext("the file has {cases} cases; {most_cases} are the most").format(
                cases=f"{len(found.cases):,}", most_cases=f"{MOST_CASES:,}"
            )
        )
    return found.with_unique_keys()


__all__ = ["FORMATS", "Imported", "Problem", "read", "recognise"]
