"""Check-ups: the list, starting one, watching it go on, its report, two beside each other, recorded answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.utils.translation import gettext
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRedirect

from dashboard.access import find, may_edit, require_editor, team_of, team_rows
from dashboard.forms_checkup import CheckupForm, RecordedForm
from dashboard.links import is_uuid
from dashboard.views.endpoint_forms import person
from drift.checkup import adopt, answer_files, html, life, side_by_side, standalone, start, store
from drift.checkup.changes import Changes, changes
from drift.checkup.errors import CheckupError
from drift.checkup.plain import to_plain
from drift.checkup.plan import Estimate
from drift.checkup.report import Report
from drift.models import AnswerFile, Checkup, Endpoint

SHOWN = 100
MOST_BESIDE = 8


def index(request: HttpRequest) -> HttpResponse:
    rows = list(team_rows(request, Checkup).select_related("endpoint").order_by("-created_at")[:SHOWN])
    context = {
        "checkups": [(row, store.report_of(row)) for row in rows],
        "live": any(not row.over for row in rows),
        "can_edit": may_edit(request),
        "endpoints": team_rows(request, Endpoint).filter(archived_at__isnull=True).exists(),
    }
    return render(request, "dashboard/checkup/index.html", context)


def add(request: HttpRequest) -> HttpResponse:
    """GET and 'estimate' say what it would cost; 'start' begins it."""
    require_editor(request)
    wanted = request.GET.get("endpoint", "")
    form = CheckupForm(request.POST or None, team=team_of(request), endpoint=wanted if is_uuid(wanted) else "")
    planned: Estimate | None = None
    if request.method == "POST" and form.is_valid():
        try:
            if "start" in request.POST:
                made = start.start(
                    form.chosen, form.wish, user=person(request), suite=form.cleaned_data["suite"], caps=form.caps
                )
                return redirect("checkup", made.public_id)
            _, planned = start.preview(form.chosen, form.wish, form.cleaned_data["suite"])
        except CheckupError as error:
            form.add_error(None, str(error))
    elif not form.is_bound and (usual := form.usual()) is not None:
        _, planned = start.preview(*usual)
    context = {"form": form, "planned": planned, "endpoints": form.fields["endpoint"].queryset.exists()}  # type: ignore[attr-defined]
    return render(request, "dashboard/checkup/form.html", context, status=400 if form.errors else 200)


def show(request: HttpRequest, checkup: UUID) -> HttpResponse:
    found = find(request, Checkup, checkup)
    report = store.report_of(found)
    context = {
        "checkup": found,
        "live": not found.over,
        "can_edit": may_edit(request),
        "percent": round(100 * found.answered / found.wanted) if found.wanted else 0,
        "report": report,
    }
    if request.htmx and not found.over:  # type: ignore[attr-defined]
        return render(request, "dashboard/checkup/progress.html", context)
    if report is not None and found.over:
        before, changed = against_previous(found, report)
        context |= {"body": mark_safe(html.body(report, changed)), "before": before}  # noqa: S308  texts are escaped
    return render(request, "dashboard/checkup/page.html", context)


def against_previous(found: Checkup, report: Report) -> tuple[Checkup | None, Changes | None]:
    before = store.previous_of(found)
    earlier = store.report_of(before) if before else None
    if before is None or earlier is None:
        return None, None
    return before, changes(store.examination_of(found), store.examination_of(before), report, earlier)


def export(request: HttpRequest, checkup: UUID, form: str) -> HttpResponse:
    """The report as a file that stands alone, or as JSON."""
    found = find(request, Checkup, checkup)
    report = store.report_of(found)
    if report is None:
        raise Http404(gettext("This check-up has no report yet."))
    _, changed = against_previous(found, report)
    name = f"tidegauge-check-up-{found.created_at:%Y-%m-%d}"
    if form == "html":
        return attachment(standalone.render(report, changed), "text/html; charset=utf-8", f"{name}.html")
    if form == "json":
        whole = json.dumps({"report": to_plain(report), "changes": to_plain(changed)}, ensure_ascii=False)
        return attachment(whole, "application/json", f"{name}.json")
    raise Http404(gettext("A report can be had as html or json."))


def attachment(text: str, kind: str, name: str) -> HttpResponse:
    response = HttpResponse(text, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_POST
def stop(request: HttpRequest, checkup: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Checkup, checkup)
    life.stop(found, timezone.now())
    return redirect("checkup", found.public_id)


@require_POST
def watch(request: HttpRequest, checkup: UUID) -> HttpResponse:
    """One click: a monitor over the same questions, and the quiet answers as its baseline."""
    require_editor(request)
    found = find(request, Checkup, checkup)
    try:
        monitor, baseline = adopt.adopt(found, person(request), timezone.now())
    except CheckupError as error:
        messages.error(request, str(error))
        return redirect("checkup", found.public_id)
    said = (
        gettext("{name} is being watched, with the check-up's quiet answers as its baseline.")
        if baseline
        else gettext("{name} is being watched, and will take a baseline of its own.")
    )
    messages.success(request, said.format(name=monitor.endpoint.name))
    return redirect("endpoint", monitor.endpoint.public_id)


def beside(request: HttpRequest) -> HttpResponse:
    """Several reports side by side, as a page, a file, CSV or JSON (`as`)."""
    wanted = [value for value in request.GET.getlist("checkup") if is_uuid(value)][:MOST_BESIDE]
    rows = {str(row.public_id): row for row in team_rows(request, Checkup).filter(public_id__in=wanted)}
    reports = [report for key in wanted if key in rows and (report := store.report_of(rows[key])) is not None]
    view = side_by_side.side_by_side(reports)
    form = request.GET.get("as", "")
    if form == "html":
        page = standalone.page(gettext("Side by side"), side_by_side.whole(view))
        return attachment(page, "text/html; charset=utf-8", "tidegauge-side-by-side.html")
    if form == "csv":
        return attachment(side_by_side.as_csv(view), "text/csv; charset=utf-8", "tidegauge-side-by-side.csv")
    if form == "json":
        return attachment(json.dumps(to_plain(view)), "application/json", "tidegauge-side-by-side.json")
    context = {
        "view": view,
        "body": mark_safe(side_by_side.body(view)),  # noqa: S308  texts are escaped
        "query": "&".join(f"checkup={value}" for value in wanted),
        "choices": [
            (row, str(row.public_id) in wanted)
            for row in team_rows(request, Checkup).exclude(report={}).order_by("-created_at")[:40]
        ],
    }
    return render(request, "dashboard/checkup/beside.html", context)


def bring(request: HttpRequest) -> HttpResponse:
    """Answers recorded elsewhere: the same report without a request."""
    require_editor(request)
    form = RecordedForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        upload = form.cleaned_data["file"]
        try:
            made = answer_files.bring(team_of(request), person(request), upload.name or "answers", upload.read())
        except CheckupError as error:
            form.add_error("file", str(error))
        else:
            if isinstance(made, AnswerFile):
                return redirect("answer-file", made.public_id)
            return redirect(reports_of(made))
    return render(request, "dashboard/checkup/bring.html", {"form": form}, status=400 if form.errors else 200)


def reports_of(made: Sequence[Checkup]) -> str:
    """Where the check-ups of one file are read: one by itself, several side by side."""
    if len(made) == 1:
        return reverse("checkup", args=[made[0].public_id])
    picks = "&".join(f"checkup={one.public_id}" for one in made[:MOST_BESIDE])
    return f"{reverse('checkup-beside')}?{picks}"


def show_file(request: HttpRequest, answer_file: UUID) -> HttpResponse:
    """How far a large file is; its reports once it is read."""
    found = find(request, AnswerFile, answer_file)
    if found.state == AnswerFile.State.FINISHED:
        there = reports_of(answer_files.made_of(found))
        return HttpResponseClientRedirect(there) if request.htmx else redirect(there)  # type: ignore[attr-defined]
    part = "reading" if request.htmx else "file"  # type: ignore[attr-defined]
    context = {"file": found, "live": not found.over, "made": answer_files.made_of(found)}
    return render(request, f"dashboard/checkup/{part}.html", context)
