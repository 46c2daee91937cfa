"""lm-evaluation-harness `samples_*.jsonl` (written with --log_samples): one line per document and filter."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext

from drift.evals.answers import Answer, CaseAnswers, Results, gathered
from drift.evals.cases.inspect_cases import texts
from drift.evals.errors import FileError
from drift.evals.lines import json_rows
from drift.evals.results.long_table import score_of

PREFERRED = ("exact_match", "acc", "acc_norm", "prompt_level_strict_acc", "pass@1", "score", "f1")
_NOT_METRICS = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash", "prompt_hash",
    "target_hash",
}  # fmt: skip


def read(name: str, data: bytes) -> Results:
    """One arm per filter. Lines of the same document are its repeats. Raises FileError.

    The harness scores only the first of several responses unless told otherwise, so responses without a score of
    their own are not invented: a line is one answer.
    """
    rows = list(json_rows(data))
    if not rows:
        raise FileError(gettext("the file has no rows"))
    metric = _metric(rows[0][1])
    arms = gathered(_answers(rows, metric))
    unread = sum(len(_responses(row)) > 1 for _, row in rows)
    notes = [gettext("scored by {metric}").format(metric=metric)]
    if unread:
        notes.append(
            gettext("{unread} documents hold several responses of which the harness scored one").format(unread=unread)
        )
    return Results(name, arms, tuple(notes))


def _metric(row: Mapping[str, Any]) -> str:
    listed = row.get("metrics")
    names = [str(m) for m in listed] if isinstance(listed, list) else [n for n in row if n not in _NOT_METRICS]
    numbers = [n for n in names if isinstance(row.get(n), bool | int | float)]
    for name in (*PREFERRED, *numbers):
        if name in numbers:
            return name
    raise FileError(gettext("no metric with a number is in these samples"), 1)


def _answers(rows: list[tuple[int, Mapping[str, Any]]], metric: str) -> Iterator[tuple[str, CaseAnswers]]:
    for line, row in rows:
        found = _responses(row)
        doc = row.get("doc")
        question = str(doc.get("question") or doc.get("problem") or "") if isinstance(doc, dict) else ""
        case = CaseAnswers(
            key=str(row.get("doc_id")),
            answers=(Answer(score_of(row.get(metric), line), 0, found[0] if found else None),),
            question=question[:4000],
            targets=texts(row.get("target")),
            prompt_digest=str(row.get("prompt_hash") or ""),
        )
        yield str(row.get("filter") or "answers"), case


def _responses(row: Mapping[str, Any]) -> list[str]:
    """The texts of the first request; a log-likelihood request has none."""
    value = row.get("resps")
    first = value[0] if isinstance(value, list) and value else []
    texts_ = first if isinstance(first, list) else [first]
    return [item if isinstance(item, str) else json.dumps(item) for item in texts_ if isinstance(item, str)]
