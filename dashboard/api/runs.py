"""Runs and the samples they stored."""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import find, team_rows
from dashboard.api.cursors import PagingQuery, page
from drift.models import Endpoint, Run, Sample

router = Router(tags=["Runs and samples"])


class RunOut(Schema):
    id: UUID = Field(alias="public_id")
    monitor: UUID
    scheduled_for: datetime
    origin: Literal["schedule", "person", "extra"]
    state: Literal["due", "running", "finished", "failed", "skipped"]
    repeats: int
    concurrency: int
    missed_slots: int
    started_at: datetime | None
    finished_at: datetime | None
    problem: str
    samples_stored: int
    samples_comparable: int

    @staticmethod
    def resolve_monitor(row: Run) -> UUID:
        return row.monitor.public_id


class RunPage(Schema):
    items: list[RunOut]
    next: str | None


class SampleOut(Schema):
    id: UUID = Field(alias="public_id")
    canary: UUID
    repeat: int
    outcome: str
    cold: bool = Field(description="First answer to this canary in its run")
    identity: str | None = Field(description="What the endpoint called itself")
    output: UUID | None = Field(description="Equal for equal answers to one canary")
    started_at: datetime
    latency_ms: float
    http_status: int | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    error_message: str

    @staticmethod
    def resolve_canary(row: Sample) -> UUID:
        return row.canary.public_id

    @staticmethod
    def resolve_identity(row: Sample) -> str | None:
        return row.identity.label if row.identity else None

    @staticmethod
    def resolve_output(row: Sample) -> UUID | None:
        return row.output.public_id if row.output else None


class SamplePage(Schema):
    items: list[SampleOut]
    next: str | None


class SampleWhole(SampleOut):
    text: str | None = Field(description="The answer, control characters made visible")
    request_base64: str = Field(description="Request body as sent")
    response_base64: str = Field(description="Response body as received")

    @staticmethod
    def resolve_text(row: Sample) -> str | None:
        return row.output.text if row.output else None

    @staticmethod
    def resolve_request_base64(row: Sample) -> str:
        return base64.b64encode(bytes(row.request)).decode()

    @staticmethod
    def resolve_response_base64(row: Sample) -> str:
        return base64.b64encode(bytes(row.raw)).decode()


@router.get("/runs", response=RunPage, summary="Runs, the latest first")
def index(request: HttpRequest, paging: PagingQuery, endpoint: UUID | None = None) -> Any:
    rows = team_rows(request, Run).select_related("monitor")
    if endpoint is not None:
        rows = rows.filter(monitor__endpoint=find(request, Endpoint, endpoint))
    return page(rows, ("-scheduled_for", "-id"), paging)


@router.get("/runs/{uuid:run}", response=RunOut, summary="One run")
def show(request: HttpRequest, run: UUID) -> Any:
    return find(request, Run, run)


@router.get("/runs/{uuid:run}/samples", response=SamplePage, summary="The answers of a run, by canary")
def samples(request: HttpRequest, run: UUID, paging: PagingQuery) -> Any:
    rows = Sample.objects.filter(run=find(request, Run, run)).defer("raw", "request", "logprobs", "margins")
    return page(rows.select_related("canary", "identity", "output"), ("canary_id", "repeat"), paging)


@router.get("/samples/{uuid:sample}", response=SampleWhole, summary="One answer with its raw bytes")
def sample(request: HttpRequest, sample: UUID) -> Any:
    return find(request, Sample, sample)
