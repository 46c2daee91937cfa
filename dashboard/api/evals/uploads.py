"""Results made elsewhere: a file comes in, its columns are named where they must be; see reports for the figures."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import File, Router, Schema
from ninja.files import UploadedFile
from pydantic import Field

from dashboard.access import find, team_of, team_rows
from dashboard.api.cursors import PagingQuery, page
from dashboard.api.evals.sets import Column, Grader
from dashboard.api.fields import Asked
from drift.display import visible
from drift.entered import EntryError
from drift.evals.lines import LARGEST_FILE
from drift.evals.results import Columns, read, recognise
from drift.models import EvalUpload

router = Router(tags=["Evals"])


class EvalUploadOut(Schema):
    id: UUID = Field(alias="public_id")
    name: str
    columns: dict[str, Any] | None = Field(description="null: the format says it")
    created_at: datetime


class EvalUploadPage(Schema):
    items: list[EvalUploadOut]
    next: str | None


class EvalUploadMade(EvalUploadOut):
    columns_needed: bool = Field(description="Name the columns before there can be a report")


class ColumnsIn(Asked):
    """Which column holds what; empty: none. Without `score`, `grader` scores `answer` against `target`."""

    case: Annotated[Column, Field(min_length=1)]
    score: Column = ""
    arm: Column = ""
    round: Column = ""
    answer: Column = ""
    target: Column = ""
    subset: Column = ""
    cluster: Column = ""
    identity: Column = ""
    question: Column = ""
    grader: Grader = {"kind": "exact"}

    model_config = {
        "json_schema_extra": {
            "examples": [{"case": "item_id", "arm": "model", "round": "epoch", "score": "score"}],
        }
    }


@router.get("/uploads", response=EvalUploadPage, summary="Files of results, the latest first")
def index(request: HttpRequest, paging: PagingQuery) -> Any:
    rows = team_rows(request, EvalUpload).filter(purpose=EvalUpload.Purpose.RESULTS).defer("raw")
    return page(rows, ("-created_at", "-id"), paging)


@router.post("/uploads", response={201: EvalUploadMade}, summary="A file of results made elsewhere")
def bring(request: HttpRequest, file: File[UploadedFile]) -> Any:
    """Inspect .eval, lm-eval samples, promptfoo results, CSV or JSONL. A mistake is named with its line."""
    if (file.size or 0) > LARGEST_FILE:
        raise EntryError(f"The file is larger than {LARGEST_FILE // 2**20} MB. Split it.")
    name, data = visible(file.name or "upload")[:200], file.read()
    kind = recognise(name, data)
    if kind is not None:
        read(name, data)
    made = EvalUpload.objects.create(team=team_of(request), name=name, raw=data)
    made.columns_needed = kind is None  # type: ignore[attr-defined]
    return 201, made


@router.get("/uploads/{uuid:upload}", response=EvalUploadOut, summary="One file of results")
def show(request: HttpRequest, upload: UUID) -> Any:
    return find(request, EvalUpload, upload)


@router.put("/uploads/{uuid:upload}/columns", response=EvalUploadOut, summary="Name the columns of a table of results")
def columns(request: HttpRequest, upload: UUID, body: ColumnsIn) -> Any:
    found = find(request, EvalUpload, upload)
    named = body.dict()
    read(found.name, bytes(found.raw), Columns(**named))
    found.columns = named
    found.save(update_fields=["columns"])
    return found
