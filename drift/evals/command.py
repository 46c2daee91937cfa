"""`manage.py evalreport FILE`: results made elsewhere in, a table and an HTML file out. No database, no settings."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from drift.evals import gate, standalone, terminal
from drift.evals.answers import ArmAnswers, Results
from drift.evals.comparison import MARGIN, compare_all
from drift.evals.errors import EvalError
from drift.evals.lines import LARGEST_FILE, rows_of
from drift.evals.report import report
from drift.evals.results import read, recognise
from drift.evals.results.long_table import Columns, guess
from drift.evals.results.suggest import grader_for
from drift.measure.evals.scopes import Scope

COLUMNS = ("case", "score", "arm", "round", "answer", "target", "subset", "cluster", "identity", "question")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="Inspect .eval, lm-eval samples, promptfoo results, CSV or JSONL; several files: their arms are compared",
    )
    parser.add_argument(
        "--html", type=Path, help="write a standalone HTML report here (default: beside the first file)"
    )
    parser.add_argument("--no-html", action="store_true", help="only the terminal table")
    parser.add_argument("--json", action="store_true", help="print figures as JSON instead of a table")
    parser.add_argument(
        "--margin", type=float, default=MARGIN * 100, help="points within which arms count as equivalent (3)"
    )
    parser.add_argument(
        "--scope", choices=[scope.value for scope in Scope], help="sample: cases like these; these: exactly these"
    )
    parser.add_argument(
        "--column", action="append", default=[], metavar="MEANING=NAME", help=f"name a column: {', '.join(COLUMNS)}"
    )
    parser.add_argument(
        "--grader", help='how to score answers that have none, as JSON: {"kind": "choice", "json_field": "Answer"}'
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="manage.py evalreport", description=__doc__)
    add_arguments(parser)
    return perform(vars(parser.parse_args(arguments)))


def perform(options: dict[str, Any]) -> int:
    """The exit code: 0, or 2 where a file or option cannot be used."""
    try:
        parts = [load(path, options["column"], options["grader"]) for path in options["files"]]
        results = parts[0] if len(parts) == 1 else together(parts)
        margin, scope = options["margin"] / 100, Scope(options["scope"]) if options["scope"] else None
        if margin <= 0:
            raise EvalError("the margin must be above 0 points")
    except (EvalError, OSError) as error:
        print(f"evalreport: {error}", file=sys.stderr)
        return 2
    reports = [report(arm) for arm in results.arms]
    comparisons = compare_all(results.arms, margin, scope) if len(results.arms) > 1 else []
    if options["json"]:
        print(json.dumps(gate.as_json(results, reports, comparisons), indent=2))
    else:
        print(terminal.render(results, reports, comparisons), end="")
    if not options["no_html"]:
        out = options["html"] or options["files"][0].with_suffix(".report.html")
        out.write_text(standalone.render(results, reports, comparisons), encoding="utf-8")
        print(f"\nwrote {out}", file=sys.stderr)
    return 0


def load(path: Path, named: Sequence[str], grader: str | None) -> Results:
    """One file's results, columns and grader as told, else as they look. Raises EvalError, OSError."""
    if path.stat().st_size > LARGEST_FILE:
        raise EvalError(f"{path.name} is larger than {LARGEST_FILE // 2**20} MB")
    data = path.read_bytes()
    if not named and grader is None and recognise(path.name, data) not in ("long", None):
        return read(path.name, data)
    return read_table(path.name, data, named, grader)


def read_table(name: str, data: bytes, named: Sequence[str] = (), grader: str | None = None) -> Results:
    """A table of answers. Without a score column the grader that fits is taken, and the notes say which."""
    first = next(iter(rows_of(name, data)), None)
    columns = guess(list(first[1])) if first else Columns("")
    for pair in named:
        meaning, _, column = pair.partition("=")
        if meaning not in COLUMNS:
            raise EvalError(f"--column knows {', '.join(COLUMNS)}, not '{meaning}'")
        changes: dict[str, Any] = {meaning: column}
        columns = replace(columns, **changes)
    notes: tuple[str, ...] = ()
    if not columns.score and columns.answer:
        described = described_grader(grader) if grader else suggested(name, data, columns)
        columns = replace(columns, grader=described)
        notes = (f"graded here by {json.dumps(described)}",)
    found = read(name, data, columns)
    return replace(found, notes=(*found.notes, *notes))


def described_grader(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise EvalError(f"--grader is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise EvalError('--grader must be an object such as {"kind": "exact"}')
    return value


def suggested(name: str, data: bytes, columns: Columns) -> dict[str, Any]:
    answers, targets = [], []
    for count, (_, row) in enumerate(rows_of(name, data)):
        if count == 200:
            break
        answers.append(str(row.get(columns.answer, "")))
        targets.append(str(row.get(columns.target, "")))
    return grader_for(answers, targets)


def together(parts: Sequence[Results]) -> Results:
    """The arms of several files; those of the same name are told apart by their file."""
    names = [arm.name for part in parts for arm in part.arms]
    arms: list[ArmAnswers] = []
    for part in parts:
        for arm in part.arms:
            arms.append(arm if names.count(arm.name) == 1 else replace(arm, name=f"{part.name}: {arm.name}"))
    return Results(" and ".join(part.name for part in parts), tuple(arms), tuple(n for p in parts for n in p.notes))
