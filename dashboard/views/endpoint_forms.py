"""Adding an endpoint, watching it being checked, changing it, putting it away."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from dashboard.access import find, may_edit, require_editor, team_of
from dashboard.forms import EndpointForm
from drift import endpoints
from drift.models import Endpoint, EndpointCheck, User


def add(request: HttpRequest) -> HttpResponse:
    require_editor(request)
    form = EndpointForm(request.POST or None, team=team_of(request))
    if request.method == "POST" and form.is_valid():
        try:
            made = endpoints.register(
                team=team_of(request), user=person(request), api_key=form.key_to_store or "", **form.fields_to_store()
            )
        except IntegrityError:  # two people sent the same name at once
            form.add_error("name", gettext("Your team already has an endpoint of that name."))
        else:
            return redirect("endpoint-check", made.public_id)
    return render(request, "dashboard/endpoint_form.html", {"form": form}, status=400 if form.errors else 200)


def edit(request: HttpRequest, endpoint: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Endpoint, endpoint)
    form = EndpointForm(request.POST or None, instance=found, team=team_of(request))
    if request.method == "POST" and form.is_valid():
        endpoints.change(
            find(request, Endpoint, endpoint), person(request), api_key=form.key_to_store, **form.fields_to_store()
        )
        return redirect("endpoint-check", found.public_id)
    context = {"form": form, "endpoint": find(request, Endpoint, endpoint)}
    return render(request, "dashboard/endpoint_form.html", context, status=400 if form.errors else 200)


def check(request: HttpRequest, endpoint: UUID) -> HttpResponse:
    """GET shows the latest check as it goes on; POST asks for a new one."""
    found = find(request, Endpoint, endpoint)
    if request.method == "POST":
        require_editor(request)
        endpoints.recheck(found, person(request))
        return redirect("endpoint-check", found.public_id)
    latest = found.checks.order_by("-requested_at").first()
    going_on = latest is not None and latest.state in (EndpointCheck.State.DUE, EndpointCheck.State.RUNNING)
    context = {
        "endpoint": found,
        "check": latest,
        "live": going_on,
        "capabilities": found.capabilities.all(),
        "monitors": found.monitors.count(),
        "can_edit": may_edit(request),
    }
    part = "live" if request.htmx else "page"  # type: ignore[attr-defined]
    return render(request, f"dashboard/check/{part}.html", context)


@require_POST
def archive(request: HttpRequest, endpoint: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Endpoint, endpoint)
    endpoints.archive(found)
    undo = reverse("endpoint-restore", args=[found.public_id])
    messages.success(
        request, gettext("{name} was archived. Its history stays.").format(name=found.name), extra_tags=undo
    )
    return redirect("overview")


@require_POST
def restore(request: HttpRequest, endpoint: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Endpoint, endpoint)
    try:
        endpoints.restore(found)
    except IntegrityError:
        messages.error(
            request,
            gettext("Another endpoint is called {name} now. Rename that one, then bring this one back.").format(
                name=found.name
            ),
        )
    else:
        messages.success(request, gettext("{name} is back.").format(name=found.name))
    return redirect("endpoint", found.public_id)


def person(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None
