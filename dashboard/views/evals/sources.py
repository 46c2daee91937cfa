"""A run or an upload as the thing that a report is about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard.access import find, may_edit, team_rows
from dashboard.links import is_uuid
from drift import figures
from drift.evals import pictures
from drift.evals.answers import ArmAnswers, Results
from drift.evals.comparison import MARGIN, Comparison, compare_all
from drift.evals.errors import EvalError
from drift.evals.read import results_of_run, results_of_upload
from drift.evals.report import ArmReport, report
from drift.models import EvalRun, EvalUpload

MOST_PAIRS = 28  # eight arms


@dataclass(frozen=True, slots=True)
class Source:
    """`kind` runs or uploads, as in the address; `margin` as a share."""

    kind: str
    row: EvalRun | EvalUpload
    results: Results
    margin: float

    @property
    def public_id(self) -> UUID:
        return self.row.public_id

    @property
    def name(self) -> str:
        return str(self.row)

    @property
    def url(self) -> str:
        return reverse("eval-run" if self.kind == "runs" else "eval-upload", args=[self.public_id])


def source_of(request: HttpRequest, kind: str, source: UUID) -> Source:
    """The team's run or upload with its answers. 404 where there is none, or its file cannot be read."""
    if kind not in ("runs", "uploads"):
        raise Http404(_("A report is about one of the runs or uploads."))
    if kind == "runs":
        run = find(request, EvalRun, source)
        return Source(kind, run, results_of_run(run), run.margin)
    upload = find(request, EvalUpload, source)
    try:
        return Source(kind, upload, results_of_upload(upload), margin_of(request))
    except EvalError as error:
        raise Http404(_("This file cannot be read as results: {error}").format(error=error)) from None


def with_other_run(request: HttpRequest, source: Source) -> tuple[Source, EvalRun | None]:
    """The source with the arms of another run of the same set beside its own, where the address names one by `with`."""
    wanted = request.GET.get("with", "")
    row = source.row
    if not isinstance(row, EvalRun) or not is_uuid(wanted):
        return source, None
    other = team_rows(request, EvalRun).filter(public_id=wanted, version__eval_set=row.version.eval_set).first()
    if other is None or other.pk == row.pk:
        return source, None
    arms = (*dated(source.results, row), *dated(results_of_run(other), other))
    return replace(source, results=replace(source.results, arms=arms)), other


def dated(results: Results, run: EvalRun) -> tuple[ArmAnswers, ...]:
    """Its arms, named with when they were asked."""
    began = timezone.localtime(run.started_at or run.created_at)
    at = figures.day_time_seconds(began)
    return tuple(replace(arm, name=_("{name}, {moment}").format(name=arm.name, moment=at)) for arm in results.arms)


def margin_of(request: HttpRequest) -> float:
    """The margin that the address asks for, in points."""
    try:
        margin = float(request.GET.get("margin", MARGIN * 100)) / 100
    except ValueError:
        return MARGIN
    return margin if 0 < margin <= 1 else MARGIN


def overview_of(request: HttpRequest, source: Source) -> dict[str, Any]:
    """Arms with their figures, and every comparison."""
    reports = [report(arm) for arm in source.results.arms]
    comparisons = compare_all(source.results.arms, source.margin) if 1 < len(reports) <= 8 else []
    return {
        "source": source,
        "arms": list(enumerate(reports)),
        "comparisons": numbered(source, comparisons),
        "axis": pictures.span([r.score.estimate for r in reports if r.score]),
        "too_many": len(reports) > 8,
        "can_edit": may_edit(request),
        "judged": any(r.judge for r in reports),
        "parts": any(r.parts for r in reports),
    }


def numbered(source: Source, comparisons: list[Comparison]) -> list[tuple[int, int, Comparison]]:
    places = {arm.name: i for i, arm in enumerate(source.results.arms)}
    return [(places[c.a], places[c.b], c) for c in comparisons]


def reports_of(source: Source) -> list[ArmReport]:
    return [report(arm) for arm in source.results.arms]
