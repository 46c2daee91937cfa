"""What surrounds every request to the API: repeats answered once, and errors always as problems."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone

from dashboard.api.auth import READING, token_of
from dashboard.api.problems import CONTENT_TYPE, problem
from drift.models import ApiToken, IdempotentAnswer

ROOT = "/api/v1/"
GIVEN_UP_AFTER = timedelta(seconds=60)
LARGEST_KEPT = 256 * 1024


class ApiMiddleware:
    """A request with an `Idempotency-Key` is carried out once in a day; its repeats get the first answer.

    The work and the note of its answer are one transaction: a process that dies between them leaves neither.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(ROOT):
            return self.get_response(request)
        return self._as_problem(request, self._answered(request))

    def _answered(self, request: HttpRequest) -> HttpResponseBase:
        key = request.headers.get("Idempotency-Key", "")
        if not key or request.method in READING:
            return self.get_response(request)
        if len(key) > 200 or not key.isprintable():
            return problem(400, "An Idempotency-Key has at most 200 printable characters.")
        token = token_of(request)
        if token is None:
            return self.get_response(request)
        digest = hashlib.sha256(
            b"\n".join((str(request.method).encode(), request.get_full_path().encode(), request.body))
        ).digest()
        return self._once(request, token, key, digest, timezone.now())

    def _once(self, request: HttpRequest, token: ApiToken, key: str, digest: bytes, now: datetime) -> HttpResponseBase:
        noted, fresh = IdempotentAnswer.objects.get_or_create(
            token=token, key=key, defaults={"request_digest": digest, "created_at": now}
        )
        if not fresh:
            if bytes(noted.request_digest) != digest:
                return problem(422, "This Idempotency-Key was used for another request. Take a new one.")
            if noted.status is not None:
                return _again(noted)
            abandoned = IdempotentAnswer.objects.filter(pk=noted.pk, status=None, created_at__lt=now - GIVEN_UP_AFTER)
            if not abandoned.update(created_at=now):
                return problem(409, "The first request with this key is still being answered.", Retry_After="5")
        with transaction.atomic():
            response = self.get_response(request)
            if response.status_code >= 500 or not isinstance(response, HttpResponse):
                transaction.set_rollback(True)
            else:
                _note(noted, response)
        if response.status_code >= 500:
            IdempotentAnswer.objects.filter(pk=noted.pk).delete()
        return response

    @staticmethod
    def _as_problem(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Errors that did not come from the API's own handlers: no such route, method not allowed, a bug."""
        told = response.get("Content-Type", "").startswith((CONTENT_TYPE, "application/json", "application/x-protobuf"))
        if response.status_code < 400 or told:
            return response
        answer = problem(response.status_code, _DETAIL.get(response.status_code, ""))
        if allow := response.get("Allow"):
            answer["Allow"] = allow
        return answer


_DETAIL = {
    404: "There is no such address in the API. See /api/v1/openapi.json.",
    405: "This address does not take that method; `Allow` says which.",
    500: "Something broke on our side. It was logged; the request can be sent again.",
}


def _note(noted: IdempotentAnswer, response: HttpResponse) -> None:
    if len(response.content) <= LARGEST_KEPT:
        IdempotentAnswer.objects.filter(pk=noted.pk).update(
            status=response.status_code, content_type=response.get("Content-Type", ""), body=response.content
        )


def _again(noted: IdempotentAnswer) -> HttpResponse:
    response = HttpResponse(bytes(noted.body), status=noted.status, content_type=noted.content_type)
    response["Idempotency-Replayed"] = "true"
    return response
