"""Check-ups: what one would cost, starting one, how far it is, its report; recorded answers in."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import Http404, HttpRequest
from django.utils import timezone
from ninja import File, Query, Router, Schema
from ninja.files import UploadedFile
from pydantic import Field

from dashboard.access import find, team_of, team_rows
from dashboard.api.cursors import PagingQuery, page
from dashboard.api.fields import FileOut
from dashboard.api.problems import ConflictError
from drift.checkup import adopt, answer_files, life, side_by_side, standalone, start, store
from drift.checkup.changes import Changes, changes
from drift.checkup.errors import CheckupError
from drift.checkup.plain import to_plain
from drift.checkup.plan import CONCURRENCIES, MAX_TOKENS, REPEATS, Wish
from drift.checkup.report import Report
from drift.evals.lines import LARGEST_FILE
from drift.models import AnswerFile, Checkup, Endpoint, Suite

router = Router(tags=["Check-ups"])

Level = Annotated[int, Field(ge=1, le=64)]


class CheckupIn(Schema):
    endpoint: UUID
    suite: UUID | None = Field(None, description="Questions to ask; null: the check-up's own twelve")
    repeats: int = Field(REPEATS, ge=2, le=200)
    concurrency: list[Level] = Field(list(CONCURRENCIES), min_length=1, max_length=8)
    max_tokens: int = Field(MAX_TOKENS, ge=1, le=32_768)
    scored: bool | None = Field(None, description="Also have it score its own answers; null: as the endpoint allows")
    cost_cap: Decimal | None = Field(None, ge=0, max_digits=12, decimal_places=4, description="Dollars")
    token_cap: int | None = Field(None, ge=1, le=1_000_000_000_000)

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "endpoint": "b0a5f7d2-63b5-4f0e-8a0e-0d5f8b1c7a22",
                    "repeats": 20,
                    "concurrency": [1, 8, 32],
                    "max_tokens": 256,
                    "token_cap": 500000,
                }
            ]
        }
    }


class EstimateOut(Schema):
    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = Field(description="Dollars, at most; null: the endpoint has no prices")


class CheckupOut(Schema):
    id: UUID = Field(alias="public_id")
    endpoint: UUID | None
    name: str
    origin: str = Field(description="asked, or recorded elsewhere")
    state: str = Field(description="due, running, finished, stopped or failed")
    problem: str
    repeats: int
    concurrencies: list[int]
    max_tokens: int
    wanted: int
    answered: int
    tokens: int
    cost: float = Field(description="Dollars so far, as far as known")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    verdict: list[str] = Field(description="Empty until there is a report")

    @staticmethod
    def resolve_endpoint(row: Checkup) -> UUID | None:
        return row.endpoint.public_id if row.endpoint else None

    @staticmethod
    def resolve_verdict(row: Checkup) -> list[str]:
        return list(row.report.get("verdict", []))


class AnswerFileOut(Schema):
    """A large file of recorded answers on its way in."""

    id: UUID = Field(alias="public_id")
    name: str
    state: Literal["due", "running", "finished", "failed"]
    problem: str = Field(description="A mistake in the file is named with its line")
    answers: int = Field(description="In all; 0: not read yet")
    answers_done: int
    created_at: datetime
    finished_at: datetime | None
    checkups: list[UUID] = Field(description="Made of it so far, one for each model")

    @staticmethod
    def resolve_checkups(row: AnswerFile) -> list[UUID]:
        return [one.public_id for one in answer_files.made_of(row)]


class CheckupPage(Schema):
    items: list[CheckupOut]
    next: str | None


class ReportOut(Schema):
    report: dict[str, Any] = Field(description="Every figure; see docs/checkup.md")
    changes: dict[str, Any] | None = Field(description="Against the check-up before; null: there is none")


class BesideQuery(Schema):
    checkup: list[UUID] = Field(min_length=1, max_length=8, description="Ids, as `checkup=...&checkup=...`")
    form: Literal["html", "csv"] | None = Field(None, description="Also as a file to send")


class BesideOut(Schema):
    view: dict[str, Any]
    file: FileOut | None


class WatchOut(Schema):
    monitor: UUID
    baseline: UUID | None = Field(description="null: too few rounds; the monitor takes its own")


@router.get("", response=CheckupPage, summary="Check-ups, the latest first")
def index(request: HttpRequest, paging: PagingQuery, endpoint: UUID | None = None) -> Any:
    rows = team_rows(request, Checkup).select_related("endpoint")
    if endpoint is not None:
        rows = rows.filter(endpoint=find(request, Endpoint, endpoint))
    return page(rows, ("-created_at", "-id"), paging)


@router.post("/estimate", response=EstimateOut, summary="What a check-up would cost, at most")
def estimate(request: HttpRequest, body: CheckupIn) -> Any:
    endpoint, suite = _asked(request, body)
    _, planned = start.preview(endpoint, _wish(endpoint, body), suite)
    return planned


@router.post("", response={201: CheckupOut}, summary="Check an endpoint up; a worker begins within seconds")
def create(request: HttpRequest, body: CheckupIn) -> Any:
    endpoint, suite = _asked(request, body)
    caps = start.Caps(body.cost_cap, body.token_cap)
    return 201, start.start(endpoint, _wish(endpoint, body), suite=suite, caps=caps)


@router.post(
    "/recorded",
    response={201: list[CheckupOut], 202: AnswerFileOut},
    summary="Answers recorded elsewhere, one report per model",
)
def bring(request: HttpRequest, file: File[UploadedFile]) -> Any:
    """A small file is read at once (201). A large one is kept and read by a worker (202): ask for it again."""
    if (file.size or 0) > LARGEST_FILE:
        raise CheckupError(f"The file is larger than {LARGEST_FILE // 2**20} MB. Split it.")
    made = answer_files.bring(team_of(request), None, file.name or "answers", file.read())
    return (202, made) if isinstance(made, AnswerFile) else (201, made)


@router.get("/recorded/{uuid:answer_file}", response=AnswerFileOut, summary="How far a large file of answers is")
def bring_further(request: HttpRequest, answer_file: UUID) -> Any:
    return find(request, AnswerFile, answer_file)


@router.get("/side-by-side", response=BesideOut, summary="Several reports side by side, in an order where one holds")
def beside(request: HttpRequest, asked: Annotated[BesideQuery, Query()]) -> Any:
    reports = [made for one in asked.checkup if (made := store.report_of(find(request, Checkup, one))) is not None]
    view = side_by_side.side_by_side(reports)
    file = None
    if asked.form is not None:
        whole = asked.form == "html"
        text = standalone.page("Side by side", side_by_side.whole(view)) if whole else side_by_side.as_csv(view)
        kind = "text/html" if whole else "text/csv"
        file = {"name": f"tidegauge-side-by-side.{asked.form}", "media_type": kind, "text": text}
    return {"view": to_plain(view), "file": file}


@router.get("/{uuid:checkup}", response=CheckupOut, summary="One check-up and how far it is")
def show(request: HttpRequest, checkup: UUID) -> Any:
    return find(request, Checkup, checkup)


@router.get("/{uuid:checkup}/report", response=ReportOut, summary="Its report, and what changed since the one before")
def report(request: HttpRequest, checkup: UUID) -> Any:
    made, changed = _reported(find(request, Checkup, checkup))
    return {"report": to_plain(made), "changes": to_plain(changed)}


@router.get("/{uuid:checkup}/report-file", response=FileOut, summary="Its report as one HTML file that stands alone")
def report_file(request: HttpRequest, checkup: UUID) -> Any:
    found = find(request, Checkup, checkup)
    text = standalone.render(*_reported(found))
    return {"name": f"tidegauge-check-up-{found.created_at:%Y-%m-%d}.html", "media_type": "text/html", "text": text}


@router.post("/{uuid:checkup}/stop", response=CheckupOut, summary="End it and report what is there")
def stop(request: HttpRequest, checkup: UUID) -> Any:
    found = find(request, Checkup, checkup)
    if not life.stop(found, timezone.now()):
        raise ConflictError("This check-up is over already.")
    return find(request, Checkup, checkup)


@router.post("/{uuid:checkup}/watch", response=WatchOut, summary="Make it a monitor and a baseline")
def watch(request: HttpRequest, checkup: UUID) -> Any:
    try:
        monitor, baseline = adopt.adopt(find(request, Checkup, checkup), None, timezone.now())
    except CheckupError as error:
        raise ConflictError(str(error)) from error
    return {"monitor": monitor.public_id, "baseline": baseline.public_id if baseline else None}


def _reported(found: Checkup) -> tuple[Report, Changes | None]:
    """Its report and what changed since the one before. 404 before there is one."""
    made = store.report_of(found)
    if made is None:
        raise Http404("This check-up has no report yet.")
    before = store.previous_of(found)
    earlier = store.report_of(before) if before else None
    if before is None or earlier is None:
        return made, None
    return made, changes(store.examination_of(found), store.examination_of(before), made, earlier)


def _asked(request: HttpRequest, body: CheckupIn) -> tuple[Endpoint, Suite | None]:
    suite = find(request, Suite, body.suite) if body.suite else None
    return find(request, Endpoint, body.endpoint), suite


def _wish(endpoint: Endpoint, body: CheckupIn) -> Wish:
    usual = start.usual(endpoint)
    return Wish(
        repeats=body.repeats,
        concurrencies=tuple(body.concurrency),
        max_tokens=body.max_tokens,
        prefix_words=usual.prefix_words,
        scored=usual.scored if body.scored is None else body.scored,
    )
