"""Endpoints beside each other over days or weeks: every figure, what changed, an order where one holds."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.access import find, team_of
from dashboard.api.fields import FileOut, Moment
from dashboard.api.readings import aware
from drift import alike
from drift.checkup.plain import to_plain
from drift.comparison import MOST, compare_rows, measured
from drift.entered import EntryError
from drift.history import Window
from drift.models import Endpoint
from drift.rows import Row
from drift.weeks import html, tables
from drift.weeks import report as weeks
from drift.weeks.report import WeeksReport

router = Router(tags=["Figures"])
LONGEST = timedelta(days=400)
USUAL = timedelta(days=7)


class CompareQuery(Schema):
    endpoint: list[UUID] = Field(
        [], max_length=MOST, description=f"Ids, as `endpoint=...&endpoint=...`; none: the first {MOST} with figures"
    )
    since: Moment | None = Field(None, description="null: seven days before `until`")
    until: Moment | None = Field(None, description="null: now")


class CompareFileQuery(CompareQuery):
    form: Literal["html", "csv"] = "html"


class ComparedOut(Schema):
    start: datetime
    end: datetime
    made_at: datetime
    sentence: str
    comparable: bool = Field(description="All were asked the same suite: one scale, so an order makes sense")
    endpoints: list[dict[str, Any]] = Field(
        description="Each with its figures and intervals, its changes, its points over time, and `rank`: the best and "
        "the worst place that the comparisons leave open"
    )


class Difference(Schema):
    """How much more often an answer of one differs from one of the other than two of the same do."""

    value: float
    low: float
    high: float


class PairAlike(Schema):
    a: UUID
    b: UUID
    differ: bool = Field(description="Sure at 5 % over all pairs together")
    canaries: int
    answers: int
    p: float | None = Field(description="null: the two cannot be compared")
    adjusted: float | None
    effect: Difference | None
    unseen: float | None = Field(description="The largest difference that fits what was seen")


@router.get("/compare", response=ComparedOut, summary="Up to eight endpoints beside each other, over days or weeks")
def show(request: HttpRequest, asked: Annotated[CompareQuery, Query()]) -> Any:
    """Up to eight days by hour, longer by day."""
    return to_plain(_report(request, asked))


@router.get("/compare/alike", response=list[PairAlike], summary="Do endpoints answer alike? Every pair, tested")
def are_alike(request: HttpRequest, asked: Annotated[CompareQuery, Query()]) -> Any:
    """By the answers to the prompts that both were asked at the same time; p by permutation, corrected by Holm."""
    rows, window = _picked(request, asked, timezone.now())
    series = {row.public_id: row.reading.series_id for row in rows if row.reading}
    return alike.pairs(alike.counts_of(series, window), window)


@router.get("/compare/report-file", response=FileOut, summary="The same as a file to send")
def file(request: HttpRequest, asked: Annotated[CompareFileQuery, Query()]) -> Any:
    made = _report(request, asked)
    text, kind = (html.render(made), "text/html") if asked.form == "html" else (tables.as_csv(made), "text/csv")
    name = f"tidegauge-comparison-{made.end:%Y-%m-%d}.{asked.form}"
    return {"name": name, "media_type": kind, "text": text}


def _report(request: HttpRequest, asked: CompareQuery) -> WeeksReport:
    now = timezone.now()
    rows, window = _picked(request, asked, now)
    return weeks.report(compare_rows(rows, window), window, now)


def _picked(request: HttpRequest, asked: CompareQuery, now: datetime) -> tuple[list[Row], Window]:
    end = aware(asked.until) if asked.until else now
    start = aware(asked.since) if asked.since else end - USUAL
    if not timedelta(0) < end - start <= LONGEST:
        raise EntryError("`since` must be before `until`, by at most 400 days.")
    rows = measured(team_of(request), now)
    if asked.endpoint:
        wanted = {find(request, Endpoint, one).public_id for one in asked.endpoint}
        rows = [row for row in rows if row.public_id in wanted]
    return rows[:MOST], Window(start, end)
