"""One answer: what was asked, what came byte for byte, and what each grader said."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.access import find
from dashboard.views.endpoint import readable_json
from drift.models import EvalAnswer


def show(request: HttpRequest, answer: UUID) -> HttpResponse:
    found = find(request, EvalAnswer, answer)
    context = {
        "answer": found,
        "run": found.arm.run,
        "scores": found.scores.order_by("place", "trial"),
        "request_text": readable_json(bytes(found.request)),
        "response_text": readable_json(bytes(found.raw)),
    }
    return render(request, "dashboard/evals/answer.html", context)
