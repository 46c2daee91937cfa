"""Current figures and history: the numbers of the pages, with their n and intervals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import find, team_of
from dashboard.api.fields import Moment
from drift.entered import EntryError
from drift.history import HOURS_UP_TO
from drift.models import Endpoint, Identity, Reading, SeriesBucket, Span
from drift.overview import overview, read
from drift.rows import Row

router = Router(tags=["Figures"])
LONGEST = timedelta(days=800)


class ReadingOut(Schema):
    """Over the last 24 hours. null: not enough data."""

    taken_at: datetime
    samples: int
    comparable: int
    divergence: float | None
    divergence_low: float | None
    divergence_high: float | None
    pairs: int
    pairs_differing: int
    canaries: int
    canaries_diverging: int
    distinct_mean: float | None
    answers_mean: float | None
    total_agreement: float | None
    first_divergence: int | None
    horizon: int | None
    horizon_limit_seen: bool
    tokens_known: bool
    latency_p50_ms: float | None
    latency_p95_ms: float | None


class StateOut(Schema):
    endpoint: UUID
    name: str
    provider: str
    model: str
    simulated: bool
    state: str
    reason: str
    identities: list[str]
    last_finished_at: datetime | None
    next_due_at: datetime | None
    reading: ReadingOut | None


class OverviewOut(Schema):
    taken_at: datetime
    headline: str
    consequence: str
    detail: str
    endpoints: list[StateOut]


class PointOut(Schema):
    starts_at: datetime
    runs: int
    samples: int
    comparable: int
    divergence: float | None
    divergence_low: float | None
    divergence_high: float | None
    pairs: int
    pairs_differing: int
    outcomes: dict[str, int]
    completion_tokens: int


class SeriesHistory(Schema):
    series: UUID
    suite: UUID
    span: Literal["hour", "day"]
    points: list[PointOut]


class IdentityOut(Schema):
    label: str
    model_echo: str | None
    fingerprint_state: str
    fingerprint: str
    upstream: str
    region: str
    first_seen: datetime
    last_seen: datetime
    samples: int = Field(alias="samples_count", description="Answers to canaries")
    observed: int = Field(alias="observed_count", description="Answers that production reported")
    observed_at: datetime | None


@router.get("/overview", response=OverviewOut, summary="The verdict and every endpoint, worst first")
def whole(request: HttpRequest) -> Any:
    seen = overview(team_of(request), timezone.now())
    said = seen.verdict
    return {
        "taken_at": seen.taken_at,
        "headline": said.headline,
        "consequence": said.consequence,
        "detail": said.detail,
        "endpoints": [as_state(row) for row in seen.rows],
    }


@router.get("/endpoints/{uuid:endpoint}/reading", response=StateOut, summary="State and figures of one endpoint")
def reading(request: HttpRequest, endpoint: UUID) -> Any:
    return as_state(read([find(request, Endpoint, endpoint)], timezone.now()).rows[0])


@router.get("/endpoints/{uuid:endpoint}/history", response=list[SeriesHistory], summary="Figures by hour or day")
def history(request: HttpRequest, endpoint: UUID, since: Moment | None = None, until: Moment | None = None) -> Any:
    """Up to eight days by hour, longer by day; hours without a run are left out. Times without a zone are UTC."""
    found = find(request, Endpoint, endpoint)
    end = aware(until) if until else timezone.now()
    start = aware(since) if since else end - timedelta(days=7)
    if not timedelta(0) < end - start <= LONGEST:
        raise EntryError("`since` must be before `until`, by at most 800 days.")
    span = Span.HOUR if end - start <= HOURS_UP_TO else Span.DAY
    rows = SeriesBucket.objects.filter(series__endpoint=found, span=span, starts_at__gte=start, starts_at__lt=end)
    told: dict[int, dict[str, Any]] = {}
    for bucket in rows.select_related("series__suite").order_by("series_id", "starts_at"):
        series = bucket.series
        head = {"series": series.public_id, "suite": series.suite.public_id, "span": span, "points": []}
        told.setdefault(series.pk, head)["points"].append(bucket)
    return list(told.values())


@router.get("/endpoints/{uuid:endpoint}/identities", response=list[IdentityOut], summary="What it called itself")
def identities(request: HttpRequest, endpoint: UUID) -> Any:
    """The 200 seen last, the latest first."""
    return Identity.objects.filter(endpoint=find(request, Endpoint, endpoint)).order_by("-last_seen", "-id")[:200]


def as_state(row: Row) -> dict[str, Any]:
    taken: Reading | None = row.reading
    return {
        "endpoint": row.public_id,
        "name": row.name,
        "provider": row.provider,
        "model": row.model,
        "simulated": row.simulated,
        "state": row.state.value,
        "reason": row.reason,
        "identities": list(row.identity.labels),
        "last_finished_at": row.last_finished_at,
        "next_due_at": row.next_due_at,
        "reading": taken,
    }


def aware(moment: datetime) -> datetime:
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError as error:
        raise EntryError("That time is out of range.") from error
