"""Stores answers as they come, and reads them again for the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Sum

from drift.answers import Decoded, Exchange, Outcome, Transport
from drift.checkup.packed import pack, unpack, without_reasoning
from drift.checkup.plain import from_plain, to_plain
from drift.checkup.report import Report, notes, report, spoken
from drift.checkup.taken import Examination, Feature, StageAnswers, Taken
from drift.costs import cost_of
from drift.display import visible, visible_json
from drift.models import Checkup, CheckupAnswer, CheckupStage
from drift.said import from_facts


@dataclass(frozen=True, slots=True)
class Asked:
    """One place of a stage, with what came back."""

    question: str
    repeat: int
    exchange: Exchange
    decoded: Decoded


def store(checkup: Checkup, token: UUID, stage: CheckupStage, asked: Sequence[Asked]) -> bool:
    """Writes answers and progress. False, and nothing written, if the claim is lost."""
    with transaction.atomic():
        held = Checkup.objects.select_for_update().filter(pk=checkup.pk, claim=token, state=Checkup.State.RUNNING)
        if not held.exists():
            return False
        CheckupAnswer.objects.bulk_create([row_of(checkup, stage, one) for one in asked], ignore_conflicts=True)
        count_progress(checkup)
    return True


def count_progress(checkup: Checkup) -> None:
    """Takes progress and cost anew from the rows."""
    seen = CheckupAnswer.objects.filter(stage__checkup=checkup).aggregate(
        n=Count("pk"), cost=Sum("cost"), asked=Sum("prompt_tokens"), written=Sum("completion_tokens")
    )
    checkup.answered = seen["n"]
    checkup.cost = seen["cost"] or Decimal(0)
    checkup.tokens = (seen["asked"] or 0) + (seen["written"] or 0)
    checkup.attempts = 0
    checkup.save(update_fields=["answered", "cost", "tokens", "attempts"])


def row_of(checkup: Checkup, stage: CheckupStage, asked: Asked) -> CheckupAnswer:
    exchange, decoded = asked.exchange, asked.decoded
    return CheckupAnswer(
        stage=stage,
        question=asked.question,
        repeat=asked.repeat,
        outcome=decoded.outcome,
        started_at=exchange.started_at,
        latency_ms=exchange.latency_ms,
        attempts=exchange.attempts,
        http_status=exchange.status,
        transport_error=exchange.transport_error or "",
        error_message=visible(decoded.error_message or exchange.error_detail)[:4000],
        prompt_tokens=decoded.usage.prompt_tokens,
        completion_tokens=decoded.usage.completion_tokens,
        cost=cost_of(checkup.endpoint, decoded.usage) if checkup.endpoint else None,
        headers=visible_json(dict(exchange.headers)),
        request=exchange.request_body,
        raw=exchange.body,
        decoded=pack(without_reasoning(decoded)),
    )


def exchange_of(row: CheckupAnswer) -> Exchange:
    """The exchange as it was stored, as far as judging needs it."""
    return Exchange(
        request_body=bytes(row.request),
        transport=Transport.WHOLE,
        started_at=row.started_at,
        latency_ms=row.latency_ms or 0.0,
        status=row.http_status,
        headers=tuple(row.headers.items()),
        body=bytes(row.raw),
        transport_error=Outcome(row.transport_error) if row.transport_error else None,
        attempts=row.attempts,
    )


def replace_decoded(row: CheckupAnswer, decoded: Decoded) -> None:
    """What a look at the whole stage changed, as when a repeat turns out to come from a cache."""
    row.outcome = decoded.outcome
    row.decoded = pack(decoded)
    row.save(update_fields=["outcome", "decoded"])


def examination_of(checkup: Checkup) -> Examination:
    """Everything stored of a check-up, without raw bytes. One query for the stages and one for each one's answers."""
    stages = list(checkup.stages.order_by("position"))
    endpoint = checkup.endpoint
    return Examination(
        name=checkup.name,
        model=endpoint.model if endpoint else checkup.name,
        began=checkup.started_at or checkup.created_at,
        questions={key: one["name"] for key, one in checkup.questions.items()},
        stages=tuple(_stage(stage) for stage in stages),
        capabilities=_features(checkup),
        in_house=endpoint.in_house if endpoint else "",
        recorded=checkup.origin == Checkup.Origin.RECORDED,
        asked=stages[0].parameters if stages else {},
    )


def _stage(stage: CheckupStage) -> StageAnswers:
    rows = stage.answers.order_by("started_at", "pk").values_list(
        "question", "repeat", "decoded", "started_at", "latency_ms"
    )
    return StageAnswers(
        kind=stage.kind,
        label=stage.label,
        concurrency=stage.concurrency,
        max_tokens=stage.max_tokens,
        answers=tuple(Taken(q, n, unpack(bytes(d)), at, latency) for q, n, d, at, latency in rows.iterator()),
        note=stage.note,
        parameters=stage.parameters,
    )


def make_report(checkup: Checkup) -> Report:
    """Makes the report anew from the stored answers and keeps it with the check-up."""
    made = report(examination_of(checkup))
    checkup.report = to_plain(made)
    checkup.save(update_fields=["report"])
    return made


def report_of(checkup: Checkup) -> Report | None:
    """The report as it was kept, its sentences in the language that is active; None where none was made."""
    if not checkup.report:
        return None
    kept = spoken(from_plain(Report, checkup.report))
    return replace(
        kept,
        capabilities=_features(checkup),
        notes=notes(checkup.stages.order_by("position")) if kept.notes else (),
    )


def _features(checkup: Checkup) -> tuple[Feature, ...]:
    return tuple(Feature(**{**one, "evidence": from_facts(one["evidence"])}) for one in checkup.capabilities)


def previous_of(checkup: Checkup) -> Checkup | None:
    """The latest check-up before this one with a report: of the same endpoint, or of the same recorded model."""
    before = Checkup.objects.filter(team=checkup.team_id, created_at__lt=checkup.created_at).exclude(report={})
    same = (
        before.filter(endpoint=checkup.endpoint_id)
        if checkup.endpoint_id
        else before.filter(origin=checkup.origin, name=checkup.name)
    )
    return same.order_by("-created_at").first()


def latest_of(endpoint_ids: Sequence[int]) -> dict[int, tuple[Checkup, datetime]]:
    """The latest check-up with a report of each endpoint, and when it ended."""
    rows = (
        Checkup.objects.filter(endpoint__in=endpoint_ids, finished_at__isnull=False)
        .exclude(report={})
        .order_by("endpoint", "-finished_at")
        .distinct("endpoint")
    )
    return {row.endpoint_id: (row, row.finished_at) for row in rows if row.endpoint_id and row.finished_at}
