"""Turns whatever an HTTP client raises into one outcome and one sentence, with the chain of causes."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Iterator

import httpcore2
import httpx2
import openai

from drift.answers import Outcome
from drift.said import Said
from workers.probe.capture import BodyTooLarge, UndecodableBody
from workers.probe.guard import AddressRefused
from workers.probe.redact import redact

_WRAPPERS = (openai.APIConnectionError,)
_LONGEST_CHAIN = 8


def outcome_of(error: BaseException) -> Outcome:
    """The transport outcome that `error`, or the first telling one among its causes, stands for."""
    for cause in causes(error):
        if isinstance(cause, AddressRefused):
            return Outcome.REFUSED_ADDRESS
        if isinstance(cause, BodyTooLarge):
            return Outcome.TOO_LARGE
        if isinstance(cause, UndecodableBody | httpx2.DecodingError):
            return Outcome.BAD_ENCODING
        if isinstance(cause, httpx2.ConnectTimeout | httpcore2.ConnectTimeout):
            return Outcome.UNREACHABLE
    if any(isinstance(cause, TimeoutError | httpx2.TimeoutException) for cause in causes(error)):
        return Outcome.TIMEOUT
    return Outcome.UNREACHABLE


def describe(error: BaseException, secrets: Iterable[str] = ()) -> str:
    """What happened, outermost cause first, without repeats, wrappers that say nothing, or secrets."""
    said: list[str] = []
    for cause in causes(error):
        if isinstance(cause, AddressRefused):
            why: str = cause.args[0]
            return why if isinstance(why, Said) else redact(why, secrets)
        if isinstance(cause, _WRAPPERS):
            continue
        text = str(cause).strip()
        if text and any(text in earlier for earlier in said):
            continue
        said.append(f"{type(cause).__name__}: {text}" if text else type(cause).__name__)
    return redact(" <- ".join(said) or type(error).__name__, secrets)


def causes(error: BaseException) -> Iterator[BaseException]:
    """`error`, then what it was raised from, and so on."""
    seen: BaseException | None = error
    for _ in range(_LONGEST_CHAIN):
        if seen is None:
            return
        yield seen
        if isinstance(seen, BaseExceptionGroup) and seen.exceptions:
            seen = seen.exceptions[0]
        else:
            seen = seen.__cause__ or seen.__context__


def is_certificate_trouble(error_detail: str) -> bool:
    """Whether a stored `error_detail` speaks of a certificate that was not trusted."""
    return ssl.SSLCertVerificationError.__name__ in error_detail or "CERTIFICATE_VERIFY_FAILED" in error_detail
