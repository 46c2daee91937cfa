"""Cases come in: a file or pasted text, a look at what it would become, a version of a set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from dashboard.access import find, require_editor, team_of, team_rows
from dashboard.eval_forms import CasesForm, FileForm
from dashboard.links import is_uuid
from dashboard.views.endpoint_forms import person
from drift import figures
from drift.evals import cases as formats
from drift.evals.case import prompt
from drift.evals.cases import Imported, mapped
from drift.evals.errors import EvalError
from drift.evals.export import cases_as_jsonl
from drift.evals.importing import read_cases, save_cases
from drift.evals.lines import rows_of
from drift.models import EvalUpload, EvalVersion

SHOWN = 8
LARGEST_EDIT = 2_000_000


def bring(request: HttpRequest) -> HttpResponse:
    """A file or text of cases. `?from=` begins with those of a version, to be edited."""
    require_editor(request)
    begun = _begun(request)
    text = "".join(cases_as_jsonl(begun)) if begun else ""
    if len(text) > LARGEST_EDIT:
        said = _("This set is too large to be edited here. Export it, change the file, bring it back.")
        messages.warning(request, said)
        text = ""
    initial = {"text": text, "name": "cases.jsonl" if begun else ""}
    form = FileForm(request.POST or None, request.FILES or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        name, data = form.content()
        upload = EvalUpload.objects.create(
            team=team_of(request), purpose=EvalUpload.Purpose.CASES, name=name, raw=data, created_by=person(request)
        )
        query = f"?from={begun.public_id}" if begun else ""
        return redirect(reverse("eval-import", args=[upload.public_id]) + query)
    context = {"form": form, "version": begun}
    return render(request, "dashboard/evals/bring.html", context, status=400 if form.errors else 200)


def preview(request: HttpRequest, upload: UUID) -> HttpResponse:
    """What the file would become; saving makes the version."""
    require_editor(request)
    found = find(request, EvalUpload, upload)
    data, begun = bytes(found.raw), _begun(request)
    columns, problem = _columns(found.name, data)
    form = CasesForm(request.POST or None, initial=_initial(found, data, columns, begun))
    imported: Imported | None = None
    if not problem:
        values = form.cleaned_data if form.is_bound and form.is_valid() else form.initial
        if not form.errors:
            imported, problem = _read(found.name, data, values)
    if imported and request.method == "POST" and request.POST.get("action") == "save" and not form.errors:
        version, problem = _save(request, form.cleaned_data, imported, found.name)
        if version is not None:
            partly = _("Saved {version} with {cases}. {left} left out.")
            said = partly if imported.problems else _("Saved {version} with {cases}.")
            left, cases = (figures.plural(len(some), "case") for some in (imported.problems, imported.cases))
            messages.success(request, said.format(version=version, cases=cases, left=left))
            return redirect("eval-version", version.public_id)
    context = {
        "form": form,
        "upload": found,
        "version": begun,
        "columns": columns,
        "imported": imported,
        "problem": problem,
        "shown": _shown(imported, form) if imported else [],
        "formats": formats.FORMATS,
    }
    return render(request, "dashboard/evals/preview.html", context, status=400 if problem or form.errors else 200)


def _begun(request: HttpRequest) -> EvalVersion | None:
    wanted = request.GET.get("from", "")
    return team_rows(request, EvalVersion).filter(public_id=wanted).first() if is_uuid(wanted) else None


def _columns(name: str, data: bytes) -> tuple[list[str], str]:
    if name.lower().endswith((".yaml", ".yml")):
        return [], ""
    try:
        rows = [row for _, (_, row) in zip(range(20), rows_of(name, data), strict=False)]
    except EvalError as error:
        return [], str(error)
    return mapped.columns_of(rows), "" if rows else _("The file has no rows.")


def _initial(upload: EvalUpload, data: bytes, columns: list[str], begun: EvalVersion | None) -> dict[str, Any]:
    try:
        kind = formats.recognise(upload.name, data) or "mapped"
    except EvalError:
        kind = "mapped"
    guess = mapped.guess(columns)
    initial: dict[str, Any] = {
        "name": begun.eval_set.name if begun else upload.name.rpartition("/")[2].rpartition(".")[0][:80],
        "kind": kind,
        "question": guess.question,
        "target": guess.target,
        "key": guess.key,
        "choices": guess.choices,
        "cluster": guess.cluster,
        "repeats": begun.repeats if begun else 5,
        "template": begun.template if begun else "",
        "grader": "" if kind != "mapped" else "includes",
    }
    if begun and len(begun.graders) == 1:
        described = dict(begun.graders[0])
        initial |= {"grader": described.pop("kind"), "options": json.dumps(described) if described else ""}
    return initial


def _read(name: str, data: bytes, values: Mapping[str, Any]) -> tuple[Imported | None, str]:
    named = mapped.CaseColumns(*(values.get(n) or "" for n in ("question", "target", "key", "choices", "cluster")))
    described = values.get("described") or ({"kind": values["grader"]} if values.get("grader") else None)
    try:
        return read_cases(name, data, values["kind"], named, described), ""
    except EvalError as error:
        return None, str(error)


def _save(
    request: HttpRequest, values: dict[str, Any], imported: Imported, source: str
) -> tuple[EvalVersion | None, str]:
    try:
        version = save_cases(
            team_of(request),
            person(request),
            values["name"],
            imported,
            grader=values.get("described"),
            template=values["template"],
            repeats=values["repeats"],
            source=source,
        )
    except EvalError as error:
        return None, str(error)
    return version, ""


def _shown(imported: Imported, form: CasesForm) -> list[dict[str, Any]]:
    """The first cases as they would be asked."""
    values = form.cleaned_data if form.is_bound and form.is_valid() else form.initial
    template = values.get("template") or next(iter(imported.templates), "")
    rows = []
    for case in imported.cases[:SHOWN]:
        try:
            asked = str(prompt(case, template)[-1]["content"])
        except EvalError as error:
            asked = str(error)
        described = case.graders or ([values["described"]] if values.get("described") else imported.graders)
        rows.append({"case": case, "asked": asked, "graders": [d["kind"] for d in described]})
    return rows
