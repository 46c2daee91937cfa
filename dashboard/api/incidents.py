"""Incidents and what people do with them, findings, silences, and the feed of everything that happened."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import find, team_of, team_rows
from dashboard.api.cursors import PagingQuery, page
from dashboard.api.fields import Asked, Moment, Reason
from dashboard.api.readings import aware
from drift import entered, incidents, silences
from drift.entered import EntryError
from drift.findings.words import sentence
from drift.models import Endpoint, Event, Finding, Incident, Silence

router = Router(tags=["Incidents"])
LONGEST = timedelta(days=366)


class IncidentOut(Schema):
    id: UUID = Field(alias="public_id")
    title: str
    family: str
    provider: str
    severity: Literal["low", "medium", "high"]
    state: Literal["open", "acknowledged", "resolved"]
    simulated: bool
    began_at: datetime
    opened_at: datetime
    last_finding_at: datetime
    acknowledged_at: datetime | None
    acknowledged_why: str
    acknowledged_until: datetime | None
    resolved_at: datetime | None
    resolution: str


class FindingOut(Schema):
    id: UUID = Field(alias="public_id")
    endpoint: UUID
    kind: str
    severity: Literal["low", "medium", "high"]
    began_at: datetime
    found_at: datetime
    voids_baseline: bool = Field(alias="voids")
    chance: float | None = Field(description="Of finding this although nothing changed, at most")
    text: str

    @staticmethod
    def resolve_endpoint(row: Finding) -> UUID:
        return row.endpoint.public_id

    @staticmethod
    def resolve_text(row: Finding) -> str:
        return sentence(row.kind, row.began_at, row.facts)


class IncidentWhole(IncidentOut):
    findings: list[FindingOut]

    @staticmethod
    def resolve_findings(row: Incident) -> list[Finding]:
        return list(row.findings.select_related("endpoint").order_by("found_at", "pk"))


class IncidentPage(Schema):
    items: list[IncidentOut]
    next: str | None


class FindingPage(Schema):
    items: list[FindingOut]
    next: str | None


class EventOut(Schema):
    id: UUID = Field(alias="public_id")
    at: datetime
    kind: str
    text: str


class EventPage(Schema):
    items: list[EventOut]
    next: str | None


class Acknowledgement(Asked):
    why: Reason
    until: Moment | None = None

    model_config = {"json_schema_extra": {"examples": [{"why": "The provider confirmed a roll-out."}]}}


class Words(Asked):
    text: Reason

    model_config = {"json_schema_extra": {"examples": [{"text": "Evals were run again on the new version."}]}}


class SilenceOut(Schema):
    id: UUID = Field(alias="public_id")
    kind: Literal["silence", "maintenance"]
    endpoint: UUID | None
    provider: str
    tag: str
    starts_at: datetime
    ends_at: datetime
    every_week: bool
    reason: str
    ended_at: datetime | None

    @staticmethod
    def resolve_endpoint(row: Silence) -> UUID | None:
        return row.endpoint.public_id if row.endpoint else None


class SilencePage(Schema):
    items: list[SilenceOut]
    next: str | None


class SilenceIn(Asked):
    """Of an endpoint, a provider or a tag: exactly one of the three."""

    endpoint: UUID | None = None
    provider: Annotated[str, Field(max_length=80)] = ""
    tag: Annotated[str, Field(max_length=40)] = ""
    starts_at: Moment | None = None
    ends_at: Moment
    every_week: Annotated[bool, Field(strict=True)] = False
    reason: Reason

    model_config = {
        "json_schema_extra": {
            "examples": [{"provider": "Example", "ends_at": "2026-12-01T18:00:00Z", "reason": "Announced roll-out"}]
        }
    }


@router.get("/incidents", response=IncidentPage, summary="Incidents, the latest first")
def index(
    request: HttpRequest, paging: PagingQuery, state: Literal["open", "acknowledged", "resolved"] | None = None
) -> Any:
    rows = team_rows(request, Incident)
    return page(rows.filter(state=state) if state else rows, ("-opened_at", "-id"), paging)


@router.get("/incidents/{uuid:incident}", response=IncidentWhole, summary="One incident with its findings")
def show(request: HttpRequest, incident: UUID) -> Any:
    return find(request, Incident, incident)


@router.post("/incidents/{uuid:incident}/acknowledge", response=IncidentOut, summary="Say that someone has it")
def acknowledge(request: HttpRequest, incident: UUID, body: Acknowledgement) -> Any:
    found = find(request, Incident, incident)
    until = aware(body.until) if body.until else None
    incidents.acknowledge(found, None, entered.text(body.why, most=300, least=1, what="why"), until, timezone.now())
    return find(request, Incident, incident)


@router.post("/incidents/{uuid:incident}/resolve", response=IncidentOut, summary="Close it, with what was done")
def resolve(request: HttpRequest, incident: UUID, body: Words) -> Any:
    found = find(request, Incident, incident)
    incidents.resolve(found, None, entered.text(body.text, most=300, least=1, what="text"), timezone.now())
    return find(request, Incident, incident)


@router.post("/incidents/{uuid:incident}/reopen", response=IncidentOut, summary="Open it again, with the reason")
def reopen(request: HttpRequest, incident: UUID, body: Words) -> Any:
    found = find(request, Incident, incident)
    incidents.reopen(found, None, entered.text(body.text, most=300, least=1, what="text"), timezone.now())
    return find(request, Incident, incident)


@router.post("/incidents/{uuid:incident}/notes", response={201: EventOut}, summary="Add a note")
def note(request: HttpRequest, incident: UUID, body: Words) -> Any:
    found = find(request, Incident, incident)
    return 201, incidents.note(found, None, entered.text(body.text, most=300, least=1, what="text"), timezone.now())


@router.get("/findings", response=FindingPage, summary="Findings, the latest first")
def findings(request: HttpRequest, paging: PagingQuery, endpoint: UUID | None = None) -> Any:
    rows = team_rows(request, Finding).select_related("endpoint")
    if endpoint is not None:
        rows = rows.filter(endpoint=find(request, Endpoint, endpoint))
    return page(rows, ("-found_at", "-id"), paging)


@router.get("/events", response=EventPage, summary="Everything that happened, the latest first")
def events(request: HttpRequest, paging: PagingQuery) -> Any:
    return page(team_rows(request, Event), ("-at", "-id"), paging)


@router.get("/silences", response=SilencePage, summary="Silences and maintenance windows, the latest first")
def all_silences(request: HttpRequest, paging: PagingQuery) -> Any:
    return page(team_rows(request, Silence).select_related("endpoint"), ("-starts_at", "-id"), paging)


@router.post("/silences", response={201: SilenceOut}, summary="No alerts for a while, with the reason")
def silence(request: HttpRequest, body: SilenceIn) -> Any:
    now = timezone.now()
    start = aware(body.starts_at) if body.starts_at else now
    end = aware(body.ends_at)
    provider = entered.text(body.provider, most=80, what="provider")
    tag = entered.text(body.tag, most=40, what="tag")
    if sum((body.endpoint is not None, bool(provider), bool(tag))) != 1:
        raise EntryError("Name an endpoint, a provider or a tag: exactly one of them.")
    if not start < end <= start + LONGEST:
        raise EntryError("A silence ends after it starts, within a year.")
    return 201, silences.silence(
        team_of(request),
        None,
        now=now,
        starts_at=start,
        ends_at=end,
        reason=entered.text(body.reason, most=300, least=1, what="reason"),
        endpoint=find(request, Endpoint, body.endpoint) if body.endpoint else None,
        provider=provider,
        tag=tag,
        every_week=body.every_week,
    )


@router.post("/silences/{uuid:silence}/end", response=SilenceOut, summary="End a silence early")
def end_silence(request: HttpRequest, silence: UUID) -> Any:
    silences.end(find(request, Silence, silence), None, timezone.now())
    return find(request, Silence, silence)
