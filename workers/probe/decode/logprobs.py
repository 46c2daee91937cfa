"""Per-token scores from the shapes that servers send.

`openai`: `{"content": [{"token", "logprob", "bytes", "top_logprobs": [...]}]}`; also on each Responses text
part. `legacy`: `{"tokens": [...], "token_logprobs": [...], "top_logprobs": [{token: logprob}]}` (Together,
Fireworks). Anything else is named `unknown` and yields no numbers.
"""

from __future__ import annotations

import re
from typing import Any

from drift.answers import ScoredToken
from workers.probe.decode.fields import as_fraction, as_list, as_object, as_text

CENSORED_FROM = -100.0
"""At or below this a value is a floor (-9999.0, -100, -3.4e38), not a measurement."""

_ROUNDING = 1e-3  # log-probabilities a hair above zero are rounding; more is not a log-probability
_ESCAPED = re.compile(rb"\\x([0-9a-fA-F]{2})")

Read = tuple[tuple[ScoredToken, ...] | None, str]


def read_logprobs(value: Any) -> Read:
    """(tokens or None, shape) from a choice's `logprobs`. Null, absent and empty stubs are (None, '')."""
    if value is None:
        return None, ""
    if isinstance(value, list):
        return read_token_list(value)
    if not isinstance(value, dict):
        return None, "unknown"
    content = value.get("content")
    if isinstance(content, list):
        return read_token_list(content)
    if isinstance(value.get("tokens"), list):
        return _legacy(value)
    if content is None and not value.get("tokens") and not value.get("token_logprobs"):
        return None, ""
    return None, "unknown"


def read_token_list(entries: list[Any], shape: str = "openai") -> Read:
    """Scores from a list of token objects."""
    if not entries:
        return None, ""
    tokens: list[ScoredToken] = []
    for entry in entries:
        if not isinstance(entry, dict) or "logprob" not in entry:
            return None, "unknown"
        top = entry.get("top_logprobs")
        if top is not None and not isinstance(top, list):
            return None, "unknown"
        alternatives = tuple(
            (token_bytes(item), as_logprob(item.get("logprob"))) for item in top or () if isinstance(item, dict)
        )
        tokens.append(ScoredToken(token_bytes(entry), as_logprob(entry["logprob"]), alternatives))
    return tuple(tokens), shape


def as_logprob(value: Any) -> float | None:
    """A usable log-probability; None when it is not finite, a floor, or not a log-probability at all."""
    if value.__class__ is float and CENSORED_FROM < value <= _ROUNDING:
        return value
    number = as_fraction(value)
    if number is None or number <= CENSORED_FROM or number > _ROUNDING:
        return None
    return number


def token_bytes(entry: dict[str, Any]) -> bytes:
    """The token's own bytes: from `bytes` where given, for a token may be a part of a character."""
    raw = entry.get("bytes")
    if raw.__class__ is list and raw:
        try:
            return bytes(raw)
        except (ValueError, TypeError):
            pass  # not numbers from 0 to 255: the text has to do
    return text_bytes(as_text(entry.get("token")))


def text_bytes(token: str) -> bytes:
    """The bytes of a token given only as text, in which OpenAI's `bytes:\\xf0\\x9f` stands for raw ones."""
    encoded = token.encode("utf-8", "surrogatepass")
    if token.startswith("bytes:\\x"):
        return _ESCAPED.sub(lambda found: bytes([int(found.group(1), 16)]), encoded.removeprefix(b"bytes:"))
    return encoded


def align(tokens: tuple[ScoredToken, ...] | None, answer: str) -> tuple[ScoredToken, ...] | None:
    """Drops the reasoning's tokens from the front where the scores cover reasoning and answer alike.

    Up to two closing special tokens may follow the answer. Tokens that do not spell it are left as they are.
    """
    if not tokens or not answer:
        return tokens
    wanted = answer.encode("utf-8", "surrogatepass")
    spelled = b"".join(token.text for token in tokens)
    for special in range(3):
        if special and special <= len(tokens):
            spelled = spelled[: len(spelled) - len(tokens[-special].text)]
        if spelled.endswith(wanted):
            return tokens[_first_from(tokens, len(spelled) - len(wanted)) :]
    return tokens


def _first_from(tokens: tuple[ScoredToken, ...], offset: int) -> int:
    """Index of the first token that begins at or after byte `offset`."""
    at = 0
    for index, token in enumerate(tokens):
        if at >= offset:
            return index
        at += len(token.text)
    return len(tokens)


def _legacy(value: dict[str, Any]) -> Read:
    texts = as_list(value.get("tokens"))
    scores = as_list(value.get("token_logprobs"))
    tops = as_list(value.get("top_logprobs"))
    if not texts or len(scores) != len(texts) or not all(isinstance(text, str) for text in texts):
        return None, "unknown" if texts else ""
    tokens = tuple(
        ScoredToken(
            text_bytes(text),
            as_logprob(scores[index]),
            tuple(
                (text_bytes(name), as_logprob(score))
                for name, score in as_object(tops[index] if index < len(tops) else None).items()
            ),
        )
        for index, text in enumerate(texts)
    )
    return tokens, "legacy"
