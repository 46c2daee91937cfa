"""Which headers we send to ask for a fresh answer, and which response headers are worth keeping."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workers.probe.redact import remove_secrets

FRESH = {
    "Cache-Control": "no-cache",
    "cf-aig-skip-cache": "true",
    "Helicone-Cache-Enabled": "false",
    "x-portkey-cache-force-refresh": "true",
}
"""One way of saying 'do not answer from a cache' per gateway. Servers that know none of them ignore them."""

MOST_HEADERS = 64
LONGEST_VALUE = 500

# fmt: off
_KEPT = frozenset({
    "age", "apim-request-id", "azureml-model-session", "cf-aig-cache-status", "cf-cache-status", "cf-ray",
    "cmp-upstream-response-duration", "content-encoding", "content-type", "date", "helicone-cache",
    "helicone-id", "inference-id", "location", "mistral-correlation-id", "ms-azureml-model-time",
    "openai-model", "openai-processing-ms", "openai-version", "request-id", "retry-after", "retry-after-ms",
    "server", "via", "x-api-call-end", "x-api-call-start", "x-cache", "x-cache-status", "x-compute-type",
    "x-ds-trace-id", "x-envoy-upstream-service-time", "x-generated-tokens", "x-generation-id", "x-hostname",
    "x-inference-time", "x-inference-version", "x-kong-upstream-latency", "x-ms-deployment-name",
    "x-ms-is-spilled-over", "x-ms-rai-invoked", "x-ms-region", "x-provider-name", "x-queue-time",
    "x-request-id", "x-time-per-token", "x-total-time",
})
# fmt: on
_KEPT_PREFIXES = ("x-ratelimit-", "x-litellm-", "fireworks-", "x-groq-", "x-portkey-", "x-tidegauge-")
_IDENTIFYING = re.compile(r"cookie|authorization|organization|project|secret|api-?key|litellm-key|user|team")


def worth_keeping(raw: Iterable[tuple[bytes, bytes]], secrets: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """(lower-case name, value) of the headers on the list, in order of arrival, without credentials or
    account ids.
    """
    kept: list[tuple[str, str]] = []
    secrets = tuple(secrets)
    for name_bytes, value_bytes in raw:
        name = name_bytes.decode("latin-1").lower()
        # LiteLLM repeats the headers of the server behind it under this prefix.
        plain = name.removeprefix("llm_provider-")
        if not (plain in _KEPT or plain.startswith(_KEPT_PREFIXES)) or _IDENTIFYING.search(plain):
            continue
        value = remove_secrets(value_bytes, secrets).decode("latin-1")[:LONGEST_VALUE]
        if plain in ("location", "x-litellm-model-api-base"):
            value = re.split(r"[?#]", value, maxsplit=1)[0]
        kept.append((name, value))
        if len(kept) == MOST_HEADERS:
            break
    return tuple(kept)
