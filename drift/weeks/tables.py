"""The report over weeks for programs: CSV and JSON. Times are UTC, unknown is an empty cell or null."""

from __future__ import annotations

import csv
import io
import json

from drift.checkup.plain import to_plain
from drift.weeks.report import WeeksReport

HEAD = (
    "endpoint", "provider", "model", "suite", "state", "best_place", "worst_place", "divergence", "low", "high",
    "pairs", "pairs_differing", "canaries", "distinct_mean", "answers_mean", "repeats_to_24h", "new_identities",
    "changes", "asked", "failing", "p50_ms", "p95_ms", "cost",
)  # fmt: skip


def as_json(report: WeeksReport) -> str:
    return json.dumps(to_plain(report), ensure_ascii=False, allow_nan=False)


def as_csv(report: WeeksReport) -> str:
    """One line per endpoint."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(HEAD)
    for one in report.endpoints:
        d = one.divergence
        row = (
            one.name, one.provider, one.model, one.suite, one.state, *(one.rank or (None, None)),
            *((d.value, d.low, d.high) if d else (None, None, None)), one.pairs, one.pairs_differing, one.canaries,
            one.distinct_mean, one.answers_mean, one.horizon, one.new_identities, one.changes_in_all, one.asked,
            one.failing, one.p50_ms, one.p95_ms, one.cost,
        )  # fmt: skip
        writer.writerow([_safe(value) for value in row])
    return out.getvalue()


def _safe(value: object) -> object:
    """A text that a spreadsheet would take for a formula is marked as text."""
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
