"""Fire drills: a made-up change on a simulated endpoint, to see the alert arrive."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import find, team_of, team_rows
from dashboard.api.cursors import PagingQuery, page
from drift import drills
from drift.models import Drill

router = Router(tags=["Channels"])


class DrillOut(Schema):
    id: UUID = Field(alias="public_id")
    requested_at: datetime
    state: Literal["due", "running", "finished", "failed"]
    progress: str
    finished_at: datetime | None
    report: dict[str, Any] = Field(description="What was made up, when it was found, when each channel was told")


class DrillPage(Schema):
    items: list[DrillOut]
    next: str | None


@router.get("/drills", response=DrillPage, summary="Fire drills, the latest first")
def index(request: HttpRequest, paging: PagingQuery) -> Any:
    return page(team_rows(request, Drill), ("-requested_at", "-id"), paging)


@router.post("/drills", response={201: DrillOut}, summary="Start a fire drill; one that is open is returned instead")
def start(request: HttpRequest) -> Any:
    return 201, drills.ask(team_of(request), None, timezone.now())


@router.get("/drills/{uuid:drill}", response=DrillOut, summary="One drill and what came of it")
def show(request: HttpRequest, drill: UUID) -> Any:
    return find(request, Drill, drill)
