"""Reading and checking a request's JSON, field by field."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workers.inference.engine.sampling_params import SamplingParams
from workers.inference.errors import InvalidRequestError

MAX_ALTERNATIVES = 20
MAX_CHOICES = 16
MAX_STOPS = 4

_COMMON = {
    "model", "stream", "stream_options", "n", "stop", "seed", "temperature", "top_p", "top_k", "logprobs",
    "max_tokens", "ignore_eos", "user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key",
}  # fmt: skip
CHAT_FIELDS = _COMMON | {"messages", "top_logprobs", "max_completion_tokens"}
COMPLETION_FIELDS = _COMMON | {"prompt", "echo"}

# Fields of the API that mean 'nothing asked' with these values and are refused with any other.
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "frequency_penalty": (0, None),
    "presence_penalty": (0, None),
    "logit_bias": ({}, None),
    "response_format": ({"type": "text"}, None),
    "tools": ([], None),
    "tool_choice": ("none", "auto", None),
    "functions": ([], None),
    "modalities": (["text"], None),
    "best_of": (1, None),
    "suffix": ("", None),
    "parallel_tool_calls": (True, False, None),
    "reasoning_effort": ("none", None),
    "verbosity": ("medium", None),
}


@dataclass(frozen=True, slots=True)
class Ask:
    """What both completion endpoints have in common."""

    body: Mapping[str, Any]
    choices: int
    stream: bool
    include_usage: bool
    temperature: float
    top_p: float
    top_k: int
    seed: int
    stop: tuple[str, ...]
    ignore_end: bool

    def params(self, choice: int, max_tokens: int, logprobs: int | None, score_prompt: bool = False) -> SamplingParams:
        """Parameters of one choice. Choice 0 uses the seed as given, the others the seeds that follow."""
        return SamplingParams(
            max_tokens=max_tokens,
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            seed=self.seed + choice,
            stop=self.stop,
            logprobs=logprobs,
            score_prompt=score_prompt,
            ignore_end=self.ignore_end,
        )


def read_ask(raw: bytes, model: str, known: set[str]) -> Ask:
    """Parse the fields both endpoints share.

    Raises:
        InvalidRequestError: names the field that is wrong.
    """
    try:
        body = json.loads(raw)
    except ValueError as error:
        raise InvalidRequestError(f"The body is not JSON: {error}.") from None
    if not isinstance(body, dict):
        raise InvalidRequestError("The body must be a JSON object.")
    _refuse_unknown(body, known)
    asked = body.get("model")
    if asked != model:
        message = f"The model '{asked}' does not exist here; this worker serves '{model}'."
        raise InvalidRequestError(message, "model", "model_not_found", 404)
    options = body.get("stream_options") or {}
    if not isinstance(options, dict):
        raise InvalidRequestError("'stream_options' must be an object.", "stream_options")
    seed = integer(body, "seed", None)
    top_k = integer(body, "top_k", 0, -1) or 0
    return Ask(
        body=body,
        choices=integer(body, "n", 1, 1, MAX_CHOICES) or 1,
        stream=flag(body, "stream"),
        include_usage=flag(options, "include_usage"),
        temperature=_number(body, "temperature", 1.0, 0.0, 2.0),
        top_p=_number(body, "top_p", 1.0, 0.0, 1.0),
        top_k=max(top_k, 0),
        seed=secrets.randbits(63) if seed is None else seed,
        stop=_stops(body.get("stop")),
        ignore_end=flag(body, "ignore_eos"),
    )


def integer(
    body: Mapping[str, Any], name: str, default: int | None, low: int | None = None, high: int | None = None
) -> int | None:
    """An integer field within [low, high], or its default when absent or null."""
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidRequestError(f"'{name}' must be an integer, not {json.dumps(value)[:40]}.", name)
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise InvalidRequestError(f"'{name}' must be {bounds}, not {value}.", name)
    return value


def flag(body: Mapping[str, Any], name: str) -> bool:
    """A boolean field; false when absent or null."""
    value = body.get(name)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise InvalidRequestError(f"'{name}' must be true or false.", name)
    return value


def _number(body: Mapping[str, Any], name: str, default: float, low: float, high: float) -> float:
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InvalidRequestError(f"'{name}' must be a number between {low:g} and {high:g}.", name)
    return float(value)


def _stops(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list) or len(stops) > MAX_STOPS or not all(isinstance(s, str) and s for s in stops):
        raise InvalidRequestError(f"'stop' must be a string or a list of up to {MAX_STOPS} non-empty strings.", "stop")
    return tuple(stops)


def _refuse_unknown(body: Mapping[str, Any], known: set[str]) -> None:
    for name, value in body.items():
        if name in known or (name in _NEUTRAL and value in _NEUTRAL[name]):
            continue
        if name in _NEUTRAL:
            raise InvalidRequestError(
                f"'{name}' is not supported by this worker; leave it out.", name, "unsupported_parameter"
            )
        raise InvalidRequestError(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
