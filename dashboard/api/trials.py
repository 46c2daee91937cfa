"""Requests outside of every series: an answer replayed, canaries tried before they are saved."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import find
from dashboard.api.suites import SuiteIn, texts_of
from drift import entered, replayed, trials
from drift.models import Endpoint, Sample, Suite, Trial, TrialAnswer

router = Router(tags=["Suites and canaries"])


class TriedOut(Schema):
    """One request, and what came back."""

    canary: str = Field(alias="name")
    position: int
    repeat: int
    former: bool = Field(description="The stored answer that a replay repeats")
    asked_at: datetime | None = Field(alias="started_at", description="null: not asked yet")
    outcome: str
    text: str = Field(description="Control characters made visible")
    error_message: str
    latency_ms: float | None
    prompt_tokens: int | None
    completion_tokens: int | None

    @staticmethod
    def resolve_text(row: TrialAnswer) -> str:
        return replayed.text_of(row)


class ReplayOut(Schema):
    """Then and now. `position`: the first token that differs; null: the same, or no answers to compare."""

    comparable: bool
    same: bool
    position: int | None
    tokens_known: bool
    same_identity: bool
    claims: list[dict[str, str]] = Field(description="What the endpoint said of itself, then and now")


class TrialOut(Schema):
    id: UUID = Field(alias="public_id")
    kind: Literal["replay", "dry_run"]
    state: Literal["due", "running", "finished", "failed"]
    problem: str
    endpoint: UUID
    requested_at: datetime
    finished_at: datetime | None
    answers: list[TriedOut]
    replay: ReplayOut | None = Field(description="null: a dry run, or not answered yet")

    @staticmethod
    def resolve_endpoint(row: Trial) -> UUID:
        return row.endpoint.public_id

    @staticmethod
    def resolve_answers(row: Trial) -> list[TrialAnswer]:
        return list(row.answers.all())

    @staticmethod
    def resolve_replay(row: Trial) -> dict[str, Any] | None:
        found = replayed.replayed(row) if row.kind == Trial.Kind.REPLAY else None
        if found is None:
            return None
        return {
            "comparable": found.pair is not None,
            "same": found.pair is not None and found.pair.position is None,
            "position": found.pair.position if found.pair else None,
            "tokens_known": found.tokens_known,
            "same_identity": found.same_identity,
            "claims": [{"name": one.name, "then": one.then, "now": one.now} for one in found.claims],
        }


class DryRunIn(SuiteIn):
    """A suite as it would be saved, and whom to try it on."""

    endpoint: UUID
    suite: UUID | None = Field(None, description="The version that it changes: only new and changed canaries are asked")
    repeats: Annotated[int, Field(ge=1, le=10, strict=True)] = 2

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "endpoint": "b0a5f7d2-63b5-4f0e-8a0e-0d5f8b1c7a22",
                    "name": "First canaries",
                    "canaries": [
                        {
                            "name": "Short fact",
                            "messages": [{"role": "user", "content": "Who was Richard Feynman?"}],
                            "max_tokens": 96,
                        }
                    ],
                    "repeats": 2,
                }
            ]
        }
    }


@router.post("/samples/{uuid:sample}/replay", response={201: TrialOut}, summary="Send an answer's exact request again")
def replay(request: HttpRequest, sample: UUID) -> Any:
    """One that waits already is returned instead of a second. It enters no figure."""
    return 201, trials.replay(find(request, Sample, sample), None, timezone.now())


@router.post("/suites/dry-run", response={201: TrialOut}, summary="Try canaries on an endpoint before they are saved")
def dry_run(request: HttpRequest, body: DryRunIn) -> Any:
    suite = find(request, Suite, body.suite) if body.suite else None
    name = entered.text(body.name, most=80, least=1, what="name")
    draft = trials.Draft(name, body.retention_days, tuple(texts_of(body)))
    endpoint = find(request, Endpoint, body.endpoint)
    return 201, trials.dry_run(endpoint, draft, suite, body.repeats, None, timezone.now())


@router.get("/trials/{uuid:trial}", response=TrialOut, summary="A replay or dry run and what came of it")
def show(request: HttpRequest, trial: UUID) -> Any:
    return find(request, Trial, trial)
