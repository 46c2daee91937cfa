"""Suites and their canaries: to read, to make, to change by a next version."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from dashboard.access import find, may_edit, person_of, require_editor, team_of, team_rows
from dashboard.links import is_uuid
from dashboard.suite_forms import SPARE_ROWS, CanaryRows, SuiteForm, TryForm, draft_of, initial_rows
from drift import suite_changes, trials
from drift.entered import EntryError
from drift.models import Canary, Monitor, Suite, Trial
from drift.suites import next_version, text_of
from drift.trials import Draft


def index(request: HttpRequest) -> HttpResponse:
    suites = team_rows(request, Suite).prefetch_related("canaries", "monitors__endpoint").order_by("name", "-version")
    return render(request, "dashboard/suites.html", {"suites": suites, "can_edit": may_edit(request)})


def show(request: HttpRequest, suite: UUID) -> HttpResponse:
    found = find(request, Suite, suite)
    context = {
        "suite": found,
        "latest": suite_changes.latest(found),
        "canaries": found.canaries.order_by("places__position"),
        "monitors": team_rows(request, Monitor)
        .filter(suite=found, active=True, endpoint__archived_at=None)
        .select_related("endpoint"),
        "can_edit": may_edit(request),
    }
    return render(request, "dashboard/suite.html", context)


def add(request: HttpRequest) -> HttpResponse:
    require_editor(request)
    return _editor(request, None)


def edit(request: HttpRequest, suite: UUID) -> HttpResponse:
    """Always of the latest version: an earlier one is history."""
    require_editor(request)
    found = find(request, Suite, suite)
    latest = suite_changes.latest(found)
    if latest.pk != found.pk:
        return redirect("suite-edit", latest.public_id)
    return _editor(request, found)


def _editor(request: HttpRequest, suite: Suite | None) -> HttpResponse:
    known = {str(one.public_id): one for one in suite.canaries.order_by("places__position")} if suite else {}
    action = request.POST.get("action", "")
    posted = request.POST.copy() if request.method == "POST" else None
    if posted is not None and action == "more":
        rows_sent = posted.get("form-TOTAL_FORMS", "0")
        posted["form-TOTAL_FORMS"] = str(int(rows_sent) + SPARE_ROWS if rows_sent.isdecimal() else SPARE_ROWS)
    draft = _draft_to_go_on_with(request)
    fixed = suite.name if suite else ""
    start = {"name": draft.name, "retention_days": draft.retention_days} if draft else {}
    if suite and not draft:
        start = {"retention_days": suite.retention_days}
    form = SuiteForm(posted, fixed_name=fixed, initial=start)
    trying = TryForm(posted, team=team_of(request))
    rows = CanaryRows(posted, initial=_initial(known, draft))
    if posted is None:
        rows.extra = SPARE_ROWS if known or draft else 3
    status = 200
    if action in ("try", "save") and all([form.is_valid(), rows.is_valid(), action == "save" or trying.is_valid()]):
        made = draft_of(form, rows, known)
        try:
            if action == "try":
                return _try(request, trying, made, suite)
            return _save(request, made, suite)
        except EntryError as refusal:
            form.add_error(None, str(refusal))
            status = 400
    elif action in ("try", "save"):
        status = 400
    followers = Monitor.objects.filter(suite=suite, active=True).count() if suite else 0
    context = {"suite": suite, "form": form, "rows": rows, "trying": trying, "followers": followers}
    return render(request, "dashboard/suite_form.html", context, status=status)


def _initial(known: dict[str, Canary], draft: Draft | None) -> list[dict[str, Any]]:
    keys = {text_of(one).key(): key for key, one in known.items()}
    if draft is not None:
        return initial_rows([(keys.get(one.key(), ""), one) for one in draft.canaries])
    return initial_rows([(key, text_of(one)) for key, one in known.items()])


def _draft_to_go_on_with(request: HttpRequest) -> Draft | None:
    """The draft of a dry run that the address names."""
    wanted = request.GET.get("trial", "")
    if not is_uuid(wanted):
        return None
    trial = team_rows(request, Trial).filter(public_id=wanted, kind=Trial.Kind.DRY_RUN).first()
    return Draft.from_json(trial.draft) if trial else None


def _try(request: HttpRequest, trying: TryForm, draft: Draft, suite: Suite | None) -> HttpResponse:
    chosen, repeats = trying.cleaned_data["endpoint"], trying.cleaned_data["repeats"]
    trial = trials.dry_run(chosen, draft, suite, repeats, person_of(request), timezone.now())
    return redirect("trial", trial.public_id)


@require_POST
def save_tried(request: HttpRequest, trial: UUID) -> HttpResponse:
    """Saves what a dry run has tried."""
    require_editor(request)
    found = find(request, Trial, trial)
    if found.kind != Trial.Kind.DRY_RUN:
        return redirect("trial", found.public_id)
    suite = suite_changes.latest(found.suite) if found.suite else None
    try:
        return _save(request, Draft.from_json(found.draft), suite)
    except EntryError as refusal:
        messages.error(request, str(refusal))
        return redirect("trial", found.public_id)


def _save(request: HttpRequest, draft: Draft, before: Suite | None) -> HttpResponse:
    team = team_of(request)
    if before is None and Suite.objects.filter(team=team, name=draft.name).exists():
        raise EntryError(gettext("There is a suite called {name} already: edit that one.").format(name=draft.name))
    saved = next_version(team, draft.name, draft.canaries, draft.retention_days)
    if before is None:
        messages.success(request, gettext("{suite} is saved. A monitor can ask it now.").format(suite=saved.name))
    elif saved.pk == before.pk:
        messages.info(request, gettext("No canary was changed, so the version stays."))
    else:
        if request.POST.get("follow"):
            suite_changes.follow(before, saved)
        made = suite_changes.difference(suite_changes.texts_of(before), draft.canaries)
        words = gettext("Version {version} is saved: {added} added, {changed} changed, {removed} removed.")
        said = words.format(
            version=saved.version, added=len(made.added), changed=len(made.changed), removed=len(made.removed)
        )
        messages.success(request, said, extra_tags=reverse("suite-restore", args=[before.public_id]))
    return redirect("suite", saved.public_id)


@require_POST
def restore(request: HttpRequest, suite: UUID) -> HttpResponse:
    """Takes the canaries of this version up again: the way back from a change or a removal."""
    require_editor(request)
    back = suite_changes.restore(find(request, Suite, suite))
    words = gettext("The canaries are those of before again, as version {version}.")
    messages.success(request, words.format(version=back.version))
    return redirect("suite", back.public_id)
