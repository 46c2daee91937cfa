"""What a person reads when an endpoint cannot be registered: what happened, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from urllib.parse import urlsplit

from django.utils.translation import gettext_noop

from drift.answers import Decoded, Exchange, Outcome, Target
from drift.said import said
from workers.probe.faults import is_certificate_trouble

_MODEL_CODES = frozenset({"model_not_found", "DeploymentNotFound", "invalid_model", "model_not_supported"})
_NO_CREDIT = frozenset({"insufficient_quota", "402", "billing_not_active", "insufficient_balance"})


def explain(exchange: Exchange, decoded: Decoded, target: Target, models: Sequence[str]) -> str:
    """One or two sentences about a request that brought no answer."""
    host = urlsplit(target.base_url).netloc
    if decoded.outcome is Outcome.REFUSED_ADDRESS:
        return exchange.error_detail
    if decoded.outcome is Outcome.UNREACHABLE:
        return _unreachable(exchange.error_detail, target, host)
    if decoded.outcome is Outcome.TIMEOUT:
        hint = (
            said(gettext_noop(" If it is a plain HTTP server, enter http://."))
            if _is_silent_tls(exchange, target)
            else ""
        )
        return said(
            gettext_noop(
                "{host} did not finish its answer within {deadline_s} s. Check that it is not overloaded, "
                "or give this endpoint a longer deadline.{hint}"
            ),
            host=host,
            deadline_s=f"{target.deadline_s:g}",
            hint=hint,
        )
    if decoded.outcome is Outcome.BAD_ENCODING:
        return said(
            gettext_noop("{host} sends answers that are not compressed as their header says: {error_detail}"),
            host=host,
            error_detail=exchange.error_detail,
        )
    if decoded.outcome is Outcome.TOO_LARGE:
        return said(
            gettext_noop("{host} answers with more than {max_body_bytes} bytes. Is this a completion endpoint?"),
            host=host,
            max_body_bytes=f"{target.max_body_bytes:,}",
        )
    status = exchange.status or 0
    if 300 <= status < 400:
        where = dict(exchange.headers).get("location", said(gettext_noop("an address it does not name")))
        return said(
            gettext_noop("{host} redirects to {where}. Redirects are not followed: enter that address instead."),
            host=host,
            where=where,
        )
    if status == 401 or (status == 403 and decoded.error_code != "html"):
        if not target.api_key:
            return said(
                gettext_noop("{host} asks for a key. Enter an API key for this endpoint.{told}"),
                host=host,
                told=_told(decoded),
            )
        return said(
            gettext_noop("{host} refuses the key. Check that it is current and may use this model.{told}"),
            host=host,
            told=_told(decoded),
        )
    if decoded.error_code in _NO_CREDIT or status == 402:
        return said(
            gettext_noop("{host} says that the account has no credit left.{told}"), host=host, told=_told(decoded)
        )
    if speaks_of_model(decoded, target):
        return said("{one}{told}", one=unknown_model(target, models, host), told=_told(decoded))
    if decoded.error_code == "html" or decoded.outcome is Outcome.NOT_JSON or status in (404, 405):
        return _wrong_place(decoded, target, host, status)
    if decoded.outcome is Outcome.THROTTLED:
        return said(
            gettext_noop("{host} is throttling this key right now. Check again in a few minutes.{told}"),
            host=host,
            told=_told(decoded),
        )
    if status >= 500:
        return said(
            gettext_noop("{host} fails with status {status}. This is on its side; check again later.{told}"),
            host=host,
            status=status,
            told=_told(decoded),
        )
    if status >= 400:
        return said(
            gettext_noop("{host} refuses the request with status {status}.{told}"),
            host=host,
            status=status,
            told=_told(decoded),
        )
    if decoded.outcome is Outcome.EMPTY_BODY:
        return said(
            gettext_noop("{host} answers with an empty body. It may be overloaded; check again later."), host=host
        )
    if decoded.outcome is Outcome.TRUNCATED_STREAM:
        return said(
            gettext_noop("{host} breaks its streams off before the answer is over.{told}"),
            host=host,
            told=_told(decoded),
        )
    return said(
        gettext_noop("{host} answers, but not with a chat completion ({value}).{told}"),
        host=host,
        value=said(decoded.outcome.value.replace("_", " ")),
        told=_told(decoded),
    )


def speaks_of_model(decoded: Decoded, target: Target) -> bool:
    """Whether an error is about the model's name."""
    message = decoded.error_message.lower()
    if decoded.error_code in _MODEL_CODES:
        return True
    about_model = "model" in message or target.model.lower() in message
    missing = re.search(
        r"not (?:found|exist)|does(?:n't| not) exist|unknown|no such|not a valid|invalid model", message
    )
    return about_model and missing is not None


def unknown_model(target: Target, models: Sequence[str], host: str) -> str:
    """Names the closest of the models that the endpoint lists."""
    if not models:
        return said(
            gettext_noop("{host} does not know the model '{model}'. Check its name in the provider's model list."),
            host=host,
            model=target.model,
        )
    by_lower = {name.lower(): name for name in models}
    close = [by_lower[name] for name in get_close_matches(target.model.lower(), list(by_lower), n=3, cutoff=0.4)]
    offer = (
        said(gettext_noop("Did you mean {join}?"), join=" or ".join(close))
        if close
        else said(gettext_noop("It lists {join}."), join=", ".join(sorted(models)[:5]))
    )
    return said(
        gettext_noop("{host} does not know the model '{model}'. {offer}"), host=host, model=target.model, offer=offer
    )


def _unreachable(detail: str, target: Target, host: str) -> str:
    secure = target.base_url.startswith("https:")
    if is_certificate_trouble(detail):
        return said(
            gettext_noop(
                "The certificate of {host} is not trusted. If it comes from your own authority, add that "
                "authority's certificate to this endpoint. ({detail})"
            ),
            host=host,
            detail=detail,
        )
    if secure and re.search(r"WRONG_VERSION_NUMBER|RECORD_LAYER|record layer|UNKNOWN_PROTOCOL|UNEXPECTED_EOF", detail):
        return said(
            gettext_noop("{host} does not speak TLS. If it is a plain HTTP server, enter the address with http://."),
            host=host,
        )
    if "cannot be resolved" in detail:
        return said(
            gettext_noop(
                "The name of {host} cannot be resolved. Check its spelling, and that this machine's DNS knows it."
            ),
            host=host,
        )
    if "UnicodeEncodeError" in detail:
        return said(
            gettext_noop("The key or a header holds a character that HTTP headers cannot carry. Paste it again.")
        )
    if not secure and re.search(r"RemoteProtocolError|ReadError|disconnected", detail):
        return said(
            gettext_noop(
                "{host} closes the connection without an HTTP answer. If it expects TLS, enter https://. ({detail})"
            ),
            host=host,
            detail=detail,
        )
    return said(
        gettext_noop(
            "Nothing answers at {host}. Check the address and port, and that the server is running. ({detail})"
        ),
        host=host,
        detail=detail,
    )


def _is_silent_tls(exchange: Exchange, target: Target) -> bool:
    """Whether not even the TLS greeting was answered: a plain HTTP server may be waiting for more."""
    return target.base_url.startswith("https:") and exchange.status is None


def _wrong_place(decoded: Decoded, target: Target, host: str, status: int) -> str:
    what = (
        said(gettext_noop("an HTML page"))
        if decoded.error_code == "html"
        else said(gettext_noop("status {status}"), status=status)
        if status >= 400
        else said(gettext_noop("no JSON"))
    )
    path = urlsplit(target.base_url).path.rstrip("/")
    if not path.endswith(("/v1", "/v1beta/openai", "/openai")):
        return said(
            gettext_noop("{host} answers with {what}. The base URL probably lacks /v1: try {with_v1}."),
            host=host,
            what=what,
            with_v1=_with_v1(target.base_url),
        )
    return said(
        gettext_noop("{host} answers with {what}. Check the path of the base URL: {path} seems not to be the API."),
        host=host,
        what=what,
        path=path or "/",
    )


def _with_v1(base_url: str) -> str:
    parts = urlsplit(base_url)
    return parts._replace(path=parts.path.rstrip("/") + "/v1").geturl()


def _told(decoded: Decoded) -> str:
    return (
        said(gettext_noop(" It said: {error_message}"), error_message=decoded.error_message[:300])
        if decoded.error_message
        else ""
    )
