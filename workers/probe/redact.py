"""Keeps credentials and account ids out of everything the prober returns.

Two tools: `remove_secrets` takes out the very credentials that were sent, from bytes and text alike; `redact`
also blanks whatever looks like a key or an account id, for messages that people read. Both cost linear time.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, urlsplit

from drift.answers import Target

SHORTEST_SECRET = 8
"""Shorter keys are placeholders ('none', 'EMPTY'); blanking them would mangle ordinary answers."""

LONGEST_MESSAGE = 2_000

_BLANK = "[removed]"
_PLACEHOLDERS = frozenset({"not-needed", "no-key-required", "lm-studio", "placeholder", "anything", "api-key"})
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)

# Bounded repetitions only: a hostile message must not make these slow.
_LOOKS_SECRET = re.compile(
    r"(?:\b(?:sk|pk|rk|gsk|xai|hf|csk|fw|tgp|nvapi|AIza|key|ghp|pplx)[-_][A-Za-z0-9_*.\-]{8,256})"
    r"|(?:\bAIza[A-Za-z0-9_\-]{20,64})"
    r"|(?:\beyJ[A-Za-z0-9_\-]{10,2000}\.[A-Za-z0-9_\-.]{10,2000})"
    r"|(?:\b(?:org|proj|user|acct|account|team|workspace)[-_][A-Za-z0-9_\-]{6,128})"
    r"|(?:\bBearer\s{1,4}[A-Za-z0-9._~+/=\-]{4,2000})"
    r"|(?:\b(?:api[-_ ]?key|token|secret|password)\s{0,3}[:=]\s{0,3}['\"]?"
    r"(?:Bearer\s{1,4})?[A-Za-z0-9._~+/=*\-]{6,512})",
    re.IGNORECASE,
)


def secrets_of(target: Target) -> tuple[str, ...]:
    """The credentials that a request to `target` carries, in each form a server may echo, longest first."""
    query = parse_qsl(urlsplit(target.base_url).query)
    found = [target.api_key]
    found += [value for name, value in target.extra_headers.items() if _SECRET_HEADER.search(name)]
    found += [value for name, value in query if _SECRET_HEADER.search(name)]
    forms: set[str] = set()
    for secret in found:
        bare = secret.removeprefix("Bearer ").removeprefix("Basic ").strip()
        if len(bare) < SHORTEST_SECRET or bare.lower() in _PLACEHOLDERS:
            continue
        forms |= {bare, quote(bare, safe=""), base64.b64encode(bare.encode()).decode()}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def remove_secrets(body: bytes, secrets: Iterable[str]) -> bytes:
    """`body` without any occurrence of `secrets`; every other byte is kept."""
    for secret in secrets:
        body = body.replace(secret.encode("utf-8", "surrogatepass"), _BLANK.encode())
    return body


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` cut to a readable length, without credentials and account ids."""
    text = text[: LONGEST_MESSAGE * 2]
    for secret in secrets:
        text = text.replace(secret, _BLANK)
    return _LOOKS_SECRET.sub(_BLANK, text)[:LONGEST_MESSAGE]
