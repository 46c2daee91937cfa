"""Refusals, in each of the envelopes that servers wrap them in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workers.simulate.request import scores_wanted
from workers.simulate.scenario import Scenario
from workers.simulate.wire import Headers, Wire, whole


def refusal(
    envelope: str, message: str, field: str | None = None, *, status: int = 400, code: str = "", headers: Headers = ()
) -> Wire:
    """An error response in the form of OpenAI, FastAPI, Google, or as a plain string."""
    if envelope == "fastapi":
        detail = [{"type": "extra_forbidden", "loc": ["body", field], "msg": message, "input": None}]
        return whole({"detail": detail}, 422, headers=headers)
    if envelope == "google":
        error = {"code": status, "message": f'Invalid JSON payload received. Unknown name "{field}": {message}'}
        return whole([{"error": {**error, "status": "INVALID_ARGUMENT"}}], status, headers=headers)
    if envelope == "plain":
        return whole({"error": message, "error_type": "validation"}, 422, headers=headers)
    error = {
        "message": message,
        "type": "invalid_request_error",
        "param": field,
        "code": code or "unsupported_parameter",
    }
    return whole({"error": error}, status, headers=headers)


def unknown_model(scenario: Scenario, asked: str) -> Wire:
    message = f"The model `{asked}` does not exist. This simulated endpoint has `{scenario.model}`."
    return refusal("openai", message, "model", status=404, code="model_not_found")


def unsupported(scenario: Scenario, fields: Mapping[str, Any]) -> Wire | None:
    """The refusal of the first field that this endpoint does not take; None when it takes them all."""
    support = scenario.support
    for name in support.refused:
        if name == "temperature=0":
            if fields.get("temperature") == 0:
                message = (
                    "Unsupported value: 'temperature' does not support 0. Only the default (1) value is supported."
                )
                return refusal(support.envelope, message, "temperature", code="unsupported_value")
        elif name in fields:
            message = f"Unsupported parameter: '{name}' is not supported with this model."
            if name == "max_tokens":
                message += " Use 'max_completion_tokens' instead."
            return refusal(support.envelope, message, name)
    streams = bool(fields.get("stream"))
    if support.stream == "only" and not streams:
        return refusal(support.envelope, "This model only support stream mode, please enable the stream parameter.")
    if support.stream == "never" and streams:
        return refusal(support.envelope, "Streaming is not supported for this model.", "stream")
    wanted = scores_wanted(fields)
    if wanted is not None and wanted > support.most_scores and not support.clamps_scores:
        message = f"Invalid value for 'top_logprobs': must be less than or equal to {support.most_scores}."
        return refusal(support.envelope, message, "top_logprobs", code="invalid_value")
    choices = fields.get("n", 1)
    if isinstance(choices, int) and choices > support.most_choices:
        return refusal(support.envelope, f"'n' must be at most {support.most_choices}.", "n")
    return None
