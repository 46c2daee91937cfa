"""Suites and their canaries, to read."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.access import find, team_rows
from drift.models import Monitor, Suite


def index(request: HttpRequest) -> HttpResponse:
    suites = team_rows(request, Suite).prefetch_related("canaries", "monitors__endpoint").order_by("name", "-version")
    return render(request, "dashboard/suites.html", {"suites": suites})


def show(request: HttpRequest, suite: UUID) -> HttpResponse:
    found = find(request, Suite, suite)
    context = {
        "suite": found,
        "canaries": found.canaries.order_by("places__position"),
        "monitors": team_rows(request, Monitor)
        .filter(suite=found, endpoint__archived_at=None)
        .select_related("endpoint"),
    }
    return render(request, "dashboard/suite.html", context)
