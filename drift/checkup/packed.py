"""A decoded answer as bytes and back, without loss: NUL and lone surrogates included."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from drift.answers import Decoded, FingerprintState, IdentityFacts, Outcome, ScoredToken, Usage

_TEXTS = (
    "text", "reasoning", "tool_calls", "finish_reason", "finish", "logprob_shape", "completion_id", "cache_evidence",
    "error_code", "error_message",
)  # fmt: skip
_NUMBERS = ("version", "created", "seed_echo")
_IDENTITY = ("model_echo", "fingerprint", "upstream", "region", "deployment")


def pack(decoded: Decoded) -> bytes:
    """Compressed JSON; a token's bytes in base64. What `unpack` returns is equal to `decoded`."""
    value: dict[str, Any] = {name: getattr(decoded, name) for name in _TEXTS + _NUMBERS}
    usage = decoded.usage
    value["outcome"] = decoded.outcome.value
    value["usage"] = [
        usage.prompt_tokens, usage.completion_tokens, usage.reasoning_tokens, usage.cached_tokens,
        None if usage.cost is None else str(usage.cost),
    ]  # fmt: skip
    value["identity"] = {name: getattr(decoded.identity, name) for name in _IDENTITY}
    value["fingerprint_state"] = decoded.identity.fingerprint_state.value
    value["batch_sizes"] = decoded.batch_sizes
    value["tokens"] = None if decoded.tokens is None else [_token(token) for token in decoded.tokens]
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode())


def unpack(data: bytes) -> Decoded:
    value: dict[str, Any] = json.loads(zlib.decompress(data))
    prompt, completion, reasoning, cached, cost = value["usage"]
    return Decoded(
        outcome=Outcome(value["outcome"]),
        usage=Usage(prompt, completion, reasoning, cached, None if cost is None else Decimal(cost)),
        identity=IdentityFacts(fingerprint_state=FingerprintState(value["fingerprint_state"]), **value["identity"]),
        batch_sizes=None if value["batch_sizes"] is None else tuple(value["batch_sizes"]),
        tokens=None if value["tokens"] is None else tuple(_scored(token) for token in value["tokens"]),
        **{name: value[name] for name in _TEXTS + _NUMBERS},
    )


def without_reasoning(decoded: Decoded) -> Decoded:
    """The answer without its hidden part, which is never compared and can be long; the raw bytes still hold it."""
    return replace(decoded, reasoning="") if decoded.reasoning else decoded


def _token(token: ScoredToken) -> list[Any]:
    return [_text(token.text), token.logprob, [[_text(text), score] for text, score in token.top]]


def _scored(value: Sequence[Any]) -> ScoredToken:
    text, logprob, top = value
    return ScoredToken(b64decode(text), logprob, tuple((b64decode(name), score) for name, score in top))


def _text(raw: bytes) -> str:
    return b64encode(raw).decode()
