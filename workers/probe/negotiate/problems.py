"""What a person reads when an endpoint cannot be registered: what happened, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from urllib.parse import urlsplit

from drift.answers import Decoded, Exchange, Outcome, Target
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
        hint = " If it is a plain HTTP server, enter http://." if _is_silent_tls(exchange, target) else ""
        return (
            f"{host} did not finish its answer within {target.deadline_s:g} s. Check that it is not overloaded, "
            f"or give this endpoint a longer deadline.{hint}"
        )
    if decoded.outcome is Outcome.BAD_ENCODING:
        return f"{host} sends answers that are not compressed as their header says: {exchange.error_detail}"
    if decoded.outcome is Outcome.TOO_LARGE:
        return f"{host} answers with more than {target.max_body_bytes:,} bytes. Is this a completion endpoint?"
    status = exchange.status or 0
    if 300 <= status < 400:
        where = dict(exchange.headers).get("location", "an address it does not name")
        return f"{host} redirects to {where}. Redirects are not followed: enter that address instead."
    if status == 401 or (status == 403 and decoded.error_code != "html"):
        if not target.api_key:
            return f"{host} asks for a key. Enter an API key for this endpoint.{_said(decoded)}"
        return f"{host} refuses the key. Check that it is current and may use this model.{_said(decoded)}"
    if decoded.error_code in _NO_CREDIT or status == 402:
        return f"{host} says that the account has no credit left.{_said(decoded)}"
    if speaks_of_model(decoded, target):
        return unknown_model(target, models, host) + _said(decoded)
    if decoded.error_code == "html" or decoded.outcome is Outcome.NOT_JSON or status in (404, 405):
        return _wrong_place(decoded, target, host, status)
    if decoded.outcome is Outcome.THROTTLED:
        return f"{host} is throttling this key right now. Check again in a few minutes.{_said(decoded)}"
    if status >= 500:
        return f"{host} fails with status {status}. This is on its side; check again later.{_said(decoded)}"
    if status >= 400:
        return f"{host} refuses the request with status {status}.{_said(decoded)}"
    if decoded.outcome is Outcome.EMPTY_BODY:
        return f"{host} answers with an empty body. It may be overloaded; check again later."
    if decoded.outcome is Outcome.TRUNCATED_STREAM:
        return f"{host} breaks its streams off before the answer is over.{_said(decoded)}"
    return f"{host} answers, but not with a chat completion ({decoded.outcome.value}).{_said(decoded)}"


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
        return f"{host} does not know the model '{target.model}'. Check its name in the provider's model list."
    by_lower = {name.lower(): name for name in models}
    close = [by_lower[name] for name in get_close_matches(target.model.lower(), list(by_lower), n=3, cutoff=0.4)]
    offer = f"Did you mean {' or '.join(close)}?" if close else f"It lists {', '.join(sorted(models)[:5])}."
    return f"{host} does not know the model '{target.model}'. {offer}"


def _unreachable(detail: str, target: Target, host: str) -> str:
    secure = target.base_url.startswith("https:")
    if is_certificate_trouble(detail):
        return (
            f"The certificate of {host} is not trusted. If it comes from your own authority, add that authority's "
            f"certificate to this endpoint. ({detail})"
        )
    if secure and re.search(r"WRONG_VERSION_NUMBER|RECORD_LAYER|record layer|UNKNOWN_PROTOCOL|UNEXPECTED_EOF", detail):
        return f"{host} does not speak TLS. If it is a plain HTTP server, enter the address with http://."
    if "cannot be resolved" in detail:
        return f"The name of {host} cannot be resolved. Check its spelling, and that this machine's DNS knows it."
    if "UnicodeEncodeError" in detail:
        return "The key or a header holds a character that HTTP headers cannot carry. Paste it again."
    if not secure and re.search(r"RemoteProtocolError|ReadError|disconnected", detail):
        return f"{host} closes the connection without an HTTP answer. If it expects TLS, enter https://. ({detail})"
    return f"Nothing answers at {host}. Check the address and port, and that the server is running. ({detail})"


def _is_silent_tls(exchange: Exchange, target: Target) -> bool:
    """Whether not even the TLS greeting was answered: a plain HTTP server may be waiting for more."""
    return target.base_url.startswith("https:") and exchange.status is None


def _wrong_place(decoded: Decoded, target: Target, host: str, status: int) -> str:
    what = "an HTML page" if decoded.error_code == "html" else f"status {status}" if status >= 400 else "no JSON"
    path = urlsplit(target.base_url).path.rstrip("/")
    if not path.endswith(("/v1", "/v1beta/openai", "/openai")):
        return f"{host} answers with {what}. The base URL probably lacks /v1: try {_with_v1(target.base_url)}."
    return f"{host} answers with {what}. Check the path of the base URL: {path or '/'} seems not to be the API."


def _with_v1(base_url: str) -> str:
    parts = urlsplit(base_url)
    return parts._replace(path=parts.path.rstrip("/") + "/v1").geturl()


def _said(decoded: Decoded) -> str:
    return f" It said: {decoded.error_message[:300]}" if decoded.error_message else ""
