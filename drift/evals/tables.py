"""The figures of a report as lines of CSV: arms, comparisons, cases. An unknown figure is an empty cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from drift.evals.answers import Results
from drift.evals.comparison import compare_all
from drift.evals.export import answers_as_csv, safe
from drift.evals.report import report
from drift.measure.evals.scopes import Scope

TABLES = ("arms", "comparisons", "cases", "answers")

Line = tuple[Any, ...]


def as_csv(results: Results, margin: float, table: str) -> Iterator[str]:
    """One of `TABLES`; `answers`: every answer in the long form that others read."""
    if table == "answers":
        return answers_as_csv(results)
    return _lines(
        {"arms": _arms(results), "comparisons": _comparisons(results, margin), "cases": _cases(results)}[table]
    )


def _arms(results: Results) -> Iterator[Line]:
    yield ("arm", "part", "cases", "answers", "scored", "score", "low", "high", "run_sd", "flipping")
    for r in map(report, results.arms):
        e = r.score.estimate if r.score else None
        spread = r.spread.run_sd if r.spread else None
        figures = (e.value, e.low, e.high) if e else (None, None, None)
        yield (r.name, "", r.cases, r.answers, r.scored, *figures, spread, len(r.flipping))
        for p in r.parts:
            e = p.score.estimate
            yield (r.name, p.name, p.cases, None, None, e.value, e.low, e.high, None, p.flipping)


def _comparisons(results: Results, margin: float) -> Iterator[Line]:
    yield ("a", "b", "scope", "decides", "difference", "low", "high", "p", "permutation_p", "p_adjusted", "verdict")
    for c in compare_all(results.arms, margin):
        for scope, d in ((Scope.SAMPLE, c.like), (Scope.THESE, c.these)):
            if d:
                ends = (d.estimate.value, d.estimate.low, d.estimate.high)
                decides = scope is c.scope
                verdict = c.verdict.value if decides else None
                yield (c.a, c.b, scope.value, decides, *ends, d.p, d.permuted_p, c.p_adjusted, verdict)


def _cases(results: Results) -> Iterator[Line]:
    yield ("arm", "case", "mean", "scored", "flips")
    for arm in results.arms:
        for case in arm.cases:
            scores = case.scores
            mean = sum(scores) / len(scores) if scores else None
            yield (arm.name, case.key, mean, len(scores), len(set(scores)) > 1)


def _lines(rows: Iterable[Line]) -> Iterator[str]:
    for row in rows:
        buffer = io.StringIO()
        csv.writer(buffer).writerow([safe(cell) for cell in row])
        yield buffer.getvalue()
