"""The latest answers to one canary at one endpoint: told apart, with where they part."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.http import Http404, HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.access import find
from drift import canary_answers
from drift.canary_answers import Distinct, Fork
from drift.models import Canary, Endpoint, Series

router = Router(tags=["Figures"])


class AnswersQuery(Schema):
    series: UUID | None = Field(None, description="null: the newest that was asked this canary")
    amount: int = Field(100, ge=2, le=500, description="How many of the latest answers")


class PairQuery(AnswersQuery):
    a: str = Field("", max_length=80, description="Key of an answer; empty: the commonest")
    b: str = Field("", max_length=80, description="Key of another; empty: the next")


class DistinctOut(Schema):
    key: str
    letter: str
    count: int
    first_seen: datetime
    text: str = Field(description="Control characters made visible")
    samples: list[UUID]


class ForkOut(Schema):
    """A branch, and where it leaves the one above it."""

    letter: str
    count: int
    of: int
    position: int = Field(description="Index of the first token that differs")
    text: str
    ended: bool
    margin: float | None = Field(description="Nats between the two best tokens there; null: not known")
    branches: list[ForkOut]


class AnswersOut(Schema):
    series: UUID
    answers: int
    comparable: int
    pairs: int
    pairs_differing: int
    tokens_known: bool = Field(description="Else positions are of an approximate split")
    trunk: str = Field(description="What all begin with")
    trunk_tokens: int
    distinct: list[DistinctOut]
    forks: list[ForkOut]


class PairOut(Schema):
    a: str
    b: str
    position: int | None = Field(description="Index of the first token that differs; null: they are the same")
    shared: str
    a_rest: str
    b_rest: str


@router.get(
    "/endpoints/{uuid:endpoint}/canaries/{uuid:canary}/answers",
    response=AnswersOut,
    summary="The distinct answers to one canary, as a tree",
)
def show(request: HttpRequest, endpoint: UUID, canary: UUID, asked: Annotated[AnswersQuery, Query()]) -> Any:
    series = _series(request, endpoint, canary, asked.series)
    seen = canary_answers.latest(series, find(request, Canary, canary), asked.amount)
    return {
        "series": series.public_id,
        "answers": len(seen.samples),
        "comparable": seen.comparable,
        "pairs": seen.pairs,
        "pairs_differing": seen.pairs_differing,
        "tokens_known": seen.tokens_known,
        "trunk": seen.trunk,
        "trunk_tokens": seen.trunk_tokens,
        "distinct": [_distinct(one) for one in seen.distinct],
        "forks": [_fork(one) for one in seen.forks],
    }


@router.get(
    "/endpoints/{uuid:endpoint}/canaries/{uuid:canary}/pair", response=PairOut, summary="Two answers beside each other"
)
def pair(request: HttpRequest, endpoint: UUID, canary: UUID, asked: Annotated[PairQuery, Query()]) -> Any:
    series = _series(request, endpoint, canary, asked.series)
    known = canary_answers.latest(series, find(request, Canary, canary), asked.amount).distinct
    if not known:
        raise Http404("There is no comparable answer to this canary.")
    by_key = {one.key: one for one in known}
    left = by_key.get(asked.a) or known[0]
    right = by_key.get(asked.b) or next((one for one in known if one.key != left.key), left)
    seen = canary_answers.beside(left.tokens, right.tokens)
    return {
        "a": left.key,
        "b": right.key,
        "position": seen.position,
        "shared": seen.shared,
        "a_rest": seen.left_first + seen.left_rest,
        "b_rest": seen.right_first + seen.right_rest,
    }


def _series(request: HttpRequest, endpoint: UUID, canary: UUID, wanted: UUID | None) -> Series:
    rows = find(request, Endpoint, endpoint).series.filter(suite__canaries=find(request, Canary, canary))
    if wanted is not None:
        rows = rows.filter(public_id=wanted)
    found = rows.order_by("-created_at").first()
    if found is None:
        raise Http404("This endpoint was never asked this canary.")
    return found


def _distinct(one: Distinct) -> dict[str, Any]:
    plain = {name: getattr(one, name) for name in ("key", "letter", "count", "first_seen", "text")}
    return {**plain, "samples": [sample.public_id for sample in one.samples]}


def _fork(one: Fork) -> dict[str, Any]:
    plain = {name: getattr(one, name) for name in ("letter", "count", "of", "position", "ended", "margin")}
    return {**plain, "text": one.first + one.rest, "branches": [_fork(branch) for branch in one.branches]}
