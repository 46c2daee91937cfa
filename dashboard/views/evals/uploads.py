"""Results made elsewhere: a file comes in, its columns are named where they must be, a report comes out."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from dashboard.access import find, may_edit, require_editor, team_of
from dashboard.eval_forms import FileForm, UploadColumnsForm
from dashboard.views.endpoint_forms import person
from dashboard.views.evals.sources import Source, margin_of, overview_of
from drift.evals.cases.mapped import columns_of
from drift.evals.command import suggested
from drift.evals.errors import EvalError
from drift.evals.lines import rows_of
from drift.evals.read import results_of_upload
from drift.evals.results import FORMATS, Columns, read, recognise
from drift.evals.results.long_table import guess
from drift.models import EvalUpload

SHOWN = 8


def bring(request: HttpRequest) -> HttpResponse:
    require_editor(request)
    form = FileForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        name, data = form.content()
        try:
            kind = recognise(name, data)
            mapped = kind is None or (kind == "long" and _needs_a_person(name, data))
            if not mapped:
                read(name, data)
        except EvalError as error:
            form.add_error("file", str(error))
        else:
            upload = EvalUpload.objects.create(team=team_of(request), name=name, raw=data, created_by=person(request))
            return redirect("eval-columns" if mapped else "eval-upload", upload.public_id)
    context = {"form": form, "formats": FORMATS.values()}
    return render(request, "dashboard/evals/upload.html", context, status=400 if form.errors else 200)


def _needs_a_person(name: str, data: bytes) -> bool:
    """Whether answers come without scores: then a person should see which grader is taken."""
    first = next(iter(rows_of(name, data)), None)
    return first is None or not guess(list(first[1])).score


def columns(request: HttpRequest, upload: UUID) -> HttpResponse:
    """Names the columns, with a look at the first rows and at how they would be graded."""
    require_editor(request)
    found = find(request, EvalUpload, upload)
    data = bytes(found.raw)
    rows = [dict(row) for _, (_, row) in zip(range(SHOWN), rows_of(found.name, data), strict=False)]
    names = columns_of(rows)
    form = UploadColumnsForm(request.POST or None, initial=_initial(found, data, names))
    problem = ""
    if request.method == "POST" and form.is_valid():
        try:
            read(found.name, data, Columns(**form.columns()))
        except EvalError as error:
            problem = str(error)
        else:
            found.columns = form.columns()
            found.save(update_fields=["columns"])
            return redirect("eval-upload", found.public_id)
    context = {
        "form": form,
        "upload": found,
        "names": names,
        "rows": [[str(row.get(name, ""))[:120] for name in names] for row in rows],
        "problem": problem,
    }
    return render(request, "dashboard/evals/columns.html", context, status=400 if problem or form.errors else 200)


def _initial(upload: EvalUpload, data: bytes, names: list[str]) -> dict[str, Any]:
    named = Columns(**upload.columns) if upload.columns is not None else guess(names)
    described = dict(named.grader)
    if upload.columns is None and not named.score and named.answer and named.target:
        described = suggested(upload.name, data, named)
    values = {name: value for name, value in asdict(named).items() if name != "grader"}
    kind = described.pop("kind")
    return {**values, "grader": "" if named.score else kind, "options": json.dumps(described) if described else ""}


def show(request: HttpRequest, upload: UUID) -> HttpResponse:
    found = find(request, EvalUpload, upload)
    try:
        results = results_of_upload(found)
    except EvalError as error:
        context = {"upload": found, "problem": str(error), "can_edit": may_edit(request)}
        return render(request, "dashboard/evals/unreadable.html", context)
    source = Source("uploads", found, results, margin_of(request))
    return render(request, "dashboard/evals/report.html", overview_of(request, source))
