"""Reads from a refusal which request field it is about, and what to do with that field."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from drift.answers import Decoded, Exchange, Outcome, Target, Transport
from workers.probe.decode.body import read_body
from workers.probe.decode.errors import ProviderError, error_of_body

CAP_PARAMETERS = ("max_tokens", "max_completion_tokens")
RENAMED = {"seed": "random_seed"}
"""Fields that some servers know under another name."""

NO_TEMPERATURE = "temperature"
_STREAM_ONLY = re.compile(r"only.{0,20}stream|stream.{0,40}(?:must|required|only)|(?:must|set).{0,30}stream", re.I)
_NO_STREAM = re.compile(r"stream\w{0,4}.{0,40}(?:not|un)\W?support", re.IGNORECASE)


def was_refused(exchange: Exchange, decoded: Decoded) -> bool:
    """Whether the endpoint objected to the request itself, rather than failing at it."""
    if exchange.status in (400, 404, 405, 422) and decoded.outcome is Outcome.HTTP_ERROR:
        return True
    return decoded.outcome is Outcome.ERROR_BODY and decoded.error_code in (
        "400",
        "404",
        "422",
        "invalid_request_error",
    )


def error_of(exchange: Exchange) -> ProviderError:
    """The provider's error in a refusal, from whichever of its envelopes."""
    return error_of_body(read_body(exchange.body))


def named_field(error: ProviderError, sent: Collection[str]) -> str | None:
    """The field among `sent` that the error is about: by its `param` or `loc`, else the first one its text
    names.
    """
    for field in error.fields:
        root = re.split(r"[.\[]", field, maxsplit=1)[0]
        if root in sent:
            return root
    found = [
        (match.start(), -len(field), field)
        for field in sent
        if (match := re.search(rf"(?<![A-Za-z_]){re.escape(field)}(?![A-Za-z_])", error.message)) is not None
    ]
    return min(found)[2] if found else None


def adjusted(target: Target, exchange: Exchange) -> tuple[Target, str] | None:
    """(`target` worded so as to avoid this refusal, the field concerned); None when nothing can be changed.

    The cap is renamed, a refused transport swapped, any other refused field renamed where that is known to
    help, else dropped.
    """
    error = error_of(exchange)
    message = error.message
    if target.transport is Transport.WHOLE and _STREAM_ONLY.search(message):
        return replace(target, transport=Transport.STREAM), "stream"
    if target.transport is Transport.STREAM and _NO_STREAM.search(message):
        return replace(target, transport=Transport.WHOLE), "stream"
    sent = [*target.parameters, target.cap_parameter]
    # 'max_tokens is not supported, use max_completion_tokens' names both; the one sent comes first.
    field = named_field(error, sent)
    if field is None:
        return None
    if field == target.cap_parameter:
        others = [name for name in CAP_PARAMETERS if name != field]
        if field not in CAP_PARAMETERS:
            return None
        return replace(target, cap_parameter=others[0]), field
    return without(target, field), field


def without(target: Target, *fields: str) -> Target:
    """`target` with `fields` left out; `top_logprobs` goes where `logprobs` goes."""
    dropped = set(fields) | ({"top_logprobs"} if "logprobs" in fields else set())
    return replace(target, parameters={k: v for k, v in target.parameters.items() if k not in dropped})
