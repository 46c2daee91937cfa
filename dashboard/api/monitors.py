"""Monitors: what is asked of whom, how often, within which budget."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import find, team_rows
from dashboard.api.cursors import PagingQuery, page
from dashboard.api.fields import Asked, ShortText
from dashboard.api.problems import ConflictError
from dashboard.api.runs import RunOut
from drift import entered, monitors
from drift.models import Endpoint, Monitor, Suite

router = Router(tags=["Monitors"])

Cadence = Annotated[int, Field(ge=30, le=604_800, strict=True, description="Seconds from one run to the next")]
Repeats = Annotated[int, Field(ge=1, le=100, strict=True)]
Concurrency = Annotated[int, Field(ge=1, le=64, strict=True)]
Budget = Annotated[
    int, Field(ge=0, le=9_000_000_000_000_000, strict=True, description="Tokens a UTC day; null: no limit")
]


class MonitorOut(Schema):
    id: UUID = Field(alias="public_id")
    endpoint: UUID
    suite: UUID
    cadence_s: int
    repeats: int
    concurrency: int
    tokens_per_day: int | None
    active: bool
    paused_reason: str
    paused_at: datetime | None
    next_due_at: datetime
    created_at: datetime

    @staticmethod
    def resolve_endpoint(row: Monitor) -> UUID:
        return row.endpoint.public_id

    @staticmethod
    def resolve_suite(row: Monitor) -> UUID:
        return row.suite.public_id


class MonitorPage(Schema):
    items: list[MonitorOut]
    next: str | None


class MonitorIn(Asked):
    endpoint: UUID
    suite: UUID
    cadence_s: Cadence = 300
    repeats: Repeats = 5
    concurrency: Concurrency = 4
    tokens_per_day: Budget | None = None

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "endpoint": "3f0d6c8e-8a41-4b1c-9a67-2f1e0a0c5d11",
                    "suite": "b0a5f7d2-63b5-4f0e-8a0e-0d5f8b1c7a22",
                    "cadence_s": 300,
                    "repeats": 5,
                }
            ]
        }
    }


class MonitorChange(Asked):
    """Only what is sent is changed."""

    cadence_s: Cadence = 300
    repeats: Repeats = 5
    concurrency: Concurrency = 4
    tokens_per_day: Budget | None = None


class Pause(Asked):
    reason: ShortText = ""


@router.get("", response=MonitorPage, summary="Monitors, the oldest first")
def index(request: HttpRequest, paging: PagingQuery, endpoint: UUID | None = None) -> Any:
    rows = team_rows(request, Monitor).select_related("endpoint", "suite")
    if endpoint is not None:
        rows = rows.filter(endpoint=find(request, Endpoint, endpoint))
    return page(rows, ("created_at", "id"), paging)


@router.post("", response={201: MonitorOut}, summary="Watch an endpoint; the first run is due at once")
def add(request: HttpRequest, body: MonitorIn) -> Any:
    endpoint = find(request, Endpoint, body.endpoint)
    suite = find(request, Suite, body.suite)
    if Monitor.objects.filter(endpoint=endpoint, suite=suite).exists():
        raise ConflictError("This endpoint already has a monitor with that suite. Change that one instead.")
    return 201, monitors.create(endpoint=endpoint, suite=suite, **body.dict(exclude={"endpoint", "suite"}))


@router.get("/{uuid:monitor}", response=MonitorOut, summary="One monitor")
def show(request: HttpRequest, monitor: UUID) -> Any:
    return find(request, Monitor, monitor)


@router.patch("/{uuid:monitor}", response=MonitorOut, summary="Change cadence, repeats, concurrency or budget")
def change(request: HttpRequest, monitor: UUID, body: MonitorChange) -> Any:
    found = find(request, Monitor, monitor)
    monitors.change(found, **body.dict(exclude_unset=True))
    return found


@router.post("/{uuid:monitor}/pause", response=MonitorOut, summary="Stop asking; waiting runs are dropped")
def pause(request: HttpRequest, monitor: UUID, body: Pause) -> Any:
    found = find(request, Monitor, monitor)
    monitors.pause(found, entered.text(body.reason, most=200, what="reason") or "paused over the API")
    return found


@router.post("/{uuid:monitor}/resume", response=MonitorOut, summary="Ask again, from the next slot")
def resume(request: HttpRequest, monitor: UUID) -> Any:
    found = find(request, Monitor, monitor)
    monitors.resume(found)
    return found


@router.post("/{uuid:monitor}/run", response={201: RunOut}, summary="Run now; a waiting run is returned instead")
def run(request: HttpRequest, monitor: UUID) -> Any:
    return 201, monitors.run_now(find(request, Monitor, monitor), None)
