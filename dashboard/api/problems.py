"""Every error of the API as `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import DataError, IntegrityError
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError
from pydantic import Field

from drift.entered import EntryError
from drift.evals.errors import EvalError

CONTENT_TYPE = "application/problem+json"


class FieldProblem(Schema):
    where: str = Field(description="Where in the request: body.name, query.limit ...")
    message: str


class Problem(Schema):
    """What went wrong, and what to do."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = ""
    errors: list[FieldProblem] = []


class ConflictError(Exception):
    """The request contradicts what is stored. The message says with what."""


def problem(status: int, detail: str = "", errors: Sequence[dict[str, str]] = (), **headers: str) -> HttpResponse:
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "errors": list(errors),
    }
    response = HttpResponse(json.dumps(body), status=status, content_type=CONTENT_TYPE)
    for name, value in headers.items():
        response[name.replace("_", "-")] = value
    return response


def handle_all(api: NinjaAPI) -> None:
    """Teaches the API to answer each kind of failure."""
    handlers: dict[type[Exception], Any] = {
        ValidationError: lambda request, error: problem(422, "The request is not valid.", _fields(error.errors)),
        DjangoValidationError: lambda request, error: problem(422, " ".join(error.messages)),
        EntryError: lambda request, error: problem(422, str(error)),
        EvalError: lambda request, error: problem(422, str(error)),
        AuthenticationError: _unauthorised,
        HttpError: lambda request, error: problem(error.status_code, str(error)),
        PermissionDenied: lambda request, error: problem(403, str(error) or "You may not do that."),
        Http404: lambda request, error: problem(404, str(error) or "There is nothing here."),
        ConflictError: lambda request, error: problem(409, str(error)),
        IntegrityError: _integrity,
        DataError: lambda request, error: problem(422, "A value is too large or of the wrong kind to be stored."),
    }
    for kind, handler in handlers.items():
        api.add_exception_handler(kind, handler)


def _unauthorised(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    detail = "Send a token as `Authorization: Bearer tgr_...`. Editors make tokens on the team's page."
    return problem(401, detail, WWW_Authenticate='Bearer realm="tidegauge"')


def _integrity(request: HttpRequest, error: IntegrityError) -> HttpResponse:
    cause = getattr(error.__cause__, "diag", None)
    rule = getattr(cause, "constraint_name", None)
    return problem(409, f"This contradicts what is stored{f' (rule {rule})' if rule else ''}.")


def _fields(errors: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    return [
        {"where": ".".join(str(part) for part in error.get("loc", ())), "message": str(error.get("msg", ""))}
        for error in errors[:100]
    ]
