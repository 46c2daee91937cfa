"""Endpoints: registering, changing, checking, putting away."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import find, team_of, team_rows
from dashboard.api.cursors import PagingQuery, page
from dashboard.api.fields import Asked, Name, Secret, ShortText, Tag
from dashboard.api.problems import ConflictError
from drift import endpoints, entered
from drift.answers import ApiKind, Transport
from drift.models import Endpoint, EndpointCheck
from drift.public import badge_signature

router = Router(tags=["Endpoints"])

Price = Annotated[Decimal, Field(ge=0, lt=1_000_000, decimal_places=6)]
Parameters = Annotated[dict[str, Any], Field(description="Sent with every request; a check takes out what is refused")]


class EndpointOut(Schema):
    id: UUID = Field(alias="public_id")
    name: str
    provider: str
    tags: list[str]
    base_url: str
    model: str
    has_key: bool
    kind: str
    transport: str
    wished_parameters: dict[str, Any] = Field(description="As asked for")
    parameters: dict[str, Any] = Field(description="As negotiated with the endpoint")
    max_concurrency: int
    requests_per_minute: int | None
    deadline_s: float
    price_in: Decimal | None = Field(description="$ per million tokens")
    price_out: Decimal | None
    simulated: bool
    in_house: str
    circuit: str
    created_at: datetime
    archived_at: datetime | None
    badge: str = Field(description="Address of its badge, which needs no account")

    @staticmethod
    def resolve_badge(row: Endpoint) -> str:
        return reverse("badge", args=[badge_signature(row)])

    @staticmethod
    def resolve_has_key(row: Endpoint) -> bool:
        return bool(len(row.api_key))


class EndpointPage(Schema):
    items: list[EndpointOut]
    next: str | None


class EndpointIn(Asked):
    name: Name
    base_url: Annotated[str, Field(min_length=1, max_length=500, description="Up to and including /v1")]
    model: Annotated[str, Field(min_length=1, max_length=200)]
    api_key: Secret = ""
    provider: Annotated[str, Field(max_length=80)] = ""
    tags: Annotated[list[Tag], Field(max_length=50)] = []
    parameters: Parameters = dict(endpoints.DEFAULT_PARAMETERS)
    kind: ApiKind = ApiKind.CHAT
    transport: Transport = Transport.WHOLE
    max_concurrency: Annotated[int, Field(ge=1, le=256, strict=True)] = 16
    requests_per_minute: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    deadline_s: Annotated[float, Field(gt=0, le=600)] = 120.0
    price_in: Price | None = None
    price_out: Price | None = None

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "name": "gpt-4o",
                    "base_url": "https://api.example.com/v1",
                    "model": "gpt-4o",
                    "api_key": "sk-...",
                    "provider": "Example",
                    "tags": ["production"],
                    "parameters": {"temperature": 0, "seed": 42},
                }
            ]
        }
    }


class EndpointChange(Asked):
    """Only what is sent is changed. `api_key`: empty removes the stored one."""

    name: Name = ""
    base_url: Annotated[str, Field(min_length=1, max_length=500)] = ""
    model: Annotated[str, Field(min_length=1, max_length=200)] = ""
    api_key: Secret = ""
    provider: Annotated[str, Field(max_length=80)] = ""
    tags: Annotated[list[Tag], Field(max_length=50)] = []
    parameters: Parameters = {}
    kind: ApiKind = ApiKind.CHAT
    transport: Transport = Transport.WHOLE
    max_concurrency: Annotated[int, Field(ge=1, le=256, strict=True)] = 16
    requests_per_minute: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    deadline_s: Annotated[float, Field(gt=0, le=600)] = 120.0
    price_in: Price | None = None
    price_out: Price | None = None

    model_config = {"json_schema_extra": {"examples": [{"tags": ["production"], "requests_per_minute": 60}]}}


class CapabilityOut(Schema):
    name: str
    state: Literal["refused", "ignored", "honoured", "unknown"]
    value: str
    evidence: str
    checked_at: datetime


class CheckOut(Schema):
    id: UUID = Field(alias="public_id")
    state: Literal["due", "running", "passed", "failed"]
    problem: str
    requested_at: datetime
    finished_at: datetime | None


class CheckPage(Schema):
    items: list[CheckOut]
    next: str | None


@router.get("", response=EndpointPage, summary="Endpoints, the oldest first")
def index(request: HttpRequest, paging: PagingQuery, archived: bool = False, tag: ShortText = "") -> Any:
    rows: QuerySet[Endpoint] = team_rows(request, Endpoint).filter(archived_at__isnull=not archived)
    if tag:
        rows = rows.filter(tags__contains=[entered.text(tag, most=200, what="tag")])
    return page(rows, ("created_at", "id"), paging)


@router.post("", response={201: EndpointOut}, summary="Register an endpoint; a worker checks it at once")
def add(request: HttpRequest, body: EndpointIn) -> Any:
    values = checked(body.dict())
    key = values.pop("api_key")
    refuse_taken_name(request, values["name"], None)
    return 201, endpoints.register(team=team_of(request), user=None, api_key=key, **values)


@router.get("/{uuid:endpoint}", response=EndpointOut, summary="One endpoint")
def show(request: HttpRequest, endpoint: UUID) -> Any:
    return find(request, Endpoint, endpoint)


@router.patch("/{uuid:endpoint}", response=EndpointOut, summary="Change an endpoint; it is checked again")
def change(request: HttpRequest, endpoint: UUID, body: EndpointChange) -> Any:
    found = find(request, Endpoint, endpoint)
    values = checked(body.dict(exclude_unset=True))
    key = values.pop("api_key", None)
    if "name" in values:
        refuse_taken_name(request, values["name"], found)
    if "parameters" in values:
        values["wished_parameters"] = values["parameters"]
    endpoints.change(found, None, api_key=key, **values)
    return find(request, Endpoint, endpoint)


@router.post("/{uuid:endpoint}/archive", response=EndpointOut, summary="Put an endpoint away; its history stays")
def archive(request: HttpRequest, endpoint: UUID) -> Any:
    endpoints.archive(find(request, Endpoint, endpoint))
    return find(request, Endpoint, endpoint)


@router.post("/{uuid:endpoint}/restore", response=EndpointOut, summary="Bring an archived endpoint back")
def restore(request: HttpRequest, endpoint: UUID) -> Any:
    found = find(request, Endpoint, endpoint)
    refuse_taken_name(request, found.name, found)
    endpoints.restore(found)
    return find(request, Endpoint, endpoint)


@router.get("/{uuid:endpoint}/capabilities", response=list[CapabilityOut], summary="What it accepted when asked")
def capabilities(request: HttpRequest, endpoint: UUID) -> Any:
    return find(request, Endpoint, endpoint).capabilities.all()


@router.get("/{uuid:endpoint}/checks", response=CheckPage, summary="Checks of an endpoint, the latest first")
def checks(request: HttpRequest, endpoint: UUID, paging: PagingQuery) -> Any:
    found = find(request, Endpoint, endpoint)
    return page(team_rows(request, EndpointCheck).filter(endpoint=found), ("-requested_at", "-id"), paging)


@router.post("/{uuid:endpoint}/checks", response={201: CheckOut}, summary="Ask for a check")
def check(request: HttpRequest, endpoint: UUID) -> Any:
    return 201, endpoints.recheck(find(request, Endpoint, endpoint), None)


def checked(values: dict[str, Any]) -> dict[str, Any]:
    """The values as they are stored. Raises EntryError."""
    for name, most in (("name", 80), ("model", 200)):
        if name in values:
            values[name] = entered.text(values[name], most=most, least=1, what=name)
    if "provider" in values:
        values["provider"] = entered.text(values["provider"], most=80, what="provider")
    if "base_url" in values:
        values["base_url"] = entered.base_url(values["base_url"])
    if "tags" in values:
        values["tags"] = entered.tags(values["tags"])
    if "parameters" in values:
        values["parameters"] = entered.parameters(values["parameters"])
    return values


def refuse_taken_name(request: HttpRequest, name: str, own: Endpoint | None) -> None:
    same = team_rows(request, Endpoint).filter(name=name, archived_at__isnull=True)
    if (same.exclude(pk=own.pk) if own is not None else same).exists():
        raise ConflictError(
            f"Your team already has an endpoint called {name!r}. Choose another name, or archive that one."
        )
