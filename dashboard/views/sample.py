"""One answer, down to its bytes."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.access import find, may_edit
from dashboard.views.endpoint import readable_json
from drift.models import Sample


def show(request: HttpRequest, sample: UUID) -> HttpResponse:
    found = find(request, Sample, sample)
    context = {
        "sample": found,
        "endpoint": found.series.endpoint,
        "canary": found.canary,
        "request_body": readable_json(bytes(found.request)),
        "response_body": readable_json(bytes(found.raw)),
        "raw_size": len(found.raw),
        "headers": sorted(found.headers.items()),
        "can_edit": may_edit(request),
    }
    return render(request, "dashboard/sample.html", context)


def raw(request: HttpRequest, sample: UUID) -> HttpResponse:
    """The response body as it was received, as a download: never rendered by a browser."""
    found = find(request, Sample, sample)
    response = HttpResponse(bytes(found.raw), content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="answer-{found.public_id}.bin"'
    return response
