"""A stored run or upload as the answers that reports are made of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from urllib.parse import quote

import numpy as np
from django.db.models import Prefetch, Q
from django.utils import timezone
from django.utils.translation import get_language, gettext

from drift.evals.answers import Answer, ArmAnswers, CaseAnswers, Results
from drift.evals.command import read_table
from drift.evals.results import Columns, read, recognise
from drift.evals.store import case_of
from drift.models import Baseline, Endpoint, EvalAnswer, EvalArm, EvalCase, EvalRun, EvalScore, EvalUpload

_DEFERRED = ("raw", "request", "headers")


def results_of_run(run: EvalRun, full: bool = True) -> Results:
    """All arms of a run, one query each. `full`: with what a tree of answers needs."""
    rows = list(run.version.cases.all() if run.only_cases is None else run.version.cases.filter(key__in=run.only_cases))
    arms = run.arms.select_related("endpoint").order_by("position")
    return Results(str(run), tuple(arm_answers(run, arm, rows, full) for arm in arms))


def arm_answers(run: EvalRun, arm: EvalArm, rows: Sequence[EvalCase], full: bool = True) -> ArmAnswers:
    answers: dict[int, list[EvalAnswer]] = {}
    deferred = _DEFERRED if full else (*_DEFERRED, "token_bytes", "token_ends", "margins", "batch_sizes")
    verdicts = EvalScore.objects.filter(grader="model_graded", score__isnull=False).order_by("place", "trial")
    found = (
        arm.answers.defer(*deferred)
        .prefetch_related(Prefetch("scores", queryset=verdicts, to_attr="verdicts"))
        .order_by("repeat")
    )
    for answer in found:
        answers.setdefault(answer.case_id, []).append(answer)
    void = baseline_problem(arm.endpoint, run.started_at, run.finished_at)
    return ArmAnswers(
        name=arm.name,
        cases=tuple(_case(row, answers[row.pk], full) for row in rows if row.pk in answers),
        endpoint=str(arm.endpoint.public_id),
        void=void,
        setup=json.dumps([arm.endpoint_id, arm.parameters], sort_keys=True),
        baseline="" if void or run.started_at is None else baseline_words(arm.endpoint, run.started_at),
    )


def _case(row: EvalCase, answers: Sequence[EvalAnswer], full: bool) -> CaseAnswers:
    return CaseAnswers(
        key=row.key,
        answers=tuple(_answer(answer, full) for answer in answers),
        question=case_of(row).question,
        targets=tuple(row.targets),
        prompt_digest=answers[0].prompt_digest,
        cluster=row.cluster,
    )


def _answer(row: EvalAnswer, full: bool) -> Answer:
    tokens = margins = None
    if full and row.token_bytes is not None and row.token_ends:
        joined = bytes(row.token_bytes)
        starts = [0, *row.token_ends[:-1]]
        tokens = tuple(joined[start:end] for start, end in zip(starts, row.token_ends, strict=True))
        values = np.frombuffer(bytes(row.margins), dtype="<f4") if row.margins else np.empty(0)
        margins = tuple(None if np.isnan(value) else float(value) for value in values)
    return Answer(
        score=row.score,
        round=row.repeat,
        text=row.text if row.digest is not None or row.text else None,
        outcome=row.outcome,
        identity=row.identity_label,
        extracted=row.extracted,
        why=row.why or row.error_message or (gettext("not graded yet") if row.graded_at is None else ""),
        verdicts=tuple(v.score for v in row.verdicts),  # type: ignore[attr-defined]
        tokens=tokens,
        margins=margins or (),
        batch_sizes=frozenset(row.batch_sizes or ()) if full else frozenset(),
        link=str(row.public_id),
    )


def baseline_problem(endpoint: Endpoint, start: datetime | None, end: datetime | None) -> str:
    """Why the endpoint's own baseline speaks against trusting what it said then; '' if it does not, or has none."""
    if start is None:
        return ""
    until = end or timezone.now()
    known = Baseline.objects.filter(series__endpoint=endpoint, invalidated_at__isnull=False).order_by("-invalidated_at")
    during = known.filter(invalidated_at__gt=start, invalidated_at__lte=until).first()
    if during is not None:
        return gettext("its baseline became void while the eval ran: {reason}").format(reason=during.reason)
    before = known.filter(invalidated_at__lte=start).first()
    if before is None:
        return ""
    replaced = Baseline.objects.filter(
        Q(invalidated_at__isnull=True) | Q(invalidated_at__gt=start),
        series_id=before.series_id,
        valid_at__isnull=False,
        valid_at__lte=start,
    ).exists()
    return (
        "" if replaced else gettext("its baseline was void when the eval began: {reason}").format(reason=before.reason)
    )


def baseline_words(endpoint: Endpoint, start: datetime) -> str:
    """Whether the endpoint had a baseline when the eval began."""
    known = Baseline.objects.filter(series__endpoint=endpoint, valid_at__isnull=False, valid_at__lte=start)
    return (
        gettext("its baseline was valid throughout")
        if known.exists()
        else gettext("it had no baseline to compare with")
    )


def results_of_upload(upload: EvalUpload) -> Results:
    """The answers in an uploaded file. Raises EvalError."""
    return _read_upload(upload.pk, json.dumps(upload.columns, sort_keys=True), get_language())


@lru_cache(maxsize=2)  # one report is several pages, and a large file takes seconds to read
def _read_upload(pk: int, columns: str, language: str | None) -> Results:
    upload = EvalUpload.objects.get(pk=pk)
    data, named = bytes(upload.raw), json.loads(columns)
    if named is not None:
        return read(upload.name, data, Columns(**named))
    return read_table(upload.name, data) if recognise(upload.name, data) in ("long", None) else read(upload.name, data)


def file_name(text: str) -> str:
    """A name that fits a Content-Disposition header."""
    return quote("".join(c if c.isalnum() or c in "-_." else "-" for c in text)[:80], safe="")
