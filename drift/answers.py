"""What travels between the prober and the record: what was asked, what came back, how it was read.

`Ask -> Exchange -> Decoded`, each frozen. The exchange holds the bytes as they arrived; decoding can be
repeated. Nothing here speaks HTTP: the prober fills these, `drift.record` stores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """What kind of answer a sample is. Only `COMPARABLE` outcomes enter agreement figures."""

    TEXT = "text"
    TOOL_CALLS = "tool_calls"
    EMPTY = "empty"
    REASONING_ONLY = "reasoning_only"
    FILTERED = "filtered"
    CACHED = "cached"
    FALLBACK = "fallback"  # a gateway served another deployment than the one asked for
    FAILED = "failed"  # finish reason `error` / `abort`, even if some text came along
    TRUNCATED_STREAM = "truncated_stream"
    ERROR_BODY = "error_body"  # an error object with status 200
    EMPTY_BODY = "empty_body"
    NOT_JSON = "not_json"
    UNREADABLE = "unreadable"  # JSON, but of no known shape
    BAD_ENCODING = "bad_encoding"
    TOO_LARGE = "too_large"
    THROTTLED = "throttled"  # 429, or our own limiter gave up waiting
    HTTP_ERROR = "http_error"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"  # DNS, connection, TLS
    REFUSED_ADDRESS = "refused_address"  # our own guard against private networks


COMPARABLE = frozenset({Outcome.TEXT, Outcome.TOOL_CALLS})


class FingerprintState(StrEnum):
    """The four ways of (not) stating a `system_fingerprint`; they mean different things."""

    ABSENT = "absent"
    NULL = "null"
    EMPTY = "empty"
    VALUE = "value"


class Transport(StrEnum):
    """How the answer travels. Fixed for the life of a series: whitespace can differ by path alone."""

    WHOLE = "whole"
    STREAM = "stream"


class ApiKind(StrEnum):
    CHAT = "chat"
    RESPONSES = "responses"


@dataclass(frozen=True, slots=True)
class Target:
    """Everything needed to reach one endpoint. `api_key` is excluded from `repr` so that it cannot reach a
    log.
    """

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    kind: ApiKind = ApiKind.CHAT
    transport: Transport = Transport.WHOLE
    parameters: Mapping[str, Any] = field(default_factory=dict)  # as sent: temperature, seed, logprobs, ...
    cap_parameter: str = "max_tokens"  # or max_completion_tokens, max_output_tokens
    extra_headers: Mapping[str, str] = field(default_factory=dict)
    deadline_s: float = 120.0  # total wall clock of one request
    max_body_bytes: int = 4 * 1024 * 1024
    ca_bundle: str = ""  # PEM text
    verify_tls: bool = True


@dataclass(frozen=True, slots=True)
class Ask:
    """One request for one answer to one canary."""

    messages: tuple[Mapping[str, Any], ...]
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came back, before anyone interprets it.

    `body` is the response body as received (decompressed); for a stream the whole event stream. `headers` are
    the response headers worth keeping, redacted, names in lower case. `transport_error` names a failure that
    left no complete HTTP response (`timeout`, `unreachable`, `bad_encoding`, `too_large`, `refused_address`,
    `throttled`); then `status` may be None and `error_detail` says what happened, with the chain of causes
    and no secrets.
    """

    request_body: bytes
    transport: Transport
    started_at: datetime
    latency_ms: float
    first_byte_ms: float | None = None
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    transport_error: Outcome | None = None
    error_detail: str = ""
    attempts: int = 1
    kind: ApiKind = ApiKind.CHAT


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as reported; None where the provider said nothing."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class IdentityFacts:
    """What the endpoint says it is, in one answer."""

    model_echo: str | None = None
    fingerprint_state: FingerprintState = FingerprintState.ABSENT
    fingerprint: str = ""
    upstream: str = ""  # the provider behind a router
    region: str = ""  # region or pool header
    deployment: str = ""  # the gateway's id of the deployment that served


@dataclass(frozen=True, slots=True)
class ScoredToken:
    """One generated token. `text` is its bytes; None logprob means censored, non-finite or a sentinel."""

    text: bytes
    logprob: float | None
    top: tuple[tuple[bytes, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Decoded:
    """One answer as read by decoder `version`. `text` may hold NUL and lone surrogates: it is never cleaned
    here.
    """

    version: int
    outcome: Outcome
    text: str = ""
    reasoning: str = ""
    tool_calls: str = ""  # canonical JSON; part of the compared value
    finish_reason: str | None = None  # as sent
    finish: str = "unknown"  # stop | length | filter | tool | error | unknown
    tokens: tuple[ScoredToken, ...] | None = None
    logprob_shape: str = ""  # openai | legacy | responses | '' when none
    usage: Usage = Usage()
    identity: IdentityFacts = IdentityFacts()
    completion_id: str = ""
    created: int | None = None
    batch_sizes: tuple[int, ...] | None = None  # per generated token, where the server says so
    cache_evidence: str = ""
    error_code: str = ""
    error_message: str = ""  # the provider's own inner message, redacted
    seed_echo: int | None = None  # the seed the server says it used

    @property
    def degenerate_logprobs(self) -> bool:
        """Every chosen token at exactly 0.0: a placeholder, or a distribution already scaled by temperature
        0.
        """
        return self.tokens is not None and len(self.tokens) > 1 and all(t.logprob == 0.0 for t in self.tokens)

    @property
    def compared(self) -> str:
        """The value that two answers are compared by: the text, then any tool calls."""
        return f"{self.text}\x1e{self.tool_calls}" if self.tool_calls else self.text


@dataclass(frozen=True, slots=True)
class Answer:
    """One exchange of a run and how it was read."""

    canary_id: int
    repeat: int
    exchange: Exchange
    decoded: Decoded
