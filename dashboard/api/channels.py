"""Where alerts go, what was sent, and the false-alarm budget."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import find, team_of, team_rows
from dashboard.api.cursors import PagingQuery, page
from dashboard.api.fields import Asked
from drift import alerts, deliveries
from drift.models import AlertRules, Channel, Delivery

router = Router(tags=["Channels"])


class ChannelOut(Schema):
    """Made and changed through the configuration file or the pages: its address is a secret."""

    id: UUID = Field(alias="public_id")
    kind: Literal["email", "slack", "webhook"]
    name: str
    address_hint: str
    least_severity: Literal["low", "medium", "high"]
    providers: list[str]
    tags: list[str]
    weekly_summary: bool
    disabled_at: datetime | None
    disabled_why: str
    last_sent_at: datetime | None
    last_error: str


class ChannelPage(Schema):
    items: list[ChannelOut]
    next: str | None


class DeliveryOut(Schema):
    id: UUID = Field(alias="public_id")
    channel: UUID
    incident: UUID | None
    kind: str
    state: Literal["due", "sending", "sent", "failed"]
    created_at: datetime
    sent_at: datetime | None
    attempts_count: int
    problem: str

    @staticmethod
    def resolve_channel(row: Delivery) -> UUID:
        return row.channel.public_id

    @staticmethod
    def resolve_incident(row: Delivery) -> UUID | None:
        return row.incident.public_id if row.incident else None


class DeliveryPage(Schema):
    items: list[DeliveryOut]
    next: str | None


class Rules(Schema):
    """'At most so many false alarms in such a time, over all endpoints together.'"""

    false_alarms: Annotated[float, Field(gt=0, le=1000)] = 1.0
    period: Literal["week", "month", "quarter", "year"] = "quarter"
    reminder_hours: Annotated[int, Field(ge=0, le=10_000, strict=True, description="0: never remind")] = 24

    model_config = {"json_schema_extra": {"examples": [{"false_alarms": 1, "period": "quarter", "reminder_hours": 24}]}}


class RulesIn(Rules, Asked):
    pass


@router.get("/channels", response=ChannelPage, summary="Channels, the oldest first")
def index(request: HttpRequest, paging: PagingQuery) -> Any:
    return page(team_rows(request, Channel), ("created_at", "id"), paging)


@router.get("/channels/{uuid:channel}", response=ChannelOut, summary="One channel")
def show(request: HttpRequest, channel: UUID) -> Any:
    return find(request, Channel, channel)


@router.post("/channels/{uuid:channel}/test", response={201: DeliveryOut}, summary="Send a test message")
def test(request: HttpRequest, channel: UUID) -> Any:
    return 201, alerts.write_test(find(request, Channel, channel), timezone.now())


@router.post("/channels/{uuid:channel}/enable", response=ChannelOut, summary="Use a disabled channel again")
def enable(request: HttpRequest, channel: UUID) -> Any:
    deliveries.enable(find(request, Channel, channel), timezone.now())
    return find(request, Channel, channel)


@router.get("/deliveries", response=DeliveryPage, summary="Messages and what became of them, the latest first")
def sent(request: HttpRequest, paging: PagingQuery) -> Any:
    return page(team_rows(request, Delivery).select_related("channel", "incident"), ("-created_at", "-id"), paging)


@router.get("/rules", response=Rules, summary="The false-alarm budget")
def rules(request: HttpRequest) -> Any:
    return AlertRules.objects.filter(team=team_of(request)).first() or AlertRules(team=team_of(request))


@router.put("/rules", response=Rules, summary="Set the false-alarm budget")
def set_rules(request: HttpRequest, body: RulesIn) -> Any:
    return AlertRules.objects.update_or_create(team=team_of(request), defaults=body.dict())[0]
