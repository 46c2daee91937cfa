"""Eval sets: their versions, their cases, and a file of cases as the next version."""

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
from dashboard.api.fields import STORABLE, Asked, Name
from dashboard.api.problems import ConflictError
from drift import entered
from drift.evals.cases import Imported, mapped
from drift.evals.importing import guessed_columns, read_cases, recognised, save_cases
from drift.evals.store import graders_of
from drift.models import EvalCase, EvalSet, EvalVersion

router = Router(tags=["Evals"])
SHOWN = 8

Column = Annotated[str, Field(max_length=200, pattern=STORABLE)]
Grader = Annotated[dict[str, Any], Field(description='For example {"kind": "exact"}; see docs/evals.md')]


class EvalSetOut(Schema):
    id: UUID = Field(alias="public_id")
    name: str
    created_at: datetime
    archived_at: datetime | None


class EvalSetPage(Schema):
    items: list[EvalSetOut]
    next: str | None


class EvalVersionOut(Schema):
    id: UUID = Field(alias="public_id")
    set: UUID
    name: str
    number: int
    template: str
    templates: list[str]
    graders: list[dict[str, Any]]
    repeats: int
    source: str
    created_at: datetime

    @staticmethod
    def resolve_set(row: EvalVersion) -> UUID:
        return row.eval_set.public_id

    @staticmethod
    def resolve_name(row: EvalVersion) -> str:
        return row.eval_set.name


class EvalVersionWhole(EvalVersionOut):
    cases: int

    @staticmethod
    def resolve_cases(row: EvalVersion) -> int:
        return row.cases.count()


class EvalVersionPage(Schema):
    items: list[EvalVersionOut]
    next: str | None


class EvalCaseOut(Schema):
    key: str
    messages: list[dict[str, Any]]
    targets: list[Any]
    choices: list[Any]
    variables: dict[str, Any]
    graders: list[dict[str, Any]] = Field(description="Its own, else the set's")
    threshold: float | None
    repeats: int | None
    cluster: str

    @staticmethod
    def resolve_graders(row: EvalCase) -> list[Any]:
        return graders_of(row, row.version)


class EvalCasePage(Schema):
    items: list[EvalCaseOut]
    next: str | None


class CaseColumns(Schema):
    """Which column of a table holds what; empty: none. A dotted name reaches into nested objects."""

    question: Column
    target: Column = ""
    key: Column = ""
    choices: Column = ""
    cluster: Column = ""
    repeats: Column = ""


class CasesIn(Asked):
    """A file of cases as text."""

    name: Annotated[Name, Field(description="Of the set; one that exists gets a next version")]
    text: Annotated[str, Field(min_length=1, max_length=8_000_000)]
    file_name: Annotated[str, Field(min_length=1, max_length=200, pattern=STORABLE)] = "cases.jsonl"
    format: Literal["inspect", "promptfoo", "openai", "mapped"] | None = Field(None, description="null: recognised")
    columns: CaseColumns | None = Field(None, description="Of a table; null: guessed from common names")
    grader: Grader | None = Field(None, description="For cases that bring none")
    template: Annotated[str, Field(max_length=20_000, pattern=STORABLE)] = ""
    repeats: Annotated[int, Field(ge=1, le=100, strict=True)] | None = None
    leave_out: Annotated[bool, Field(strict=True, description="Save although some cases cannot be used")] = False

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "name": "Capitals",
                    "text": '{"id": "fr", "input": "Capital of France?", "target": "Paris"}\n',
                    "file_name": "capitals.jsonl",
                    "grader": {"kind": "includes"},
                    "repeats": 5,
                }
            ]
        }
    }


class EvalPreview(Schema):
    format: str
    cases: int
    graders: list[dict[str, Any]]
    templates: list[str]
    repeats: int | None
    left_out: list[str] = Field(description="What cannot be used, with its line")
    first: list[dict[str, Any]] = Field(description="The first cases, as read")


@router.get("/sets", response=EvalSetPage, summary="Eval sets, the oldest first")
def index(request: HttpRequest, paging: PagingQuery, archived: bool = False) -> Any:
    return page(team_rows(request, EvalSet).filter(archived_at__isnull=not archived), ("created_at", "id"), paging)


@router.get("/sets/{uuid:eval_set}", response=EvalSetOut, summary="One eval set")
def show(request: HttpRequest, eval_set: UUID) -> Any:
    return find(request, EvalSet, eval_set)


@router.get("/sets/{uuid:eval_set}/versions", response=EvalVersionPage, summary="Its versions, the latest first")
def versions(request: HttpRequest, eval_set: UUID, paging: PagingQuery) -> Any:
    rows = team_rows(request, EvalVersion).filter(eval_set=find(request, EvalSet, eval_set))
    return page(rows.select_related("eval_set"), ("-number", "-id"), paging)


@router.post("/sets/{uuid:eval_set}/archive", response=EvalSetOut, summary="Put a set away; its runs stay")
def archive(request: HttpRequest, eval_set: UUID) -> Any:
    found = find(request, EvalSet, eval_set)
    EvalSet.objects.filter(pk=found.pk, archived_at=None).update(archived_at=timezone.now())
    return find(request, EvalSet, eval_set)


@router.post("/sets/{uuid:eval_set}/restore", response=EvalSetOut, summary="Take a set out again")
def restore(request: HttpRequest, eval_set: UUID) -> Any:
    found = find(request, EvalSet, eval_set)
    taken = team_rows(request, EvalSet).filter(name=found.name, archived_at=None).exclude(pk=found.pk)
    if taken.exists():
        raise ConflictError("There is another set of that name now. Archive that one first.")
    EvalSet.objects.filter(pk=found.pk).update(archived_at=None)
    return find(request, EvalSet, eval_set)


@router.post("/versions/preview", response=EvalPreview, summary="What a file of cases would become")
def preview(request: HttpRequest, body: CasesIn) -> Any:
    kind, imported = _read(body)
    return {
        "format": kind,
        "cases": len(imported.cases),
        "graders": [dict(one) for one in imported.graders],
        "templates": list(imported.templates),
        "repeats": imported.repeats,
        "left_out": [str(problem) for problem in imported.problems[:100]],
        "first": [
            {"key": one.key, "question": one.question, "targets": list(one.targets)} for one in imported.cases[:SHOWN]
        ],
    }


@router.post("/versions", response={201: EvalVersionWhole}, summary="A file of cases as the next version of a set")
def bring(request: HttpRequest, body: CasesIn) -> Any:
    """Cases that cannot be used refuse the whole file, each with its line, unless `leave_out` says to go on."""
    _, imported = _read(body)
    if imported.problems and not body.leave_out:
        listed = "; ".join(str(problem) for problem in imported.problems[:20])
        raise entered.EntryError(f"Nothing was saved. Correct the file, or send leave_out. {listed}")
    return 201, save_cases(
        team_of(request),
        None,
        entered.text(body.name, most=80, least=1, what="name"),
        imported,
        grader=body.grader,
        template=entered.text(body.template, most=20_000, what="template"),
        repeats=body.repeats,
        source=body.file_name,
    )


@router.get("/versions/{uuid:version}", response=EvalVersionWhole, summary="One version of a set")
def version(request: HttpRequest, version: UUID) -> Any:
    return find(request, EvalVersion, version)


@router.get("/versions/{uuid:version}/cases", response=EvalCasePage, summary="Its cases, in their order")
def cases(request: HttpRequest, version: UUID, paging: PagingQuery) -> Any:
    rows = EvalCase.objects.filter(version=find(request, EvalVersion, version)).select_related("version")
    return page(rows, ("position", "id"), paging)


def _read(body: CasesIn) -> tuple[str, Imported]:
    data = body.text.encode("utf-8", "replace")
    kind = body.format or recognised(body.file_name, data)
    columns = mapped.CaseColumns(**body.columns.dict()) if body.columns else None
    if columns is None:
        columns = guessed_columns(body.file_name, data) if kind == "mapped" else mapped.CaseColumns("")
    return kind, read_cases(body.file_name, data, kind, columns, body.grader)
