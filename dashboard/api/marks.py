"""What people and programs mark on the time axis of the charts: a deployment, a provider's notice."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import find, team_of, team_rows
from dashboard.api.cursors import PagingQuery, page
from dashboard.api.fields import STORABLE, Asked, Moment
from dashboard.api.readings import aware
from drift import marks
from drift.models import Annotation, Endpoint

router = Router(tags=["Marks"])

Words = Annotated[str, Field(min_length=1, max_length=marks.LONGEST, pattern=STORABLE)]


class MarkOut(Schema):
    id: UUID = Field(alias="public_id")
    endpoint: UUID | None = Field(description="null: on every chart of the team")
    at: datetime
    text: str
    created_at: datetime

    @staticmethod
    def resolve_endpoint(row: Annotation) -> UUID | None:
        return row.endpoint.public_id if row.endpoint else None


class MarkPage(Schema):
    items: list[MarkOut]
    next: str | None


class MarkIn(Asked):
    text: Words
    at: Moment | None = Field(None, description="null: now")
    endpoint: UUID | None = Field(None, description="null: on every chart of the team")

    model_config = {"json_schema_extra": {"examples": [{"text": "Release 4.2 went out", "at": "2026-11-29T14:05:00Z"}]}}


@router.get("/annotations", response=MarkPage, summary="Marks on the charts, the latest first")
def index(request: HttpRequest, paging: PagingQuery) -> Any:
    return page(team_rows(request, Annotation).select_related("endpoint"), ("-at", "-id"), paging)


@router.post("/annotations", response={201: MarkOut}, summary="Mark a moment on the charts")
def add(request: HttpRequest, body: MarkIn) -> Any:
    now = timezone.now()
    return 201, marks.add(team_of(request), None, now=now, **_said(request, body, now))


@router.put("/annotations/{uuid:annotation}", response=MarkOut, summary="Move or reword a mark")
def change(request: HttpRequest, annotation: UUID, body: MarkIn) -> Any:
    found, now = find(request, Annotation, annotation), timezone.now()
    marks.change(found, None, now=now, **_said(request, body, now))
    return found


@router.delete("/annotations/{uuid:annotation}", response={204: None}, summary="Take a mark off the charts")
def remove(request: HttpRequest, annotation: UUID) -> Any:
    marks.remove(find(request, Annotation, annotation), None, timezone.now())
    return 204, None


def _said(request: HttpRequest, body: MarkIn, now: datetime) -> dict[str, Any]:
    endpoint = find(request, Endpoint, body.endpoint) if body.endpoint else None
    return {"at": aware(body.at) if body.at else now, "text": body.text, "endpoint": endpoint}
