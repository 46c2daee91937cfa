"""The in-house worker: what the batch does to an answer in both modes, and what certainty costs."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def show(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboard/inhouse.html")


def chart(request: HttpRequest, chart: str, form: str) -> HttpResponse:
    return HttpResponse()
