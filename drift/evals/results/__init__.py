"""Answers and scores that others collected: one module per format."""

from __future__ import annotations

from django.utils.translation import gettext, gettext_lazy

from drift.evals.answers import Results
from drift.evals.errors import EvalError, FileError
from drift.evals.lines import rows_of
from drift.evals.results import inspect_log, lm_eval, long_table, promptfoo_results
from drift.evals.results.long_table import Columns

FORMATS = {
    "inspect": gettext_lazy("Inspect log (.eval)"),
    "lm_eval": gettext_lazy("lm-evaluation-harness samples (.jsonl)"),
    "promptfoo": gettext_lazy("promptfoo results (.json)"),
    "long": gettext_lazy("one row per answer: item_id, model, score, epoch"),
}


def recognise(name: str, data: bytes) -> str | None:
    """Which format a file is; None where its columns have to be mapped by a person. Raises FileError."""
    if data[:4] == b"PK\x03\x04":
        return "inspect"
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head[:1] == b"{" and promptfoo_results.looks_like(data):
        return "promptfoo"
    first = next(iter(rows_of(name, data)), None)
    if first is None:
        raise FileError(gettext("the file has no rows"))
    columns = set(first[1])
    if {"doc_id", "resps"} <= columns:
        return "lm_eval"
    return "long" if long_table.guess(list(columns)).complete else None


def read(name: str, data: bytes, columns: Columns | None = None) -> Results:
    """The results of a file, its format recognised; `columns`: a person's mapping. Raises EvalError."""
    kind = "long" if columns is not None else recognise(name, data)
    if kind == "inspect":
        return inspect_log.read(name, data)
    if kind == "lm_eval":
        return lm_eval.read(name, data)
    if kind == "promptfoo":
        return promptfoo_results.read(name, data)
    first = next(iter(rows_of(name, data)), (0, {}))[1]
    mapping = columns or long_table.guess(list(first))
    if not mapping.complete:
        raise EvalError(
            gettext(
                "this file's columns are not known: there must be one for the case and one for the score, "
                "or one for the answer and one for the target. It has: {join}"
            ).format(join=", ".join(map(str, first)) or "none")
        )
    return long_table.read(name, data, mapping)


__all__ = ["FORMATS", "Columns", "read", "recognise"]
