"""Suites and their canaries. A canary is superseded, never edited; a suite that was measured gets a next version."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import find, team_of, team_rows
from dashboard.api.cursors import PagingQuery, page
from dashboard.api.fields import Asked, Name
from dashboard.api.problems import ConflictError
from drift import entered, suite_changes
from drift.models import Canary, Suite
from drift.suites import CanaryText, next_version

router = Router(tags=["Suites and canaries"])


class CanaryOut(Schema):
    id: UUID = Field(alias="public_id")
    name: str
    messages: list[dict[str, Any]]
    max_tokens: int
    created_at: datetime


class CanaryPage(Schema):
    items: list[CanaryOut]
    next: str | None


class SuiteOut(Schema):
    id: UUID = Field(alias="public_id")
    name: str
    version: int
    retention_days: int
    created_at: datetime


class SuiteWhole(SuiteOut):
    canaries: list[CanaryOut]

    @staticmethod
    def resolve_canaries(row: Suite) -> list[Canary]:
        return list(row.canaries.order_by("places__position"))


class SuitePage(Schema):
    items: list[SuiteOut]
    next: str | None


class CanaryIn(Schema):
    name: Name
    messages: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=100)]
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000, strict=True)]


class SuiteIn(Asked):
    name: Name
    canaries: Annotated[list[CanaryIn], Field(min_length=1, max_length=500)]
    retention_days: Annotated[int, Field(ge=1, le=36_500, strict=True)] = 400

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "name": "First canaries",
                    "canaries": [
                        {
                            "name": "Short fact",
                            "messages": [{"role": "user", "content": "Who was Richard Feynman?"}],
                            "max_tokens": 96,
                        }
                    ],
                }
            ]
        }
    }


class Follow(Asked):
    earlier: UUID


class Followed(Schema):
    monitors: int = Field(description="How many ask this version now")


def texts_of(body: SuiteIn) -> list[CanaryText]:
    """The canaries as they would be stored. Raises EntryError."""
    return [
        CanaryText(
            entered.text(one.name, most=80, least=1, what="A canary's name"),
            entered.messages(one.messages),
            one.max_tokens,
        )
        for one in body.canaries
    ]


@router.get("/suites", response=SuitePage, summary="Suites, every version, the oldest first")
def index(request: HttpRequest, paging: PagingQuery) -> Any:
    return page(team_rows(request, Suite), ("created_at", "id"), paging)


@router.post("/suites", response={201: SuiteWhole}, summary="Make a suite, or the next version of one")
def add(request: HttpRequest, body: SuiteIn) -> Any:
    """A canary with the same name, messages and cap as one of the version before is that same canary."""
    name = entered.text(body.name, most=80, least=1, what="name")
    return 201, next_version(team_of(request), name, texts_of(body), body.retention_days)


@router.get("/suites/{uuid:suite}", response=SuiteWhole, summary="One suite with its canaries")
def show(request: HttpRequest, suite: UUID) -> Any:
    return find(request, Suite, suite)


@router.post("/suites/{uuid:suite}/restore", response=SuiteWhole, summary="Make an earlier version the suite again")
def restore(request: HttpRequest, suite: UUID) -> Any:
    """Later versions that nobody was asked go; if one was measured, these canaries become the next version."""
    return suite_changes.restore(find(request, Suite, suite))


@router.post(
    "/suites/{uuid:suite}/follow", response=Followed, summary="Have monitors of an earlier version ask this one"
)
def follow(request: HttpRequest, suite: UUID, body: Follow) -> Any:
    """Their old monitors stay, paused, with their history."""
    new, old = find(request, Suite, suite), find(request, Suite, body.earlier)
    if old.name != new.name or old.version >= new.version:
        raise ConflictError("`earlier` must be an earlier version of the same suite.")
    return {"monitors": suite_changes.follow(old, new)}


@router.get("/canaries", response=CanaryPage, summary="Canaries, the oldest first")
def canaries(request: HttpRequest, paging: PagingQuery) -> Any:
    return page(team_rows(request, Canary), ("created_at", "id"), paging)


@router.get("/canaries/{uuid:canary}", response=CanaryOut, summary="One canary")
def canary(request: HttpRequest, canary: UUID) -> Any:
    return find(request, Canary, canary)
