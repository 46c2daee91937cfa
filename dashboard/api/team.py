"""The team that the token acts for."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import team_of, team_rows
from dashboard.api.cursors import PagingQuery, page
from drift.models import AuditEntry

router = Router(tags=["Team"])


class MemberOut(Schema):
    name: str
    role: Literal["owner", "editor", "viewer"]


class TeamOut(Schema):
    id: UUID
    name: str
    members: list[MemberOut]


class AuditOut(Schema):
    id: UUID = Field(alias="public_id")
    at: datetime
    actor: str = Field(alias="actor_name", description="Empty: the service itself")
    via: str
    request_id: str
    action: Literal["created", "changed", "deleted"]
    subject: str
    subject_id: str
    subject_name: str
    changes: dict[str, list[Any]] = Field(alias="told")


class AuditPage(Schema):
    items: list[AuditOut]
    next: str | None


@router.get("/team", response=TeamOut, summary="Your team and its people")
def show(request: HttpRequest) -> Any:
    team = team_of(request)
    members = team.memberships.select_related("user").order_by("user__username")
    return {
        "id": team.public_id,
        "name": team.name,
        "members": [{"name": m.user.get_username(), "role": m.role} for m in members],
    }


@router.get("/audit", response=AuditPage, summary="Who changed what, the latest first")
def audit(request: HttpRequest, paging: PagingQuery) -> Any:
    return page(team_rows(request, AuditEntry), ("-at", "-id"), paging)
