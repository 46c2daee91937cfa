"""Everything that is stored of a set, a run or a report, in formats that others read too."""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Iterator

from drift.evals.answers import Results
from drift.models import EvalAnswer, EvalRun, EvalScore, EvalVersion

LONG_COLUMNS = (
    "item_id", "model", "score", "epoch", "response", "target", "outcome", "extracted", "why", "identity", "cluster_id",
    "subset",
)  # fmt: skip


def cases_as_jsonl(version: EvalVersion) -> Iterator[str]:
    """Inspect's samples (`id`, `input`, `target`, `choices`, `metadata`), with ours beside them; reads back here."""
    for row in version.cases.iterator(chunk_size=500):
        sample = {
            "id": row.key,
            "input": row.messages,
            "target": row.targets,
            "choices": row.choices or None,
            "metadata": row.metadata or None,
            "variables": row.variables or None,
            "graders": row.graders or None,
            "threshold": row.threshold,
            "repeats": row.repeats,
            "cluster": row.cluster or None,
        }
        yield json.dumps({k: v for k, v in sample.items() if v is not None}, ensure_ascii=False) + "\n"


def answers_as_csv(results: Results) -> Iterator[str]:
    """One row per answer in the canonical long form, which `evalreport` and other tools read. Unscored: empty."""
    yield _line(LONG_COLUMNS)
    for arm in results.arms:
        for case in arm.cases:
            for answer in case.answers:
                yield _line(
                    (
                        case.key,
                        arm.name,
                        "" if answer.score is None else f"{answer.score:g}",
                        answer.round,
                        answer.text or "",
                        json.dumps(list(case.targets), ensure_ascii=False)
                        if len(case.targets) > 1
                        else "".join(case.targets),
                        answer.outcome,
                        answer.extracted,
                        answer.why,
                        answer.identity,
                        case.cluster,
                        case.subset,
                    )
                )


def raw_as_jsonl(run: EvalRun) -> Iterator[str]:
    """Every answer with the bytes that were sent and received, base64, and what each grader said."""
    rows = EvalAnswer.objects.filter(arm__run=run).select_related("arm", "case").prefetch_related("scores")
    for row in rows.order_by("arm__position", "case__position", "repeat").iterator(chunk_size=200):
        yield (
            json.dumps(
                {
                    "case": row.case.key,
                    "arm": row.arm.name,
                    "repeat": row.repeat,
                    "outcome": row.outcome,
                    "identity": row.identity_label,
                    "score": row.score,
                    "started_at": row.started_at.isoformat(),
                    "latency_ms": row.latency_ms,
                    "http_status": row.http_status,
                    "headers": row.headers,
                    "request": base64.b64encode(bytes(row.request)).decode(),
                    "response": base64.b64encode(bytes(row.raw)).decode(),
                    "scores": list(map(_score, row.scores.all())),
                },
                ensure_ascii=False,
            )
            + "\n"
        )


def _score(row: EvalScore) -> dict[str, object]:
    return {
        "grader": row.grader,
        "version": row.grader_version,
        "place": row.place,
        "trial": row.trial,
        "score": row.score,
        "extracted": row.extracted,
        "why": row.why,
    }


def _line(cells: tuple[object, ...]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerow([safe(cell) for cell in cells])
    return buffer.getvalue()


def safe(cell: object) -> object:
    """A text that a spreadsheet would take for a formula is marked as text."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
