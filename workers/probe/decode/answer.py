"""Puts the readers together: which of them an exchange is for, and what its status and headers add."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_noop

from drift.answers import COMPARABLE, Decoded, Exchange, Outcome
from workers.probe.decode.body import Body, BodyKind, read_body
from workers.probe.decode.cached import cache_evidence
from workers.probe.decode.chat import is_chat, read_chat
from workers.probe.decode.errors import ProviderError, error_in, error_of_body
from workers.probe.decode.fields import as_object
from workers.probe.decode.identity import read_identity, was_fallback
from workers.probe.decode.responses import is_response, read_response
from workers.probe.decode.stream import fold
from workers.probe.redact import redact


def read_answer(exchange: Exchange, version: int) -> Decoded:
    """`exchange` as one answer, or as what it is instead."""
    if exchange.transport_error is not None:
        return Decoded(version, exchange.transport_error, error_message=redact(exchange.error_detail))
    body = read_body(exchange.body)
    if exchange.status is None or not 200 <= exchange.status < 300:
        return _refused(exchange.status, body, version)
    headers = dict(exchange.headers)
    if body.kind is BodyKind.EVENTS:
        return _read_stream(body.text, headers, exchange.error_detail, version)
    if body.kind is BodyKind.EMPTY:
        return Decoded(version, Outcome.EMPTY_BODY, error_message=gettext_noop("The answer had no body."))
    if body.kind is not BodyKind.JSON:
        problem = error_of_body(body)
        return Decoded(version, Outcome.NOT_JSON, error_code=body.kind.value, error_message=problem.message)
    error = error_in(body.document)
    if error is not None:
        return _with_error(Decoded(version, Outcome.ERROR_BODY), error)
    document = as_object(body.document)
    return _evidenced(_read_document(document, version), document, headers)


def _read_document(document: Mapping[str, Any], version: int) -> Decoded:
    if is_chat(document):
        return read_chat(document, version)
    if is_response(document):
        return read_response(document, version)
    return Decoded(
        version, Outcome.UNREADABLE, error_message=gettext_noop("JSON that holds no choices, no output and no error.")
    )


def _read_stream(text: str, headers: Mapping[str, str], cut: str, version: int) -> Decoded:
    """A stream is an answer only when it says that it is over; what came of a cut one is kept beside its
    outcome.
    """
    folded = fold(text)
    if not folded.body and folded.error is None:
        if folded.malformed:
            return Decoded(
                version, Outcome.UNREADABLE, error_message=gettext_noop("A stream whose events are not JSON.")
            )
        return Decoded(version, Outcome.EMPTY_BODY, error_message=gettext_noop("A stream without a single event."))
    decoded = _evidenced(_read_document(folded.body, version), folded.body, headers)
    if folded.error is not None:
        return _with_error(replace(decoded, outcome=Outcome.ERROR_BODY), folded.error)
    if folded.malformed:
        message = f"{folded.malformed} events of the stream are not JSON."
        return replace(decoded, outcome=Outcome.UNREADABLE, error_message=message)
    if not folded.complete:
        message = redact(cut) or "The stream ended without a finish reason and without [DONE]."
        return replace(decoded, outcome=Outcome.TRUNCATED_STREAM, error_message=message)
    return decoded


def _evidenced(decoded: Decoded, document: Mapping[str, Any], headers: Mapping[str, str]) -> Decoded:
    """Adds identity, and takes cached and fallback answers out of the comparable ones."""
    cache = cache_evidence(headers)
    outcome = decoded.outcome
    if outcome in COMPARABLE:
        outcome = Outcome.CACHED if cache else Outcome.FALLBACK if was_fallback(headers) else outcome
    identity = read_identity(document, headers)
    return replace(decoded, outcome=outcome, identity=identity, cache_evidence=cache)


_PROXY_TIMEOUT = 524
_STREAM_OR_SHORTEN = " The origin took longer than the proxy waits (100 s): stream the answers, or lower the cap."


def _refused(status: int | None, body: Body, version: int) -> Decoded:
    error = error_of_body(body)
    outcome = Outcome.THROTTLED if status == 429 else Outcome.HTTP_ERROR
    if error.is_content_filter:
        outcome = Outcome.FILTERED
    if status == _PROXY_TIMEOUT:
        error = replace(error, message=error.message + _STREAM_OR_SHORTEN)
    decoded = _with_error(Decoded(version, outcome), error)
    return decoded if decoded.error_code else replace(decoded, error_code=str(status))


def _with_error(decoded: Decoded, error: ProviderError) -> Decoded:
    return replace(decoded, error_code=(error.code or error.kind)[:100], error_message=error.message)
