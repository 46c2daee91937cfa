"""Stores answers as they come and scores as they are given. The keys make doing it twice harmless."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import numpy as np
from django.db import transaction
from django.db.models import Count, F, Q, Sum
from django.utils.translation import gettext_noop

from drift.answers import COMPARABLE, Decoded, Exchange, FingerprintState, IdentityFacts, Outcome
from drift.costs import cost_of
from drift.display import visible, visible_json
from drift.identities import identifies, identity_digest
from drift.models import EvalAnswer, EvalArm, EvalCase, EvalRun, EvalScore
from drift.outputs import output_digest
from drift.said import said, shown

# An empty answer of the model is an answer, and wrong; one that the provider withheld or broke says nothing.
GRADED = COMPARABLE | {Outcome.EMPTY, Outcome.REASONING_ONLY}


@dataclass(frozen=True, slots=True)
class Asked:
    """One place of a run, with what came back."""

    arm: EvalArm
    case: EvalCase
    repeat: int
    prompt_digest: str
    exchange: Exchange
    decoded: Decoded


def store(run: EvalRun, token: UUID, asked: Sequence[Asked]) -> bool:
    """Writes answers with their raw bytes, and the run's progress. False, and nothing written, if the claim is lost."""
    with transaction.atomic():
        held = EvalRun.objects.select_for_update().filter(pk=run.pk, claim=token, state=EvalRun.State.RUNNING)
        if held.first() is None:
            return False
        EvalAnswer.objects.bulk_create([row_of(one) for one in asked], ignore_conflicts=True)
        count_progress(run)
    return True


def count_progress(run: EvalRun) -> None:
    """Takes progress and cost anew from the rows."""
    answers = EvalAnswer.objects.filter(arm__run=run)
    seen = answers.aggregate(
        n=Count("pk"),
        graded=Count("pk", filter=Q(graded_at__isnull=False)),
        cost=Sum("cost"),
        tokens=Sum(F("prompt_tokens")),
        written=Sum("completion_tokens"),
    )
    judged = EvalScore.objects.filter(answer__arm__run=run).aggregate(cost=Sum("cost"))["cost"] or Decimal(0)
    EvalRun.objects.filter(pk=run.pk).update(
        answered=seen["n"],
        graded=seen["graded"],
        cost=(seen["cost"] or Decimal(0)) + judged,
        tokens=(seen["tokens"] or 0) + (seen["written"] or 0),
        attempts=0,
    )


def row_of(asked: Asked) -> EvalAnswer:
    exchange, decoded = asked.exchange, asked.decoded
    comparable = decoded.outcome in COMPARABLE
    row = EvalAnswer(
        arm=asked.arm,
        case=asked.case,
        repeat=asked.repeat,
        prompt_digest=asked.prompt_digest,
        outcome=decoded.outcome,
        text=visible(decoded.compared.replace("\x1e", "\n")),
        digest=output_digest(decoded) if comparable else None,
        started_at=exchange.started_at,
        latency_ms=exchange.latency_ms,
        attempts=exchange.attempts,
        http_status=exchange.status,
        finish_reason=visible(decoded.finish_reason)[:80] if decoded.finish_reason is not None else None,
        prompt_tokens=decoded.usage.prompt_tokens,
        completion_tokens=decoded.usage.completion_tokens,
        cost=cost_of(asked.arm.endpoint, decoded.usage),
        error_message=visible(decoded.error_message or exchange.error_detail)[:4000],
        kind=exchange.kind,
        transport=exchange.transport,
        headers=visible_json(dict(exchange.headers)),
        request=exchange.request_body,
        raw=exchange.body,
        decoder_version=decoded.version,
        batch_sizes=list(decoded.batch_sizes) if decoded.batch_sizes is not None else None,
    )
    if identifies(decoded):
        row.identity_digest = identity_digest(decoded.identity)
        row.identity_label = label_of(decoded.identity)
    if decoded.tokens:
        pieces = [token.text for token in decoded.tokens]
        row.token_bytes = b"".join(pieces)
        row.token_ends = np.cumsum([len(piece) for piece in pieces]).tolist()
        row.margins = _margins(decoded)
    return row


def label_of(facts: IdentityFacts) -> str:
    """An identity in one line: the fingerprint, or that there was none, then model echo and upstream."""
    named = facts.fingerprint_state is FingerprintState.VALUE
    parts = [facts.fingerprint if named else "no fingerprint", facts.model_echo or "", facts.upstream, facts.region]
    return visible(" · ".join(part for part in parts if part))[:600]


def _margins(decoded: Decoded) -> bytes | None:
    if not decoded.tokens or not any(token.top for token in decoded.tokens):
        return None
    margins = []
    for token in decoded.tokens:
        best = sorted((value for _, value in token.top if value is not None), reverse=True)
        margins.append(best[0] - best[1] if len(best) > 1 else np.nan)
    return np.asarray(margins, dtype="<f4").tobytes()


def mark_cached(answer: EvalAnswer, evidence: str) -> None:
    """An answer out of a cache is no repeat: it keeps its bytes and loses its say."""
    EvalAnswer.objects.filter(pk=answer.pk).update(
        outcome=Outcome.CACHED,
        cache_evidence=visible(evidence)[:300],
        score=None,
        why=said(gettext_noop("from a cache: {evidence}"), evidence=visible(evidence)[:2000]),
        identity_digest=None,
        identity_label="",
    )


def store_scores(
    answer: EvalAnswer, scores: Sequence[EvalScore], score: float | None, extracted: str, why: str, now: datetime
) -> None:
    """Writes what the graders said of one answer and what it comes to, together."""
    with transaction.atomic():
        EvalScore.objects.bulk_create(scores, ignore_conflicts=True)
        EvalAnswer.objects.filter(pk=answer.pk).update(
            score=score, extracted=visible(extracted)[:4000], why=shown(why, 4000), graded_at=now
        )
