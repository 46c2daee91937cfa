"""What the batch does to an answer of our own worker, in both modes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import team_of
from drift.batch_effect import AtBatch, ModeEffect, batch_effect

router = Router(tags=["Figures"])
WINDOW = timedelta(hours=24)


class AtBatchOut(Schema):
    batch: str = Field(description="Size of the largest batch that an answer was part of")
    divergence: float | None
    low: float | None
    high: float | None
    answers: int
    pairs: int
    pairs_differing: int


class ModeOut(Schema):
    mode: str = Field(description="fast or invariant")
    endpoint: UUID
    identity: str
    overall: AtBatchOut
    by_batch: list[AtBatchOut]


@router.get("/in-house", response=list[ModeOut], summary="Divergence by batch size, over the last 24 hours")
def show(request: HttpRequest) -> Any:
    return [_mode(effect) for effect in batch_effect(team_of(request), timezone.now() - WINDOW)]


def _mode(effect: ModeEffect) -> dict[str, Any]:
    return {
        "mode": effect.mode,
        "endpoint": effect.endpoint.public_id,
        "identity": effect.identity,
        "overall": _at_batch(effect.overall),
        "by_batch": [_at_batch(one) for one in effect.by_batch],
    }


def _at_batch(one: AtBatch) -> dict[str, Any]:
    e = one.estimate
    return {
        "batch": one.label,
        "divergence": e.value if e else None,
        "low": e.low if e else None,
        "high": e.high if e else None,
        "answers": one.answers,
        "pairs": one.pairs,
        "pairs_differing": one.pairs_differing,
    }
