"""OpenTelemetry traces (GenAI semantic conventions) as observations. Prompts and answers are hashed, not kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from drift.observations.observation import Observation

ENDPOINT = "tidegauge.endpoint"
FINGERPRINT = ("openai.response.system_fingerprint", "gen_ai.openai.response.system_fingerprint")
PROMPT_TOKENS = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
COMPLETION_TOKENS = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
PROMPT = ("gen_ai.input.messages", "gen_ai.prompt")
OUTPUT = ("gen_ai.output.messages", "gen_ai.completion")
OPERATIONS = frozenset({"chat", "text_completion", "generate_content", ""})


class OtlpError(ValueError):
    """A body that is not an OTLP trace request."""


def observations(request: Any, now: datetime) -> Iterator[Observation]:
    """The model calls among the spans of an export request (OTLP's JSON shape). Spans of other work are passed over."""
    try:
        for resource_spans in request.get("resourceSpans", ()):
            common = _attributes(resource_spans.get("resource", {}))
            for scope_spans in resource_spans.get("scopeSpans", ()):
                for span in scope_spans.get("spans", ()):
                    seen = _observation(common, _attributes(span), span, now)
                    if seen is not None:
                        yield seen
    except (AttributeError, TypeError, KeyError, ValueError, OverflowError) as error:
        raise OtlpError(f"this is not an OTLP trace request: {error}") from error


def _observation(
    common: Mapping[str, Any], own: Mapping[str, Any], span: Mapping[str, Any], now: datetime
) -> Observation | None:
    called = own.get("gen_ai.request.model") or own.get("gen_ai.response.model")
    if not called or str(own.get("gen_ai.operation.name", "")) not in OPERATIONS or own.get("error.type"):
        return None
    nanoseconds = int(span.get("endTimeUnixNano") or span.get("startTimeUnixNano") or 0)
    return Observation(
        at=datetime.fromtimestamp(nanoseconds / 1e9, UTC) if nanoseconds else now,
        endpoint=str(own.get(ENDPOINT) or common.get(ENDPOINT) or ""),
        model=str(own.get("gen_ai.request.model") or ""),
        host=str(own.get("server.address") or ""),
        model_echo=_told(own, "gen_ai.response.model"),
        fingerprint=_told(own, *FINGERPRINT),
        prompt_hash=_hash(own, PROMPT),
        output_hash=_hash(own, OUTPUT),
        prompt_tokens=_count(own, PROMPT_TOKENS),
        completion_tokens=_count(own, COMPLETION_TOKENS),
    )


def _attributes(holder: Mapping[str, Any]) -> dict[str, Any]:
    return {one["key"]: _value(one.get("value") or {}) for one in holder.get("attributes", ())}


def _value(value: Mapping[str, Any]) -> Any:
    if "intValue" in value:
        return int(value["intValue"])  # 64-bit numbers travel as text in JSON
    if "arrayValue" in value:
        return [_value(one) for one in value["arrayValue"].get("values", ())]
    return next(iter(value.values()), None)


def _told(attributes: Mapping[str, Any], *names: str) -> str | None:
    return next((str(attributes[name]) for name in names if attributes.get(name) is not None), None)


def _count(attributes: Mapping[str, Any], names: tuple[str, ...]) -> int:
    told = next((attributes[name] for name in names if attributes.get(name) is not None), 0)
    return min(max(0, int(told)), 1_000_000_000)


def _hash(attributes: Mapping[str, Any], names: tuple[str, ...]) -> str:
    told = _told(attributes, *names)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest() if told else ""
