"""When an answer cannot be given: the database is away for a while, or something broke."""

from __future__ import annotations

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.views.defaults import server_error

from dashboard.api.idempotency import ROOT
from dashboard.api.problems import problem

TRY_AGAIN_S = 5


def broken(request: HttpRequest) -> HttpResponse:
    """Django's answer to an exception that nobody caught. Reads nothing from the database: it may be what is away."""
    if not isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        return server_error(request)
    if request.path_info.startswith(ROOT):
        detail = (
            "The database cannot be reached just now. What was not acknowledged is not stored: send it again after "
            "`Retry-After` seconds, with the same Idempotency-Key where there is one."
        )
        return problem(503, detail, Retry_After=str(TRY_AGAIN_S))
    page = loader.get_template("503.html").render()
    return HttpResponse(page, status=503, headers={"Retry-After": str(TRY_AGAIN_S)})
