"""The definition of each figure, for people; figures elsewhere link here."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def show(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboard/about.html")
