"""Reports on runs and on files of results: figures, two arms against each other, the gate, files to send."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import Http404, HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.access import find
from dashboard.api.fields import FileOut
from dashboard.views.evals.sources import dated
from drift.entered import EntryError
from drift.evals import gate, standalone, tables
from drift.evals.answers import Results
from drift.evals.comparison import MARGIN, MOST_IN_FAMILY, Comparison, compare_all, compare_in_family
from drift.evals.read import file_name, results_of_run, results_of_upload
from drift.evals.report import report
from drift.measure.evals.scopes import Scope
from drift.models import EvalRun, EvalUpload

router = Router(tags=["Evals"])

Margin = Annotated[float, Query(ge=0.0001, le=1, description="A share: 0.03 is three points")]
Form = Literal["html", "arms", "comparisons", "cases", "answers"]


class EvalReportOut(Schema):
    """Scores and differences are shares of 1; null: unknown."""

    name: str
    notes: list[str]
    exit_code: int = Field(description="As `manage.py evalrun` ends: 0 fine, 1 worse, 3 inconclusive, 4 void, 5 failed")
    arms: list[dict[str, Any]]
    comparisons: list[dict[str, Any]]


class EvalComparisonOut(Schema):
    """A minus B, with its intervals, the verdict and why."""

    comparison: dict[str, Any]


class EvalGateOut(Schema):
    """The first arm is the candidate; it is judged against each other arm."""

    answer: Literal["fine", "worse", "inconclusive", "void", "failed"]
    trust: bool
    exit_status: int
    why: list[str]


class Pair(Schema):
    a: Annotated[int, Field(ge=0, le=100, description="Place of the first arm")] = 0
    b: Annotated[int, Field(ge=0, le=100, description="Place of the second arm")] = 1
    scope: Literal["sample", "these"] | None = Field(None, description="null: the question that fits these arms")


@router.get("/runs/{uuid:eval_run}/report", response=EvalReportOut, summary="Every figure of a run")
def of_run(request: HttpRequest, eval_run: UUID) -> Any:
    run = find(request, EvalRun, eval_run)
    return _report(results_of_run(run), run.margin)


@router.get("/runs/{uuid:eval_run}/comparison", response=EvalComparisonOut, summary="Two arms of a run, or of two runs")
def of_two(request: HttpRequest, eval_run: UUID, pair: Annotated[Pair, Query()], other: UUID | None = None) -> Any:
    """`other`: another run of the same set, whose arms follow this one's: two dates of one endpoint."""
    run = find(request, EvalRun, eval_run)
    results = results_of_run(run)
    if other is not None:
        theirs = find(request, EvalRun, other)
        if theirs.pk == run.pk or theirs.version.eval_set_id != run.version.eval_set_id:
            raise EntryError("`other` must be another run of the same eval set.")
        arms = (*dated(results, run), *dated(results_of_run(theirs), theirs))
        results = replace(results, arms=arms)
    return _compared(results, pair, run.margin)


@router.get("/runs/{uuid:eval_run}/gate", response=EvalGateOut, summary="May the candidate go out?")
def ask(request: HttpRequest, eval_run: UUID) -> Any:
    """For pipelines: the outcome of the run in one word. A run that did not finish has failed."""
    run = find(request, EvalRun, eval_run)
    results = results_of_run(run, full=False)
    reports = [report(arm) for arm in results.arms]
    comparisons = _comparisons(results, run.margin)
    status = gate.exit_code(reports, comparisons)
    if run.state not in (EvalRun.State.FINISHED, EvalRun.State.STOPPED):
        status = gate.Exit.FAILED
    told = [one["sentence"] for one in map(gate.comparison_json, comparisons) if one["a"] == reports[0].name]
    return {
        "answer": status.name.lower(),
        "trust": status is gate.Exit.FINE,
        "exit_status": int(status),
        "why": [run.problem, *told] if run.problem else told,
    }


@router.get("/runs/{uuid:eval_run}/report-file", response=FileOut, summary="The report as HTML, a table of it as CSV")
def run_file(request: HttpRequest, eval_run: UUID, form: Form = "html") -> Any:
    run = find(request, EvalRun, eval_run)
    return _file(results_of_run(run), run.margin, form)


@router.get("/uploads/{uuid:upload}/report", response=EvalReportOut, summary="Every figure of a file of results")
def of_upload(request: HttpRequest, upload: UUID, margin: Margin = MARGIN) -> Any:
    return _report(results_of_upload(find(request, EvalUpload, upload)), margin)


@router.get("/uploads/{uuid:upload}/comparison", response=EvalComparisonOut, summary="Two arms of a file of results")
def of_upload_two(request: HttpRequest, upload: UUID, pair: Annotated[Pair, Query()], margin: Margin = MARGIN) -> Any:
    return _compared(results_of_upload(find(request, EvalUpload, upload)), pair, margin)


@router.get("/uploads/{uuid:upload}/report-file", response=FileOut, summary="The report of a file as HTML or CSV")
def upload_file(request: HttpRequest, upload: UUID, form: Form = "html", margin: Margin = MARGIN) -> Any:
    return _file(results_of_upload(find(request, EvalUpload, upload)), margin, form)


def _comparisons(results: Results, margin: float) -> list[Comparison]:
    return compare_all(results.arms, margin) if 1 < len(results.arms) <= MOST_IN_FAMILY else []


def _report(results: Results, margin: float) -> dict[str, Any]:
    return gate.as_json(results, [report(arm) for arm in results.arms], _comparisons(results, margin))


def _compared(results: Results, pair: Pair, margin: float) -> dict[str, Any]:
    if max(pair.a, pair.b) >= len(results.arms) or pair.a == pair.b:
        raise Http404(f"`a` and `b` name two of {len(results.arms)} arms by place, counted from 0.")
    scope = Scope(pair.scope) if pair.scope else None
    return {"comparison": gate.comparison_json(compare_in_family(results.arms, pair.a, pair.b, margin, scope))}


def _file(results: Results, margin: float, form: str) -> dict[str, str]:
    name = file_name(results.name)
    if form == "html":
        whole = standalone.render(results, [report(arm) for arm in results.arms], _comparisons(results, margin))
        return {"name": f"{name}.html", "media_type": "text/html", "text": whole}
    text = "".join(tables.as_csv(results, margin, form))
    return {"name": f"{name}-{form}.csv", "media_type": "text/csv", "text": text}
