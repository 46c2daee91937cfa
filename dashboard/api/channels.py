"""Where alerts go, what was sent, and the false-alarm budget."""

from __future__ import annotations

from datetime import datetime, time
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_noop
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import find, team_of, team_rows
from dashboard.api.cursors import PagingQuery, page
from dashboard.api.fields import Asked, Clock, Name, Secret, Tag
from dashboard.api.problems import ConflictError
from drift import alerts, channels, deliveries, entered
from drift.entered import EntryError
from drift.models import AlertRules, Channel, Delivery
from drift.said import said

router = Router(tags=["Channels"])


class ChannelOut(Schema):
    """Its address is a secret: only a hint of it is shown."""

    id: UUID = Field(alias="public_id")
    kind: Literal["email", "slack", "webhook"]
    name: str
    address_hint: str
    least_severity: Literal["low", "medium", "high"]
    providers: list[str]
    tags: list[str]
    quiet_from: str | None
    quiet_to: str | None
    time_zone: str
    language: Literal["en", "zh-hans"]
    severe_breaks_quiet: bool
    weekly_summary: bool
    disabled_at: datetime | None
    disabled_why: str
    last_sent_at: datetime | None
    last_error: str

    @staticmethod
    def resolve_quiet_from(row: Channel) -> str | None:
        return f"{row.quiet_from:%H:%M}" if row.quiet_from else None

    @staticmethod
    def resolve_quiet_to(row: Channel) -> str | None:
        return f"{row.quiet_to:%H:%M}" if row.quiet_to else None


class ChannelPage(Schema):
    items: list[ChannelOut]
    next: str | None


Severities = Literal["low", "medium", "high"]
Words = Annotated[list[Tag], Field(max_length=50, description="Empty: all")]


class ChannelChange(Asked):
    """Only what is sent is changed. A new address replaces the stored one, which is never shown."""

    name: Name = ""
    address: Annotated[Secret, Field(min_length=1, max_length=1000)] = ""
    signing_secret: Annotated[
        Secret, Field(max_length=200, description="Of a webhook: each request is signed with it (HMAC-SHA256)")
    ] = ""
    least_severity: Severities = "medium"
    providers: Words = []
    tags: Words = []
    quiet_from: Clock | None = None
    quiet_to: Clock | None = None
    time_zone: Annotated[str, Field(max_length=64, description="Of the quiet hours")] = "UTC"
    language: Annotated[Literal["en", "zh-hans"], Field(description="Of its messages")] = "en"
    severe_breaks_quiet: Annotated[bool, Field(strict=True)] = True
    weekly_summary: Annotated[bool, Field(strict=True)] = False

    model_config = {"json_schema_extra": {"examples": [{"least_severity": "high", "tags": ["production"]}]}}


class ChannelIn(ChannelChange):
    kind: Literal["email", "slack", "webhook"]
    name: Name
    address: Annotated[Secret, Field(min_length=1, max_length=1000, description="E-mail address, or web address")]

    model_config = {
        "json_schema_extra": {
            "examples": [
                {"kind": "email", "name": "On call", "address": "oncall@example.org", "least_severity": "high"},
                {
                    "kind": "webhook",
                    "name": "Pager",
                    "address": "https://example.org/hooks/tidegauge",
                    "signing_secret": "a-long-random-text",
                },
            ]
        }
    }


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


@router.post("/channels", response={201: ChannelOut}, summary="Add a channel; a test message goes out at once")
def add(request: HttpRequest, body: ChannelIn) -> Any:
    row = Channel(team=team_of(request), kind=body.kind)
    if body.kind == Channel.Kind.WEBHOOK.value and not body.signing_secret:
        raise EntryError("A webhook needs a signing_secret: its receiver tells our requests from others by it.")
    _fill(request, row, body.dict(exclude={"kind"}))
    alerts.write_test(row, timezone.now())
    return 201, row


@router.patch("/channels/{uuid:channel}", response=ChannelOut, summary="Change a channel")
def change(request: HttpRequest, channel: UUID, body: ChannelChange) -> Any:
    found = find(request, Channel, channel)
    _fill(request, found, body.dict(exclude_unset=True))
    return find(request, Channel, channel)


@router.delete("/channels/{uuid:channel}", response={204: None}, summary="Remove a channel and its deliveries")
def remove(request: HttpRequest, channel: UUID) -> Any:
    """What waited for it goes to the team's other channels. To keep its history, disable it instead."""
    channels.remove(find(request, Channel, channel), timezone.now())
    return 204, None


@router.post("/channels/{uuid:channel}/test", response={201: DeliveryOut}, summary="Send a test message")
def test(request: HttpRequest, channel: UUID) -> Any:
    return 201, alerts.write_test(find(request, Channel, channel), timezone.now())


@router.post("/channels/{uuid:channel}/disable", response=ChannelOut, summary="Stop using a channel for now")
def disable(request: HttpRequest, channel: UUID) -> Any:
    deliveries.disable(find(request, Channel, channel), said(gettext_noop("switched off over the API")), timezone.now())
    return find(request, Channel, channel)


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


def _fill(request: HttpRequest, row: Channel, values: dict[str, Any]) -> None:
    """Sets what is named and saves. Raises EntryError, ConflictError."""
    if "name" in values:
        values["name"] = entered.text(values["name"], most=80, least=1, what="name")
        if team_rows(request, Channel).filter(name=values["name"]).exclude(pk=row.pk).exists():
            raise ConflictError("There is a channel of that name already.")
    if address := values.pop("address", ""):
        channels.give_address(row, entered.text(address, most=1000, least=1, what="address"))
    if signing := values.pop("signing_secret", ""):
        row.signing_secret = entered.text(signing, most=200, what="signing_secret")
    if "time_zone" in values:
        values["time_zone"] = channels.time_zone(values["time_zone"])
    for name in {"providers", "tags"} & set(values):
        values[name] = entered.tags(values[name])
    for name in {"quiet_from", "quiet_to"} & set(values):
        values[name] = time.fromisoformat(values[name]) if values[name] else None
    for name, value in values.items():
        setattr(row, name, value)
    if (row.quiet_from is None) != (row.quiet_to is None):
        raise EntryError("Send both ends of the quiet hours, or null for both.")
    row.save()
