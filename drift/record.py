"""Stores what a run brought back: everything in one transaction, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db import connection, transaction

from drift import readings, rollups
from drift.answers import Answer, Decoded
from drift.costs import cost_of
from drift.display import visible, visible_json
from drift.findings.apply import after_run
from drift.identities import identifies, identity_digest, store_identities
from drift.models import Endpoint, Heartbeat, Run, Sample, Series
from drift.outputs import comparable, output_digest, store_outputs
from drift.partitions import ensure_sample_partition
from drift.said import said


def record_run(run: Run, claim: UUID, answers: Sequence[Answer], now: datetime) -> bool:
    """Writes samples, outputs, identities, rollups and the reading, and finishes the run, in one transaction.

    False, and nothing written, if the run is no longer held under `claim`: another worker took it over or finished it.
    """
    with transaction.atomic():
        held = Run.objects.select_for_update().filter(pk=run.pk, state=Run.State.RUNNING, claim=claim).first()
        if held is None:
            return False
        if held.series_id is None:
            raise ValueError(f"run {held.pk} has no series: start it with runs.claim")
        series = Series.objects.select_for_update(of=("self",)).select_related("endpoint").get(pk=held.series_id)
        ensure_sample_partition(held.scheduled_for)
        samples = _store_samples(held, series, answers)
        rollups.add_run(series, held, samples)
        held.state = Run.State.FINISHED
        held.finished_at = now
        held.claim = None
        held.lease_until = None
        held.samples_stored = held.samples_done = len(samples)
        held.samples_comparable = sum(sample.output_id is not None for sample in samples)
        held.problem = _problem(samples) if samples and not held.samples_comparable else ""
        held.save()
        readings.refresh(series, now)
        after_run(held, series, samples, [answer.decoded for answer in answers], now)
        Heartbeat.objects.update_or_create(part="run", defaults={"beat_at": now, "detail": {"run": held.pk}})
    return True


def _problem(samples: Sequence[Sample]) -> str:
    """Why a run brought no comparable answer: the commonest reason, in the provider's own words."""
    reasons: dict[str, int] = {}
    for sample in samples:
        reason = said(sample.error_message or sample.outcome.replace("_", " "))
        reasons[reason] = reasons.get(reason, 0) + 1
    return max(reasons, key=lambda reason: reasons[reason])


def _store_samples(run: Run, series: Series, answers: Sequence[Answer]) -> list[Sample]:
    identities = store_identities(series, answers)
    outputs = store_outputs(answers)
    first = _first_to_start(answers)
    samples = []
    for answer in answers:
        exchange = answer.exchange
        sample = Sample(
            scheduled_for=run.scheduled_for,
            run=run,
            canary_id=answer.canary_id,
            repeat=answer.repeat,
            series=series,
            cold=first.get(answer.canary_id) == answer.repeat,
            started_at=exchange.started_at,
            latency_ms=exchange.latency_ms,
            first_byte_ms=exchange.first_byte_ms,
            attempts=exchange.attempts,
            http_status=exchange.status,
            transport_error=exchange.transport_error or "",
            headers=visible_json(dict(exchange.headers)),
            request=exchange.request_body,
            raw=exchange.body,
        )
        fill_decoded(sample, answer.decoded, series.endpoint, identities, outputs)
        samples.append(sample)
    _copy_in(samples)
    return samples


def _copy_in(samples: Sequence[Sample]) -> None:
    """Insert by COPY: building INSERT's statements took a quarter of the whole storing."""
    fields = Sample._meta.concrete_fields
    columns = ", ".join(str(field.column) for field in fields)
    command = f"COPY {Sample._meta.db_table} ({columns}) FROM STDIN"
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.cursor.copy(command) as copy:
        for sample in samples:
            copy.write_row([field.get_db_prep_save(field.pre_save(sample, True), connection) for field in fields])
    for sample in samples:
        sample._state.adding, sample._state.db = False, connection.alias


DECODED_FIELDS = (
    "decoder_version", "outcome", "identity", "output", "finish", "finish_reason", "prompt_tokens",
    "completion_tokens", "reasoning_tokens", "cached_tokens", "cost", "completion_id", "batch_sizes", "logprobs",
    "margins", "error_code", "error_message",
)  # fmt: skip


def fill_decoded(
    sample: Sample,
    decoded: Decoded,
    endpoint: Endpoint,
    identities: Mapping[bytes, int],
    outputs: Mapping[tuple[int, bytes], int],
) -> None:
    """Sets the fields of a sample that its decoder read (`DECODED_FIELDS`), and no other."""
    sample.decoder_version = decoded.version
    sample.outcome = decoded.outcome
    sample.identity_id = identities.get(identity_digest(decoded.identity)) if identifies(decoded) else None
    sample.output_id = outputs.get((sample.canary_id, output_digest(decoded))) if comparable(decoded) else None
    sample.finish = decoded.finish
    sample.finish_reason = visible(decoded.finish_reason)[:80] if decoded.finish_reason is not None else None
    usage = decoded.usage
    sample.prompt_tokens = usage.prompt_tokens
    sample.completion_tokens = usage.completion_tokens
    sample.reasoning_tokens = usage.reasoning_tokens
    sample.cached_tokens = usage.cached_tokens
    sample.cost = cost_of(endpoint, usage)
    sample.completion_id = visible(decoded.completion_id)[:200]
    sample.batch_sizes = list(decoded.batch_sizes) if decoded.batch_sizes is not None else None
    sample.logprobs = _logprobs(decoded)
    sample.margins = _margins(decoded)
    sample.error_code = visible(decoded.error_code)[:120]
    sample.error_message = visible(decoded.error_message)[:4000]


def _first_to_start(answers: Sequence[Answer]) -> dict[int, int]:
    """For each canary the repeat whose request went out first: it may have met a cold prefix cache."""
    first: dict[int, Answer] = {}
    for answer in answers:
        known = first.get(answer.canary_id)
        if known is None or answer.exchange.started_at < known.exchange.started_at:
            first[answer.canary_id] = answer
    return {canary: answer.repeat for canary, answer in first.items()}


def _logprobs(decoded: Decoded) -> bytes | None:
    if not decoded.tokens:
        return None
    values = [np.nan if token.logprob is None else token.logprob for token in decoded.tokens]
    return np.asarray(values, dtype="<f4").tobytes()


def _margins(decoded: Decoded) -> bytes | None:
    """Best minus second best logprob at each position, in nats."""
    if not decoded.tokens or not any(token.top for token in decoded.tokens):
        return None
    margins = []
    for token in decoded.tokens:
        best = sorted((value for _, value in token.top if value is not None), reverse=True)
        margins.append(best[0] - best[1] if len(best) > 1 else np.nan)
    return np.asarray(margins, dtype="<f4").tobytes()
