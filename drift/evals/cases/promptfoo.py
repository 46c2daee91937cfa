"""promptfoo: a YAML or JSON configuration, a CSV of tests, or JSONL of tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from drift.evals.case import Case, refuse_code
from drift.evals.cases.assertions import from_cell, grader_of
from drift.evals.cases.imported import Imported, Problem
from drift.evals.cases.lined_yaml import Lined, read_yaml
from drift.evals.cases.refusals import refused_value
from drift.evals.errors import EvalError, FileError
from drift.evals.lines import csv_rows, json_rows, text_of


def is_config(text: str) -> bool:
    """Whether a JSON file is a promptfoo configuration."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "tests" in value


def read(name: str, data: bytes) -> Imported:
    lowered = name.lower()
    head = data[:200].lstrip(b"\xef\xbb\xbf \t\r\n")
    if lowered.endswith((".yaml", ".yml")) or (lowered.endswith(".json") and is_config(text_of(data))):
        return _config(text_of(data))
    if lowered.endswith(".csv") or head[:1] not in (b"{", b"["):
        return _csv(data)
    return _tests([(line, row) for line, row in json_rows(data)], {}, ())


def _config(text: str) -> Imported:
    config = read_yaml(text)
    if not isinstance(config, dict):
        raise FileError(gettext("a promptfoo configuration must be a mapping with 'tests'"))
    templates, problems = _templates(config.get("prompts"))
    defaults = config.get("defaultTest")
    if isinstance(defaults, str):
        raise FileError(
            gettext("defaultTest: {refused_value}").format(
                refused_value=refused_value(defaults) or gettext("must be a mapping")
            ),
            _line(config),
        )
    tests = config.get("tests")
    if isinstance(tests, str):
        raise FileError(
            gettext("tests: {refused_value}").format(refused_value=refused_value(tests) or gettext("must be a list")),
            _line(config),
        )
    rows: list[tuple[int | None, Any]] = [(_line(test, config), test) for test in tests or []]
    options = config.get("evaluateOptions") or {}
    repeats = options.get("repeat") if isinstance(options, dict) else None
    found = _tests(rows, defaults or {}, templates)
    return Imported(
        found.cases,
        templates=templates,
        repeats=repeats if isinstance(repeats, int) and repeats > 0 else None,
        problems=(*problems, *found.problems),
    )


def _templates(prompts: Any) -> tuple[tuple[str, ...], list[Problem]]:
    templates, problems = [], []
    for prompt in prompts if isinstance(prompts, list) else [prompts] if prompts else []:
        raw = prompt.get("raw", prompt.get("id", "")) if isinstance(prompt, dict) else str(prompt)
        try:
            if why := refused_value(raw):
                raise FileError(why)
            refuse_code(str(raw))
        except EvalError as error:
            problems.append(Problem(_line(prompt), gettext("prompt: {error}").format(error=error)))
        else:
            templates.append(str(raw))
    return tuple(templates), problems


def _tests(rows: list[tuple[int | None, Any]], defaults: Mapping[str, Any], templates: tuple[str, ...]) -> Imported:
    cases: list[Case] = []
    problems: list[Problem] = []
    for line, test in rows:
        try:
            cases.append(_case(test, defaults, len(cases) + len(problems) + 1))
        except FileError as error:
            problems.append(Problem(error.line if error.line is not None else line, _bare(error)))
        except EvalError as error:
            problems.append(Problem(line, str(error)))
    return Imported(tuple(cases), templates=templates, problems=tuple(problems))


def _case(test: Any, defaults: Mapping[str, Any], number: int) -> Case:
    if isinstance(test, str):
        raise FileError(refused_value(test) or gettext("a test must be a mapping with 'vars'"))
    if not isinstance(test, dict):
        raise FileError(gettext("a test must be a mapping with 'vars'"))
    values = {**(defaults.get("vars") or {}), **(test.get("vars") or {})}
    why = refused_value(values)
    if why:
        raise FileError(gettext("vars: {why}").format(why=why), _line(test.get("vars")))
    if (test.get("options") or {}).get("transform") or test.get("transform"):
        raise FileError(gettext("transform is refused: no uploaded code is run here"), _line(test))
    assertions = [*(defaults.get("assert") or []), *(test.get("assert") or [])]
    graders = []
    for assertion in assertions:
        try:
            graders.append(grader_of(assertion))
        except EvalError as error:
            raise FileError(_bare(error), _line(assertion, test)) from None
    threshold = test.get("threshold")
    variables = {str(name): value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
    return Case(
        key=str(test.get("description") or f"case-{number}"),
        variables=variables,
        graders=tuple(graders),
        threshold=float(threshold) if isinstance(threshold, int | float) else None,
        metadata=dict(test.get("metadata") or {}),
    )


def _csv(data: bytes) -> Imported:
    cases: list[Case] = []
    problems: list[Problem] = []
    for line, row in csv_rows(data):
        try:
            cases.append(_row(row, len(cases) + len(problems) + 1))
        except EvalError as error:
            problems.append(Problem(line, str(error)))
    return Imported(tuple(cases), problems=tuple(problems))


def _row(row: Mapping[str, str], number: int) -> Case:
    expected = [name for name in row if name.startswith("__expected") and row[name].strip()]
    plain = {name: value for name, value in row.items() if not name.startswith("__")}
    why = refused_value(plain)
    if why:
        raise FileError(why)
    threshold = row.get("__threshold", "").strip()
    metadata: dict[str, Any] = {}
    for name, value in row.items():
        if name.startswith("__metadata:"):
            key = name.removeprefix("__metadata:")
            parts = [part.strip() for part in value.split(",")]
            metadata[key.removesuffix("[]")] = parts if key.endswith("[]") else value
    return Case(
        key=row.get("__description") or f"case-{number}",
        variables=plain,
        graders=tuple(from_cell(row[name]) for name in sorted(expected, key=_number)),
        threshold=float(threshold) if threshold else None,
        metadata=metadata,
    )


def _number(column: str) -> int:
    digits = column.removeprefix("__expected")
    return int(digits) if digits.isdecimal() else 0


def _line(*values: Any) -> int | None:
    """The line of the first of these that knows its own."""
    return next((value.line for value in values if isinstance(value, Lined)), None)


def _bare(error: EvalError) -> str:
    """The message without its line, which is told apart."""
    text = str(error)
    line = getattr(error, "line", None)
    return text.removeprefix(f"line {line}: ") if line is not None else text
