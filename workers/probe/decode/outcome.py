"""What kind of answer a sample is, from its finish reason and its parts."""

from __future__ import annotations

from drift.answers import Outcome

_FINISH = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "end_turn": "stop",
    "completed": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "content_filter": "filter",
    "safety": "filter",
    "recitation": "filter",
    "tool_calls": "tool",
    "tool_call": "tool",
    "tool_use": "tool",
    "function_call": "tool",
    "error": "error",
    "abort": "error",
    "cancelled": "error",
    "failed": "error",
    "insufficient_system_resource": "error",
}


def read_finish(value: object) -> tuple[str | None, str]:
    """(finish reason as sent, its class). Classes: stop, length, filter, tool, error, unknown."""
    if isinstance(value, dict):  # {"type": "stop", "matched": 2}
        value = value.get("type")
    if not isinstance(value, str):
        return None, "unknown"
    # One server writes the absent reason as the word 'null'.
    return value, _FINISH.get(value.strip().lower(), "unknown")


def has_finished(value: object) -> bool:
    """Whether a chunk's finish reason says that the answer is over."""
    return isinstance(value, str) and value.strip() not in ("", "null")


def outcome_of_answer(
    *,
    finish: str,
    text: str,
    reasoning: str,
    tool_calls: str,
    reasoning_tokens: int | None,
    completion_tokens: int | None,
) -> Outcome:
    """The outcome of an answer that arrived whole. A failed or filtered answer stays one even if text came
    along.
    """
    if finish == "error":
        return Outcome.FAILED
    if finish == "filter":
        return Outcome.FILTERED
    if tool_calls:
        return Outcome.TOOL_CALLS
    if text.strip():
        return Outcome.TEXT
    if reasoning.strip() or reasoning_tokens or (finish == "length" and completion_tokens):
        return Outcome.REASONING_ONLY
    return Outcome.EMPTY
