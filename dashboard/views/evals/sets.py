"""One version of a set: its cases, its graders, what was run of it."""

from __future__ import annotations

import json
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dashboard.access import find, may_edit, require_editor
from dashboard.links import with_query
from drift.evals.export import cases_as_jsonl
from drift.evals.read import file_name
from drift.evals.store import case_of, graders_of
from drift.models import EvalRun, EvalVersion

ON_A_PAGE = 50


def show(request: HttpRequest, version: UUID) -> HttpResponse:
    found = find(request, EvalVersion, version)
    page = Paginator(found.cases.all(), ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "version": found,
        "page": page,
        "cases": [
            {"case": case_of(row), "graders": [d["kind"] for d in graders_of(row, found)], "repeats": row.repeats}
            for row in page
        ],
        "graders": [json.dumps(described, ensure_ascii=False) for described in found.graders],
        "versions": found.eval_set.versions.order_by("-number"),
        "runs": EvalRun.objects.filter(version__eval_set=found.eval_set)
        .select_related("version")
        .prefetch_related("arms")
        .order_by("-created_at")[:20],
        "before": with_query(request, page=page.previous_page_number()) if page.has_previous() else "",
        "after": with_query(request, page=page.next_page_number()) if page.has_next() else "",
        "can_edit": may_edit(request),
    }
    return render(request, "dashboard/evals/version.html", context)


def export(request: HttpRequest, version: UUID) -> StreamingHttpResponse:
    found = find(request, EvalVersion, version)
    response = StreamingHttpResponse(cases_as_jsonl(found), content_type="application/jsonl; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{file_name(str(found))}.jsonl"'
    return response


@require_POST
def archive(request: HttpRequest, version: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, EvalVersion, version)
    found.eval_set.archived_at = timezone.now()
    found.eval_set.save(update_fields=["archived_at"])
    undo = reverse("eval-restore", args=[found.public_id])
    said = _("{name} is put away; its runs stay.").format(name=found.eval_set)
    messages.success(request, said, extra_tags=undo)
    return redirect("evals")


@require_POST
def restore(request: HttpRequest, version: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, EvalVersion, version)
    taken = type(found.eval_set).objects.filter(team=found.eval_set.team, name=found.eval_set.name, archived_at=None)
    if taken.exclude(pk=found.eval_set_id).exists():
        said = _("There is another set named {name} now. Rename or archive that one first.")
        messages.error(request, said.format(name=found.eval_set))
        return redirect("evals")
    found.eval_set.archived_at = None
    found.eval_set.save(update_fields=["archived_at"])
    return redirect("eval-version", found.public_id)
