"""What a person should know about an endpoint before trusting its figures."""

from __future__ import annotations

import re
from collections.abc import Sequence

from drift.answers import Decoded, Exchange, Outcome, Target

_DATED = re.compile(r"\d{4}-\d{2}-\d{2}|\d{8}|[-@]\d{4}\b|-\d{6}\b")
_FLOATING = re.compile(r"(?:^|[-/:@])latest$", re.IGNORECASE)


def advise(target: Target, exchange: Exchange, decoded: Decoded, models: Sequence[str]) -> tuple[str, ...]:
    """Sentences, the most important first."""
    echo = decoded.identity.model_echo
    said: list[str] = []
    if decoded.identity.upstream:
        said.append(
            f"This is a router; {decoded.identity.upstream} answered. Pin the provider in the parameters, or changes "
            "of route will look like changes of the model."
        )
    if echo and echo != target.model and models and target.model not in models:
        said.append(
            f"Asked for '{target.model}', which it does not list; '{echo}' answered. The server may ignore names."
        )
    if _FLOATING.search(target.model) or (echo and echo != target.model and _DATED.search(echo)):
        meaning = f" today it is {echo}." if echo and echo != target.model else " what is behind it cannot be seen."
        said.append(f"'{target.model}' is a floating alias;{meaning}")
    elif echo == target.model and not _DATED.search(target.model) and not decoded.identity.fingerprint:
        said.append("The version behind this name cannot be observed: changes will show in the answers only.")
    if decoded.outcome is Outcome.REASONING_ONLY or (decoded.usage.reasoning_tokens or 0) > 0:
        said.append("This model reasons before it answers: give canaries a cap of 2,000 tokens or more.")
    if is_litellm(exchange):
        said.append("A LiteLLM proxy answers; its cache is switched off per request where it allows that.")
    return tuple(said)


def is_litellm(exchange: Exchange) -> bool:
    """Whether a LiteLLM proxy answered."""
    return any(name.startswith("x-litellm-") for name, _ in exchange.headers)
