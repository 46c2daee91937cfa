"""Stores what a run brought back: everything in one transaction, or nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db import transaction
from django.db.models import F

from drift import readings, rollups
from drift.answers import COMPARABLE, Decoded, Exchange, IdentityFacts, Outcome
from drift.display import visible, visible_json
from drift.findings.apply import after_run
from drift.measure.agreement import whitespace_normalised
from drift.models import Heartbeat, Identity, Output, Run, Sample, Series
from drift.partitions import ensure_sample_partition

# An answer that the endpoint itself produced now; a cached or failed one says nothing of who would have answered.
IDENTIFYING = COMPARABLE | {Outcome.EMPTY, Outcome.REASONING_ONLY, Outcome.FILTERED}


@dataclass(frozen=True, slots=True)
class Answer:
    """One exchange of a run and how it was read."""

    canary_id: int
    repeat: int
    exchange: Exchange
    decoded: Decoded


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
        reason = sample.error_message or sample.outcome.replace("_", " ")
        reasons[reason] = reasons.get(reason, 0) + 1
    return max(reasons, key=lambda reason: reasons[reason])


def _store_samples(run: Run, series: Series, answers: Sequence[Answer]) -> list[Sample]:
    identities = _identities(series, answers)
    outputs = _outputs(answers)
    first = _first_to_start(answers)
    samples = []
    for answer in answers:
        exchange, decoded = answer.exchange, answer.decoded
        sample = Sample(
            scheduled_for=run.scheduled_for,
            run=run,
            canary_id=answer.canary_id,
            repeat=answer.repeat,
            series=series,
            identity_id=identities.get(_identity_digest(decoded.identity)) if _identifies(decoded) else None,
            output_id=outputs.get((answer.canary_id, output_digest(decoded))) if _comparable(decoded) else None,
            outcome=decoded.outcome,
            cold=first.get(answer.canary_id) == answer.repeat,
            started_at=exchange.started_at,
            latency_ms=exchange.latency_ms,
            first_byte_ms=exchange.first_byte_ms,
            attempts=exchange.attempts,
            http_status=exchange.status,
            headers=visible_json(dict(exchange.headers)),
            request=exchange.request_body,
            raw=exchange.body,
        )
        fill_decoded(sample, decoded)
        samples.append(sample)
    return Sample.objects.bulk_create(samples)


def fill_decoded(sample: Sample, decoded: Decoded) -> None:
    """Sets the fields of a sample that its decoder read, and no other."""
    sample.decoder_version = decoded.version
    sample.finish = decoded.finish
    sample.finish_reason = visible(decoded.finish_reason)[:80] if decoded.finish_reason is not None else None
    usage = decoded.usage
    sample.prompt_tokens = usage.prompt_tokens
    sample.completion_tokens = usage.completion_tokens
    sample.reasoning_tokens = usage.reasoning_tokens
    sample.cached_tokens = usage.cached_tokens
    sample.cost = usage.cost
    sample.completion_id = visible(decoded.completion_id)[:200]
    sample.batch_sizes = list(decoded.batch_sizes) if decoded.batch_sizes is not None else None
    sample.logprobs = _logprobs(decoded)
    sample.margins = _margins(decoded)
    sample.error_code = visible(decoded.error_code)[:120]
    sample.error_message = visible(decoded.error_message)[:4000]


def output_digest(decoded: Decoded) -> bytes:
    """SHA-256 of the raw compared value."""
    return hashlib.sha256(decoded.compared.encode("utf-8", "surrogatepass")).digest()


def _comparable(decoded: Decoded) -> bool:
    return decoded.outcome in COMPARABLE


def _identifies(decoded: Decoded) -> bool:
    return decoded.outcome in IDENTIFYING


def _identity_digest(facts: IdentityFacts) -> bytes:
    value = [facts.model_echo, facts.fingerprint_state, facts.fingerprint, facts.upstream, facts.region]
    return hashlib.sha256(json.dumps(value).encode()).digest()


def _identities(series: Series, answers: Sequence[Answer]) -> dict[bytes, int]:
    """Identity ids by digest, with counts and times brought up to date."""
    seen: dict[bytes, list[Answer]] = {}
    for answer in answers:
        if _identifies(answer.decoded):
            seen.setdefault(_identity_digest(answer.decoded.identity), []).append(answer)
    if not seen:
        return {}
    fresh = []
    for digest, group in seen.items():
        facts = group[0].decoded.identity
        times = [answer.exchange.started_at for answer in group]
        fresh.append(
            Identity(
                endpoint_id=series.endpoint_id,
                digest=digest,
                model_echo=visible(facts.model_echo)[:300] if facts.model_echo is not None else None,
                fingerprint_state=facts.fingerprint_state,
                fingerprint=visible(facts.fingerprint)[:300],
                upstream=visible(facts.upstream)[:200],
                region=visible(facts.region)[:200],
                first_seen=min(times),
                last_seen=max(times),
            )
        )
    Identity.objects.bulk_create(fresh, ignore_conflicts=True)
    ids: dict[bytes, int] = {}
    rows = Identity.objects.select_for_update().filter(endpoint_id=series.endpoint_id, digest__in=list(seen))
    for row in rows.order_by("id"):
        group = seen[bytes(row.digest)]
        times = [answer.exchange.started_at for answer in group]
        Identity.objects.filter(pk=row.pk).update(
            samples_count=F("samples_count") + len(group),
            first_seen=min(row.first_seen, *times),
            last_seen=max(row.last_seen, *times),
        )
        ids[bytes(row.digest)] = row.pk
    return ids


def _outputs(answers: Sequence[Answer]) -> dict[tuple[int, bytes], int]:
    """Output ids by (canary, digest); new distinct answers are stored."""
    fresh: dict[tuple[int, bytes], Output] = {}
    for answer in answers:
        decoded = answer.decoded
        if not _comparable(decoded):
            continue
        key = (answer.canary_id, output_digest(decoded))
        known = fresh.get(key)
        if known is None or (known.token_bytes is None and decoded.tokens):
            fresh[key] = _new_output(answer)
    Output.objects.bulk_create(fresh.values(), ignore_conflicts=True)
    rows = Output.objects.filter(
        canary_id__in={canary for canary, _ in fresh}, digest__in={digest for _, digest in fresh}
    ).values_list("canary_id", "digest", "id")
    return {(canary, bytes(digest)): pk for canary, digest, pk in rows}


def _new_output(answer: Answer) -> Output:
    decoded = answer.decoded
    normalised = whitespace_normalised(decoded.compared)
    output = Output(
        canary_id=answer.canary_id,
        digest=output_digest(decoded),
        whitespace_digest=hashlib.sha256(normalised.encode("utf-8", "surrogatepass")).digest(),
        text=visible(decoded.compared.replace("\x1e", "\n")),
        first_seen=answer.exchange.started_at,
    )
    if decoded.tokens:
        pieces = [token.text for token in decoded.tokens]
        output.token_bytes = b"".join(pieces)
        output.token_ends = np.cumsum([len(piece) for piece in pieces]).tolist()
    return output


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
