"""All eval sets, the latest runs, and the uploads."""

from __future__ import annotations

from django.db.models import Count, Max, OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.access import may_edit, team_rows
from drift.models import EvalRun, EvalSet, EvalUpload, EvalVersion

RECENT = 15


def index(request: HttpRequest) -> HttpResponse:
    latest = EvalVersion.objects.filter(eval_set=OuterRef("pk")).order_by("-number")
    sets = (
        team_rows(request, EvalSet)
        .filter(archived_at=None)
        .annotate(
            version_id=Subquery(latest.values("public_id")[:1]),
            number=Subquery(latest.values("number")[:1]),
            cases=Subquery(latest.annotate(n=Count("cases")).values("n")[:1]),
            last_run=Max("versions__runs__created_at"),
        )
        .order_by("name")
    )
    runs = (
        team_rows(request, EvalRun)
        .select_related("version__eval_set")
        .prefetch_related("arms")
        .order_by("-created_at")[:RECENT]
    )
    uploads = (
        team_rows(request, EvalUpload)
        .filter(purpose=EvalUpload.Purpose.RESULTS)
        .defer("raw")
        .order_by("-created_at")[:RECENT]
    )
    context = {"sets": sets, "runs": runs, "uploads": uploads, "can_edit": may_edit(request)}
    return render(request, "dashboard/evals/index.html", context)
