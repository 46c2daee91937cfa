"""What an answer says about who gave it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from drift.answers import FingerprintState, IdentityFacts
from workers.probe.decode.fields import as_object, first_text

LONGEST_IDENTITY = 300


def read_identity(body: Mapping[str, Any], headers: Mapping[str, str]) -> IdentityFacts:
    """Identity from body and headers; absent, null, empty and given fingerprints are told apart."""
    state, fingerprint = read_fingerprint(body)
    model = body.get("model")
    deployments = (_header(headers, name) for name in ("x-litellm-model-id", "x-ms-deployment-name"))
    regions = (_header(headers, name) for name in ("x-groq-region", "x-ms-region", "azureml-model-session"))
    return IdentityFacts(
        model_echo=model[:LONGEST_IDENTITY] if isinstance(model, str) else None,
        fingerprint_state=state,
        fingerprint=fingerprint,
        upstream=_upstream(body, headers)[:LONGEST_IDENTITY],
        region=" ".join(filter(None, regions))[:LONGEST_IDENTITY],
        deployment=" ".join(filter(None, deployments))[:LONGEST_IDENTITY],
    )


def read_fingerprint(body: Mapping[str, Any]) -> tuple[FingerprintState, str]:
    """(state, value) of `system_fingerprint`; the value is '' unless the state is VALUE."""
    if "system_fingerprint" not in body:
        return FingerprintState.ABSENT, ""
    value = body["system_fingerprint"]
    if value is None:
        return FingerprintState.NULL, ""
    if value == "":
        return FingerprintState.EMPTY, ""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return FingerprintState.VALUE, text[:LONGEST_IDENTITY]


def was_fallback(headers: Mapping[str, str]) -> bool:
    """Whether a gateway says that another deployment than the one asked for has answered."""
    attempted = _header(headers, "x-litellm-attempted-fallbacks").strip()
    spilled = _header(headers, "x-ms-is-spilled-over").strip().lower()
    return (attempted.isascii() and attempted.isdigit() and int(attempted[:6]) > 0) or spilled == "true"


def _upstream(body: Mapping[str, Any], headers: Mapping[str, str]) -> str:
    """The provider behind a router."""
    provider = body.get("provider")
    named = first_text(provider, as_object(provider).get("name"))
    return named or _header(headers, "x-provider-name")


def _header(headers: Mapping[str, str], name: str) -> str:
    """A header's value, also where LiteLLM repeats it from the server behind it."""
    return headers.get(name) or headers.get(f"llm_provider-{name}") or ""
