"""Catches repeats that a cache answered, over all answers to a case, those of an earlier worker included."""

from __future__ import annotations

from collections.abc import Sequence

from drift.answers import ApiKind, Decoded, Exchange, Outcome, Transport
from drift.evals.record import mark_cached
from drift.models import EvalAnswer, EvalRun
from workers.probe import caching
from workers.probe.decode import decode


def settle(run: EvalRun) -> int:
    """Marks cached answers of cases with ungraded ones; returns how many. A cache never answers a repeat."""
    groups: dict[tuple[int, int], None] = dict.fromkeys(
        EvalAnswer.objects.filter(arm__run=run, graded_at__isnull=True).values_list("arm_id", "case_id")
    )
    marked = 0
    for arm, case in groups:
        rows = list(
            EvalAnswer.objects.filter(arm=arm, case=case).exclude(outcome=Outcome.CACHED).order_by("started_at")
        )
        marked += _mark(rows)
    return marked


def _mark(rows: Sequence[EvalAnswer]) -> int:
    exchanges = [exchange_of(row) for row in rows]
    read: list[Decoded] = [decode(exchange) for exchange in exchanges]
    marked = 0
    for row, decoded in zip(rows, caching.mark_cached(read, exchanges), strict=True):
        if decoded.outcome is Outcome.CACHED and row.outcome != Outcome.CACHED:
            mark_cached(row, decoded.cache_evidence)
            marked += 1
    return marked


def exchange_of(row: EvalAnswer) -> Exchange:
    """The stored bytes as what the prober brought."""
    failed = Outcome(row.outcome) if not row.http_status else None
    return Exchange(
        request_body=bytes(row.request),
        transport=Transport(row.transport),
        started_at=row.started_at,
        latency_ms=row.latency_ms,
        status=row.http_status,
        headers=tuple((str(name), str(value)) for name, value in row.headers.items()),
        body=bytes(row.raw),
        transport_error=failed,
        error_detail=row.error_message if failed else "",
        attempts=row.attempts,
        kind=ApiKind(row.kind),
    )
