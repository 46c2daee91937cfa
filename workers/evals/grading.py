"""Grades stored answers: rules here and now, judging models and webhooks by asking."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections
from django.utils import timezone
from django.utils.translation import gettext_noop

from drift import endpoints
from drift.addresses import AddressRule
from drift.answers import COMPARABLE, Ask
from drift.costs import cost_of
from drift.display import visible
from drift.evals import graders, record, runs
from drift.evals.case import Case
from drift.evals.graders import Grade, Grader, ModelGraded, Webhook
from drift.evals.store import case_of, graders_of
from drift.models import Endpoint, EvalAnswer, EvalRun, EvalScore
from drift.said import said as told
from drift.said import shown, together
from workers.evals.shares import Holder, Shares
from workers.evals.webhook import post
from workers.probe.holding import ClaimLostError
from workers.probe.patience import Asker

BATCH = 32
Described = tuple[Mapping[str, Any], Grader]


def grade_open(run: EvalRun, token: UUID, until: datetime) -> None:
    """Grades what is not graded yet, until the time is up. Raises WaitError, ClaimLostError."""
    judges = _judges(run)
    with Shares(judges.values(), Holder(f"grade-{run.pk}", run.concurrency)) as shares:
        for batch in _batches(run):
            asyncio.run(_grade(run, batch, judges, shares))
            record.count_progress(run)
            shares.keep()
            if not runs.renew(run, token, timezone.now()):
                raise ClaimLostError
            if timezone.now() >= until:
                return


def _batches(run: EvalRun) -> Iterator[list[EvalAnswer]]:
    while True:
        batch = list(
            EvalAnswer.objects.filter(arm__run=run, graded_at__isnull=True)
            .select_related("case")
            .defer("raw", "request", "headers", "token_bytes", "token_ends", "margins")
            .order_by("repeat", "pk")[:BATCH]
        )
        if not batch:
            return
        yield batch


def _judges(run: EvalRun) -> dict[str, Endpoint]:
    """The judging endpoints that this run's graders name."""
    descriptions = list(run.version.graders)
    for own in run.version.cases.exclude(graders=[]).values_list("graders", flat=True):
        descriptions += own
    wanted = {str(d.get("endpoint")) for d in descriptions if d.get("kind") == "model_graded" and d.get("endpoint")}
    known = Endpoint.objects.filter(team_id=run.version.eval_set.team_id, public_id__in=wanted)
    return {str(endpoint.public_id): endpoint for endpoint in known}


async def _grade(run: EvalRun, batch: Sequence[EvalAnswer], judges: Mapping[str, Endpoint], shares: Shares) -> None:
    rule = AddressRule.parse(settings.ALLOW_PRIVATE_TARGETS)
    try:
        async with AsyncExitStack() as stack:
            askers = {
                name: await stack.enter_async_context(Asker(endpoints.target_of(judge), rule, shares[judge.pk]))
                for name, judge in judges.items()
            }
            gate = asyncio.Semaphore(max(1, run.concurrency))
            await asyncio.gather(*(_grade_one(run, answer, askers, judges, rule, gate) for answer in batch))
    finally:
        await sync_to_async(connections.close_all)()


async def _grade_one(
    run: EvalRun,
    answer: EvalAnswer,
    askers: Mapping[str, Asker],
    judges: Mapping[str, Endpoint],
    rule: AddressRule,
    gate: asyncio.Semaphore,
) -> None:
    now = timezone.now()
    if answer.outcome not in record.GRADED:
        why = answer.why or answer.error_message or told(answer.outcome.replace("_", " "))
        await sync_to_async(record.store_scores)(answer, [], None, "", why, now)
        return
    case = case_of(answer.case)
    described: list[Described] = [(d, graders.make(d)) for d in graders_of(answer.case, run.version)]
    grades: list[Grade] = []
    rows: list[EvalScore] = []
    for place, (description, grader) in enumerate(described):
        if isinstance(grader, ModelGraded):
            async with gate:
                grade, said = await _judge(answer, case, place, grader, askers, judges)
        elif isinstance(grader, Webhook):
            async with gate:
                grade, raw = await post(grader, answer.text, case, rule)
            said = [_row(answer, place, description, grader, grade, raw=raw)]
        else:
            grade = await asyncio.to_thread(grader.grade, answer.text, case)
            said = [_row(answer, place, description, grader, grade)]
        rows += said
        grades.append(graders.settle(description, grade))
    score = graders.combined([d for d, _ in described], [grade.score for grade in grades], answer.case.threshold)
    extracted = next((grade.extracted for grade in grades if grade.extracted), "")
    why = together([grade.why for grade in grades if grade.why])
    await sync_to_async(record.store_scores)(answer, rows, score, extracted, why, now)


async def _judge(
    answer: EvalAnswer,
    case: Case,
    place: int,
    grader: ModelGraded,
    askers: Mapping[str, Asker],
    judges: Mapping[str, Endpoint],
) -> tuple[Grade, list[EvalScore]]:
    """One grade from the judge's verdicts, each of them a row."""
    if grader.endpoint not in askers:
        return Grade(None, "", told(gettext_noop("its judging endpoint is no longer there"))), []
    rows = []
    for trial in range(1, grader.repeats + 1):
        messages = grader.messages(answer.text, case, secrets.token_hex(6))
        exchange, decoded = await askers[grader.endpoint].ask(Ask(messages, grader.max_tokens))
        if decoded.outcome in COMPARABLE:
            grade = grader.read(decoded.text)
        else:
            grade = Grade(
                None,
                "",
                told(
                    gettext_noop("the judge: {problem}"),
                    problem=decoded.error_message or told(decoded.outcome.replace("_", " ")),
                ),
            )
        row = _row(answer, place, {"kind": "model_graded"}, grader, grade, raw=exchange.body, trial=trial)
        row.cost = cost_of(judges[grader.endpoint], decoded.usage)
        rows.append(row)
    verdicts = [row.score for row in rows if row.score is not None]
    why = next((row.why for row in rows if row.why), "")
    return Grade(grader.settled(verdicts), "/".join(row.extracted or "?" for row in rows), why), rows


def _row(
    answer: EvalAnswer,
    place: int,
    description: Mapping[str, Any],
    grader: Grader,
    grade: Grade,
    raw: bytes | None = None,
    trial: int = 1,
) -> EvalScore:
    return EvalScore(
        answer=answer,
        place=place,
        trial=trial,
        grader=str(description["kind"]),
        grader_version=grader.version,
        score=grade.score,
        extracted=visible(grade.extracted)[:4000],
        why=shown(grade.why, 4000),
        raw=raw,
    )
