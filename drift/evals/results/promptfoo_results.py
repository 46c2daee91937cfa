"""promptfoo's `--output results.json`: every repeat is a row of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext

from drift.evals.answers import Answer, CaseAnswers, Results, gathered
from drift.evals.case import digest
from drift.evals.errors import FileError
from drift.evals.lines import json_value, text_of


def looks_like(data: bytes) -> bool:
    return b'"results"' in data[:2_000_000] and isinstance(_rows(data, strict=False), list)


def read(name: str, data: bytes) -> Results:
    """One arm per provider and prompt. A row with an error is unscored. Raises FileError."""
    rows = _rows(data, strict=True) or []
    if not rows:
        raise FileError(gettext("this file holds no results"))
    labels = {_prompt(row) for row in rows}
    return Results(name, gathered(_answers(rows, several_prompts=len(labels) > 1)))


def _rows(data: bytes, strict: bool) -> list[Mapping[str, Any]] | None:
    try:
        whole = json_value(text_of(data))
    except FileError:
        if strict:
            raise
        return None
    outer = whole.get("results") if isinstance(whole, dict) else None
    rows = outer.get("results") if isinstance(outer, dict) else outer
    if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
        return rows
    if strict:
        raise FileError(gettext("there is no list of results under results.results"))
    return None


def _answers(rows: list[Mapping[str, Any]], several_prompts: bool) -> Iterator[tuple[str, CaseAnswers]]:
    for row in rows:
        variables = row.get("vars") or {}
        response = row.get("response") if isinstance(row.get("response"), dict) else {}
        output = (response or {}).get("output")
        test = row.get("testCase") if isinstance(row.get("testCase"), dict) else {}
        grading = row.get("gradingResult") if isinstance(row.get("gradingResult"), dict) else {}
        error = _error(row, output)
        index = row.get("repeatIndex")
        answer = Answer(
            score=None if error else float(row.get("success") is True),
            round=index + 1 if isinstance(index, int) else 0,
            text=output if isinstance(output, str) else json.dumps(output) if output is not None else None,
            outcome="failed" if error else "text",
            why=error or str((grading or {}).get("reason") or "")[:2000],
        )
        raw = _prompt(row)
        described = str((test or {}).get("description") or "")
        key = described or json.dumps(variables, sort_keys=True, ensure_ascii=False)[:200]
        case = CaseAnswers(
            key=key,
            answers=(answer,),
            question=raw[:4000] or json.dumps(variables, ensure_ascii=False)[:4000],
            prompt_digest=digest([{"role": "user", "content": raw}]) if raw else "",
        )
        provider = row.get("provider")
        arm = (
            str((provider or {}).get("label") or (provider or {}).get("id")) if isinstance(provider, dict) else provider
        )
        number = row.get("promptIdx")
        yield (f"{arm} · prompt {number}" if several_prompts and number is not None else str(arm or "answers")), case


def _prompt(row: Mapping[str, Any]) -> str:
    prompt = row.get("prompt")
    return str(prompt.get("raw") or "") if isinstance(prompt, dict) else str(prompt or "")


def _error(row: Mapping[str, Any], output: Any) -> str:
    """Why a row has no score: the provider failed. A failed assertion is a score, though it is listed as one."""
    error = row.get("error")
    response = row.get("response") if isinstance(row.get("response"), dict) else {}
    if (response or {}).get("error"):
        return str((response or {})["error"])[:2000]
    if error and output is None:
        return str(error)[:2000]
    return ""
