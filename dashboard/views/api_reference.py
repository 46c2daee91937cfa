"""The API's reference as a page: the same description that programs read, without scripts."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.reference import reference


def show(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboard/api/page.html", {"reference": reference()})
