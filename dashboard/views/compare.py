"""Up to eight endpoints beside each other."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def show(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboard/compare.html")
