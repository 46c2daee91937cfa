"""Eval runs: what one would cost, beginning it, pausing, resuming, stopping, asking deeper; its answers."""

from __future__ import annotations

import base64
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import find, team_rows
from dashboard.api.cursors import PagingQuery, page
from dashboard.api.fields import STORABLE, Asked
from dashboard.api.problems import ConflictError
from drift import entered
from drift.evals import outlook, plan, runs
from drift.evals.plan import ArmPlan, Estimate
from drift.evals.report import DEEPER_REPEATS
from drift.models import Endpoint, EvalAnswer, EvalRun, EvalScore, EvalVersion

router = Router(tags=["Evals"])

Repeats = Annotated[int, Field(ge=1, le=100, strict=True)]
CostCap = Annotated[
    Decimal | None, Field(ge=0, max_digits=12, decimal_places=4, description="Dollars; then it pauses. null: none")
]
TokenCap = Annotated[int | None, Field(ge=1, le=10**15, description="null: none")]
Key = Annotated[str, Field(min_length=1, max_length=300, pattern=STORABLE)]


class EvalArmIn(Schema):
    """One way of answering."""

    endpoint: UUID
    name: Annotated[str, Field(max_length=110, pattern=STORABLE, description="Empty: the endpoint's")] = ""
    template: Annotated[str, Field(max_length=20_000, pattern=STORABLE)] = ""
    system: Annotated[str, Field(max_length=20_000, pattern=STORABLE)] = ""
    parameters: Annotated[dict[str, Any], Field(description="On top of the endpoint's; null removes one")] = {}


class EvalRunIn(Asked):
    version: UUID
    arms: Annotated[list[EvalArmIn], Field(min_length=1, max_length=plan.MOST_ARMS)]
    name: Annotated[str, Field(max_length=120, pattern=STORABLE)] = ""
    repeats: Repeats | None = Field(None, description="null: what the version says")
    max_tokens: Annotated[int, Field(ge=1, le=100_000, strict=True)] = 256
    concurrency: Annotated[int, Field(ge=1, le=64, strict=True, description="In flight per endpoint")] = 4
    margin: Annotated[float, Field(ge=0.0001, le=1, description="A share: 0.03 is three points")] = 0.03
    cost_cap: CostCap = None
    token_cap: TokenCap = None
    stop_early: Annotated[bool, Field(strict=True, description="Two arms only; valid at every look")] = False

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "version": "3f0d6c8e-8a41-4b1c-9a67-2f1e0a0c5d11",
                    "arms": [
                        {"endpoint": "b0a5f7d2-63b5-4f0e-8a0e-0d5f8b1c7a22", "name": "candidate"},
                        {"endpoint": "7c1c7b0e-2f07-4a7e-bb4b-7b0f4c6f7d33", "name": "current"},
                    ],
                    "repeats": 5,
                    "max_tokens": 256,
                    "margin": 0.03,
                    "token_cap": 2000000,
                }
            ]
        }
    }


class EvalEstimateOut(Schema):
    answers: int
    verdicts: int = Field(description="Of judging models")
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal | None = Field(description="Dollars, at most; null: an endpoint has no prices")
    smallest_difference: float | None = Field(
        description="What it would see four times in five, by the set's latest finished run, else by rule of thumb"
    )
    from_pilot: bool


class EvalArmOut(Schema):
    position: int
    name: str
    endpoint: UUID
    template: str
    system: str
    parameters: dict[str, Any]


class EvalRunOut(Schema):
    id: UUID = Field(alias="public_id")
    version: UUID
    name: str
    state: Literal["due", "running", "paused", "finished", "stopped", "failed"]
    problem: str = Field(description="Why it waits, is paused or ended so")
    repeats: int
    concurrency: int
    max_tokens: int
    margin: float
    stop_early: bool
    cost_cap: Decimal | None
    token_cap: int | None
    deepens: UUID | None
    wanted: int
    answered: int
    graded: int
    cost: Decimal
    tokens: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @staticmethod
    def resolve_version(row: EvalRun) -> UUID:
        return row.version.public_id

    @staticmethod
    def resolve_deepens(row: EvalRun) -> UUID | None:
        return row.deepens.public_id if row.deepens else None


class EvalRunWhole(EvalRunOut):
    arms: list[EvalArmOut]

    @staticmethod
    def resolve_arms(row: EvalRun) -> list[dict[str, Any]]:
        return [
            {
                "position": arm.position,
                "name": arm.name,
                "endpoint": arm.endpoint.public_id,
                "template": arm.template,
                "system": arm.system,
                "parameters": arm.parameters,
            }
            for arm in row.arms.select_related("endpoint")
        ]


class EvalRunPage(Schema):
    items: list[EvalRunOut]
    next: str | None


class Resumed(Asked):
    """A higher cap may come along; what is left out stays."""

    cost_cap: CostCap = None
    token_cap: TokenCap = None

    model_config = {"json_schema_extra": {"examples": [{"token_cap": 4000000}]}}


class Deeper(Asked):
    """Cases that flipped, asked again more often in a run of their own."""

    cases: Annotated[list[Key], Field(min_length=1, max_length=500)]
    repeats: Repeats = DEEPER_REPEATS

    model_config = {"json_schema_extra": {"examples": [{"cases": ["fr", "de"], "repeats": 20}]}}


class EvalAnswerOut(Schema):
    id: UUID = Field(alias="public_id")
    case: str
    arm: str
    repeat: int
    outcome: str
    identity: str = Field(alias="identity_label")
    text: str = Field(description="Control characters made visible")
    score: float | None = Field(description="null: unscored, or not graded yet")
    extracted: str
    why: str
    started_at: datetime
    latency_ms: float
    http_status: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: Decimal | None
    error_message: str

    @staticmethod
    def resolve_case(row: EvalAnswer) -> str:
        return row.case.key

    @staticmethod
    def resolve_arm(row: EvalAnswer) -> str:
        return row.arm.name


class EvalAnswerPage(Schema):
    items: list[EvalAnswerOut]
    next: str | None


class EvalScoreOut(Schema):
    grader: str
    grader_version: int
    place: int
    trial: int
    score: float | None
    extracted: str
    why: str


class EvalAnswerWhole(EvalAnswerOut):
    scores: list[EvalScoreOut]
    request_base64: str = Field(description="Request body as sent")
    response_base64: str = Field(description="Response body as received")

    @staticmethod
    def resolve_scores(row: EvalAnswer) -> list[EvalScore]:
        return list(row.scores.order_by("place", "trial"))

    @staticmethod
    def resolve_request_base64(row: EvalAnswer) -> str:
        return base64.b64encode(bytes(row.request)).decode()

    @staticmethod
    def resolve_response_base64(row: EvalAnswer) -> str:
        return base64.b64encode(bytes(row.raw)).decode()


@router.get("/runs", response=EvalRunPage, summary="Eval runs, the latest first")
def index(request: HttpRequest, paging: PagingQuery, version: UUID | None = None) -> Any:
    rows = team_rows(request, EvalRun).select_related("version", "deepens")
    if version is not None:
        rows = rows.filter(version=find(request, EvalVersion, version))
    return page(rows, ("-created_at", "-id"), paging)


@router.post("/runs/estimate", response=EvalEstimateOut, summary="What a run would cost at most, and what it would see")
def estimate(request: HttpRequest, body: EvalRunIn) -> Any:
    version = find(request, EvalVersion, body.version)
    repeats = body.repeats or version.repeats
    planned = _estimated(version, _arms(request, body), body, repeats)
    pilot = outlook.pilot_of(version)
    return {
        **{name: getattr(planned, name) for name in ("answers", "verdicts", "prompt_tokens", "completion_tokens")},
        "cost": planned.cost,
        "smallest_difference": outlook.expected(pilot, version.cases.count(), repeats),
        "from_pilot": pilot is not None,
    }


@router.post("/runs", response={201: EvalRunWhole}, summary="Begin a run; a worker takes it up within seconds")
def begin(request: HttpRequest, body: EvalRunIn) -> Any:
    version = find(request, EvalVersion, body.version)
    arms, repeats = _arms(request, body), body.repeats or version.repeats
    _estimated(version, arms, body, repeats)
    fields = ("max_tokens", "concurrency", "margin", "cost_cap", "token_cap", "stop_early")
    return 201, plan.start(
        version,
        arms,
        repeats=repeats,
        name=entered.text(body.name, most=120, what="name"),
        **{name: getattr(body, name) for name in fields},
    )


@router.get("/runs/{uuid:eval_run}", response=EvalRunWhole, summary="One run and how far it is")
def show(request: HttpRequest, eval_run: UUID) -> Any:
    return find(request, EvalRun, eval_run)


@router.post("/runs/{uuid:eval_run}/pause", response=EvalRunOut, summary="Pause it; requests in flight are let go")
def pause(request: HttpRequest, eval_run: UUID) -> Any:
    if not runs.pause(find(request, EvalRun, eval_run)):
        raise ConflictError("This run is not going on.")
    return find(request, EvalRun, eval_run)


@router.post("/runs/{uuid:eval_run}/resume", response=EvalRunOut, summary="Go on, perhaps with a higher cap")
def resume(request: HttpRequest, eval_run: UUID, body: Resumed) -> Any:
    found = find(request, EvalRun, eval_run)
    if found.state != EvalRun.State.PAUSED:
        raise ConflictError("This run is not paused.")
    EvalRun.objects.filter(pk=found.pk).update(**body.dict(exclude_unset=True))
    if not runs.resume(found):
        raise ConflictError("This run is not paused.")
    return find(request, EvalRun, eval_run)


@router.post("/runs/{uuid:eval_run}/stop", response=EvalRunOut, summary="End it with what it has")
def stop(request: HttpRequest, eval_run: UUID) -> Any:
    if not runs.stop(find(request, EvalRun, eval_run), timezone.now()):
        raise ConflictError("This run is over already.")
    return find(request, EvalRun, eval_run)


@router.post("/runs/{uuid:eval_run}/deepen", response={201: EvalRunWhole}, summary="Ask some cases again, in a new run")
def deepen(request: HttpRequest, eval_run: UUID, body: Deeper) -> Any:
    return 201, plan.deepen(find(request, EvalRun, eval_run), None, body.cases, body.repeats)


@router.get("/runs/{uuid:eval_run}/answers", response=EvalAnswerPage, summary="Its answers, as they came")
def answers(request: HttpRequest, eval_run: UUID, paging: PagingQuery) -> Any:
    rows = EvalAnswer.objects.filter(arm__run=find(request, EvalRun, eval_run)).select_related("arm", "case")
    return page(rows.defer("raw", "request", "token_bytes", "margins"), ("started_at", "id"), paging)


@router.get("/answers/{uuid:answer}", response=EvalAnswerWhole, summary="One answer with its raw bytes and every score")
def answer(request: HttpRequest, answer: UUID) -> Any:
    return find(request, EvalAnswer, answer)


def _arms(request: HttpRequest, body: EvalRunIn) -> list[ArmPlan]:
    return [
        ArmPlan(
            find(request, Endpoint, arm.endpoint),
            entered.text(arm.name, most=110, what="An arm's name"),
            entered.text(arm.template, most=20_000, what="template"),
            entered.text(arm.system, most=20_000, what="system"),
            entered.parameters(arm.parameters),
        )
        for arm in body.arms
    ]


def _estimated(version: EvalVersion, arms: list[ArmPlan], body: EvalRunIn, repeats: int) -> Estimate:
    planned = plan.estimate(version, arms, repeats, body.max_tokens)
    plan.refuse_blind_cap(planned, body.cost_cap)
    return planned
