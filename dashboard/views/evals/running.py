"""Runs: planned with their cost, watched, paused, resumed, stopped, asked deeper."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.forms import formset_factory
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dashboard.access import find, require_editor, team_of
from dashboard.eval_forms import ArmForm, RunForm
from dashboard.views.endpoint_forms import person
from dashboard.views.evals.sources import overview_of, source_of
from drift import figures
from drift.evals import plan, runs
from drift.evals.errors import EvalError
from drift.evals.export import raw_as_jsonl
from drift.evals.outlook import expected, pilot_of
from drift.evals.plan import ArmPlan, Estimate
from drift.evals.read import file_name
from drift.evals.report import DEEPER_REPEATS
from drift.models import EvalRun, EvalVersion

ARMS_SHOWN = 4
ArmForms = formset_factory(ArmForm, extra=ARMS_SHOWN, max_num=plan.MOST_ARMS)


def begin(request: HttpRequest, version: UUID) -> HttpResponse:
    """The form of a run: 'estimate' says what it would cost at most, 'start' starts it."""
    require_editor(request)
    found = find(request, EvalVersion, version)
    form = RunForm(request.POST or None, initial={"repeats": found.repeats})
    arms = ArmForms(request.POST or None, form_kwargs={"team": team_of(request)}, prefix="arm")
    estimate: Estimate | None = None
    problem = ""
    if request.method == "POST" and form.is_valid() and arms.is_valid():
        planned = [one for one in (arm.plan() for arm in arms) if one is not None]
        try:
            estimate, made = _estimate_or_start(request, found, planned, form.cleaned_data)
        except EvalError as error:
            problem = str(error)
        else:
            if made is not None:
                return redirect("eval-run", made.public_id)
    pilot = pilot_of(found) if estimate else None
    cases = found.cases.count()
    context = {
        "version": found,
        "form": form,
        "arms": arms,
        "estimate": estimate,
        "problem": problem,
        "cases": cases,
        "seen": expected(pilot, cases, form.cleaned_data["repeats"]) if estimate else None,
        "pilot": pilot,
    }
    bad = bool(problem or form.errors or any(arms.errors))
    return render(request, "dashboard/evals/begin.html", context, status=400 if bad else 200)


def _estimate_or_start(
    request: HttpRequest, version: EvalVersion, planned: list[ArmPlan], values: dict[str, Any]
) -> tuple[Estimate | None, EvalRun | None]:
    if not planned:
        raise EvalError(_("Pick an endpoint for at least one arm."))
    estimate = plan.estimate(version, planned, values["repeats"], values["max_tokens"])
    plan.refuse_blind_cap(estimate, values["cost_cap"])
    if request.POST.get("action") != "start":
        return estimate, None
    fields = ("name", "max_tokens", "concurrency", "cost_cap", "token_cap", "stop_early")
    made = plan.start(
        version,
        planned,
        user=person(request),
        repeats=values["repeats"],
        margin=values["margin"] / 100,
        **{field: values[field] for field in fields},
    )
    return estimate, made


def show(request: HttpRequest, run: UUID) -> HttpResponse:
    """Progress while it goes on, and the report of what there is."""
    source = source_of(request, "runs", run)
    row: Any = source.row
    context = overview_of(request, source) | {
        "run": row,
        "live": row.state in (EvalRun.State.DUE, EvalRun.State.RUNNING),
        "deeper": row.deeper.order_by("-created_at"),
        "earlier": EvalRun.objects.filter(
            version__eval_set=row.version.eval_set, created_at__lt=row.created_at, deepens=None, answered__gt=0
        )
        .select_related("version__eval_set")
        .order_by("-created_at")
        .first(),
    }
    part = "live" if request.htmx else "run"  # type: ignore[attr-defined]
    return render(request, f"dashboard/evals/{part}.html", context)


@require_POST
def pause(request: HttpRequest, run: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, EvalRun, run)
    if not runs.pause(found):
        messages.info(request, _("This run is not going on."))
    return redirect("eval-run", found.public_id)


@require_POST
def resume(request: HttpRequest, run: UUID) -> HttpResponse:
    """Goes on; a higher cap may come along."""
    require_editor(request)
    found = find(request, EvalRun, run)
    form = RunForm(request.POST)
    form.is_valid()
    for field in ("cost_cap", "token_cap"):
        if request.POST.get(field) and form.cleaned_data.get(field) is not None:
            EvalRun.objects.filter(pk=found.pk).update(**{field: form.cleaned_data[field]})
    if not runs.resume(found):
        messages.info(request, _("This run is not paused."))
    return redirect("eval-run", found.public_id)


@require_POST
def stop(request: HttpRequest, run: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, EvalRun, run)
    if runs.stop(found, timezone.now()):
        messages.success(request, _("Stopped. The report is of what was answered until now."))
    return redirect("eval-run", found.public_id)


@require_POST
def deepen(request: HttpRequest, run: UUID) -> HttpResponse:
    """A run of the picked cases alone, at 20 repeats."""
    require_editor(request)
    found = find(request, EvalRun, run)
    keys = request.POST.getlist("case")[:500]
    if not keys:
        messages.info(request, _("Pick at least one case."))
        return redirect("eval-run", found.public_id)
    try:
        made = plan.deepen(found, person(request), keys, DEEPER_REPEATS)
    except EvalError as error:
        messages.error(request, str(error))
        return redirect("eval-run", found.public_id)
    said = _("{cases} will be asked {times} times.")
    messages.success(request, said.format(cases=figures.plural(len(keys), "case"), times=DEEPER_REPEATS))
    return redirect("eval-run", made.public_id)


def raw(request: HttpRequest, run: UUID) -> StreamingHttpResponse:
    found = find(request, EvalRun, run)
    response = StreamingHttpResponse(raw_as_jsonl(found), content_type="application/jsonl; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{file_name(str(found))}-raw.jsonl"'
    return response
