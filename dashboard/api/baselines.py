"""Baselines: those that were, the one that holds, and setting one by hand."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import find, team_rows
from dashboard.api.cursors import PagingQuery, page
from dashboard.api.fields import STORABLE, Asked, Moment
from dashboard.api.problems import ConflictError
from dashboard.api.readings import aware
from drift import baselines, entered
from drift.baselines import BaselineError
from drift.models import Baseline, Endpoint, Series

router = Router(tags=["Baselines"])


class BaselineOut(Schema):
    id: UUID = Field(alias="public_id")
    series: UUID
    name: str
    state: Literal["collecting", "valid", "invalidated", "superseded"]
    origin: str
    pinned: bool
    since: datetime
    until: datetime | None
    runs_count: int
    answers_count: int
    valid_at: datetime | None
    invalidated_at: datetime | None
    superseded_at: datetime | None
    reason: str
    divergence: float | None
    divergence_low: float | None
    divergence_high: float | None

    @staticmethod
    def resolve_series(row: Baseline) -> UUID:
        return row.series.public_id


class BaselinePage(Schema):
    items: list[BaselineOut]
    next: str | None


class Window(Asked):
    """'This week is the datum': answers of a time that has passed."""

    series: UUID
    since: Moment
    until: Moment
    name: Annotated[str, Field(max_length=80, pattern=STORABLE)] = ""
    pin: Annotated[bool, Field(strict=True)] = False

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "series": "3f0d6c8e-8a41-4b1c-9a67-2f1e0a0c5d11",
                    "since": "2026-11-01T00:00:00Z",
                    "until": "2026-11-08T00:00:00Z",
                    "name": "November",
                }
            ]
        }
    }


class Begin(Asked):
    """Which series; null: the newest."""

    series: UUID | None = None


class BaselineChange(Asked):
    """Only what is sent is changed."""

    name: Annotated[str, Field(max_length=80, pattern=STORABLE)] = ""
    pinned: Annotated[bool, Field(strict=True, description="Kept until something voids it")] = False

    model_config = {"json_schema_extra": {"examples": [{"name": "Before the migration", "pinned": True}]}}


@router.get("/endpoints/{uuid:endpoint}/baselines", response=BaselinePage, summary="Baselines, the latest first")
def index(request: HttpRequest, endpoint: UUID, paging: PagingQuery) -> Any:
    rows = team_rows(request, Baseline).filter(series__endpoint=find(request, Endpoint, endpoint))
    return page(rows.select_related("series"), ("-since", "-id"), paging)


@router.post("/endpoints/{uuid:endpoint}/baselines", response={201: BaselineOut}, summary="Set a baseline by hand")
def set_by_hand(request: HttpRequest, endpoint: UUID, body: Window) -> Any:
    found = find(request, Endpoint, endpoint)
    series = Series.objects.filter(endpoint=found, public_id=body.series).first()
    if series is None:
        raise ConflictError("This endpoint has no such series; see its history for those that it has.")
    try:
        made = baselines.set_by_hand(
            series, aware(body.since), aware(body.until), None, timezone.now(), name=body.name.strip(), pin=body.pin
        )
    except BaselineError as error:
        raise ConflictError(str(error)) from error
    return 201, made


@router.post("/endpoints/{uuid:endpoint}/baselines/begin", response={201: BaselineOut}, summary="Take a new baseline")
def begin(request: HttpRequest, endpoint: UUID, body: Begin) -> Any:
    """From the next run on; the one that holds is replaced."""
    rows = find(request, Endpoint, endpoint).series.order_by("-created_at")
    series = (rows.filter(public_id=body.series) if body.series else rows).first()
    if series is None:
        raise ConflictError("This endpoint has no such series yet; see its history for those that it has.")
    return 201, baselines.take_now(series, None, timezone.now())


@router.patch("/baselines/{uuid:baseline}", response=BaselineOut, summary="Name, pin or unpin a baseline")
def change(request: HttpRequest, baseline: UUID, body: BaselineChange) -> Any:
    found = find(request, Baseline, baseline)
    wanted = body.dict(exclude_unset=True)
    if "name" in wanted:
        baselines.rename(found, entered.text(wanted["name"], most=80, what="name"))
    if "pinned" in wanted:
        baselines.pin(found, wanted["pinned"])
    return found
