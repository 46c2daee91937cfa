"""Marks on the charts: made, changed and taken off by people."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from dashboard.access import find, person_of, require_editor, team_of
from dashboard.links import back_to, is_uuid
from drift import marks
from drift.models import Annotation, Endpoint, Team


class MarkForm(forms.Form):
    at = forms.DateTimeField(
        label=_("When"), widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
    )
    text = forms.CharField(
        label=_("What happened"), max_length=marks.LONGEST, help_text=_("A few words: they stand on the chart")
    )
    endpoint = forms.ModelChoiceField(
        Endpoint.objects.none(),
        to_field_name="public_id",
        required=False,
        empty_label=_("all of the team's endpoints"),
        label=_("On the charts of"),
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        mine = Endpoint.objects.filter(team=team, archived_at__isnull=True).order_by("name")
        self.fields["endpoint"].queryset = mine  # type: ignore[attr-defined]


def add(request: HttpRequest) -> HttpResponse:
    require_editor(request)
    endpoint = request.GET.get("endpoint", "")
    initial = {"at": timezone.localtime(), "endpoint": endpoint if is_uuid(endpoint) else None}
    form = MarkForm(request.POST or None, team=team_of(request), initial=initial)
    if request.method == "POST" and form.is_valid():
        marks.add(team_of(request), person_of(request), now=timezone.now(), **form.cleaned_data)
        messages.success(request, gettext("Marked on the charts."))
        return redirect(_back(request, form.cleaned_data["endpoint"]))
    return _form(request, form, None)


def edit(request: HttpRequest, annotation: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Annotation, annotation)
    key = found.endpoint.public_id if found.endpoint else None
    initial = {"at": timezone.localtime(found.at), "text": found.text, "endpoint": key}
    form = MarkForm(request.POST or None, team=team_of(request), initial=initial)
    if request.method == "POST" and form.is_valid():
        marks.change(found, person_of(request), now=timezone.now(), **form.cleaned_data)
        messages.success(request, gettext("Changed on the charts."))
        return redirect(_back(request, found.endpoint))
    return _form(request, form, found)


@require_POST
def remove(request: HttpRequest, annotation: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Annotation, annotation)
    endpoint = found.endpoint
    marks.remove(found, person_of(request), timezone.now())
    messages.success(request, gettext("Taken off the charts. The feed keeps what it said."))
    return redirect(_back(request, endpoint))


def _form(request: HttpRequest, form: MarkForm, row: Annotation | None) -> HttpResponse:
    back = request.POST.get("back") or request.GET.get("back", "")
    context = {"form": form, "annotation": row, "back": back}
    return render(request, "dashboard/annotation_form.html", context, status=400 if form.errors else 200)


def _back(request: HttpRequest, endpoint: Endpoint | None) -> str:
    home = reverse("endpoint", args=[endpoint.public_id]) if endpoint else reverse("feed")
    return back_to(request, home)
