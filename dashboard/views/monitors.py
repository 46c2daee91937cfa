"""Setting up a monitor, changing it, pausing, resuming, running now."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop, ngettext
from django.views.decorators.http import require_POST

from dashboard.access import find, require_editor, team_rows
from dashboard.forms import MonitorForm
from dashboard.links import back_to, is_uuid
from dashboard.views.endpoint_forms import person
from drift import figures, monitors
from drift.models import Endpoint, Monitor
from drift.said import said


def add(request: HttpRequest, endpoint: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Endpoint, endpoint)
    form = MonitorForm(request.POST or None, endpoint=found)
    if request.method == "POST" and form.is_valid():
        monitors.create(endpoint=found, **form.cleaned_data)
        messages.success(
            request, gettext("{name} is being watched. The first run starts within seconds.").format(name=found.name)
        )
        return redirect("endpoint", found.public_id)
    return render(
        request, "dashboard/monitor_form.html", {"form": form, "endpoint": found}, status=400 if form.errors else 200
    )


def edit(request: HttpRequest, monitor: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Monitor, monitor)
    form = MonitorForm(request.POST or None, instance=found, endpoint=found.endpoint)
    if request.method == "POST" and form.is_valid():
        monitors.change(found, **form.cleaned_data)
        messages.success(
            request,
            gettext("Changed: {name} is asked {cadence}.").format(
                name=found.endpoint.name, cadence=figures.cadence(found.cadence_s)
            ),
        )
        return redirect("endpoint", found.endpoint.public_id)
    context = {"form": form, "monitor": found, "endpoint": found.endpoint}
    return render(request, "dashboard/monitor_form.html", context, status=400 if form.errors else 200)


@require_POST
def pause(request: HttpRequest, monitor: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Monitor, monitor)
    monitors.pause(found, said(gettext_noop("paused by {name}"), name=str(request.user)))
    undo = reverse("monitor-resume", args=[found.public_id])
    messages.success(request, gettext("{name} is paused.").format(name=found.endpoint.name), extra_tags=undo)
    return redirect("endpoint", found.endpoint.public_id)


@require_POST
def resume(request: HttpRequest, monitor: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Monitor, monitor)
    monitors.resume(found)
    messages.success(
        request, gettext("{name} is watched again, from the next slot on.").format(name=found.endpoint.name)
    )
    return redirect("endpoint", found.endpoint.public_id)


@require_POST
def run(request: HttpRequest, monitor: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Monitor, monitor)
    monitors.run_now(found, person(request))
    return redirect("endpoint", found.endpoint.public_id)


@require_POST
def pause_picked(request: HttpRequest) -> HttpResponse:
    """Pauses or resumes the monitors of the endpoints picked on the overview."""
    require_editor(request)
    picked = [value for value in request.POST.getlist("endpoint") if is_uuid(value)]
    resuming = request.POST.get("action") == "resume"
    rows = team_rows(request, Monitor).filter(
        endpoint__public_id__in=picked, endpoint__archived_at__isnull=True, active=not resuming
    )
    changed = list(rows)
    for monitor in changed:
        if resuming:
            monitors.resume(monitor)
        else:
            monitors.pause(monitor, said(gettext_noop("paused by {name}"), name=str(request.user)))
    number = len(changed)
    if resuming:
        done = ngettext("{number} monitor resumed.", "{number} monitors resumed.", number)
    else:
        done = ngettext("{number} monitor paused.", "{number} monitors paused.", number)
    messages.success(request, done.format(number=figures.count(number)))
    return redirect(back_to(request, reverse("overview")))
