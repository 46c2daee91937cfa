"""Reads a chat completion, whole or folded from a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from drift.answers import Decoded, Outcome
from workers.probe.decode.content import canonical_tool_calls, reasoning_fields, split_content
from workers.probe.decode.errors import error_in
from workers.probe.decode.fields import as_count, as_list, as_object, as_seed, as_text, as_time
from workers.probe.decode.logprobs import align, read_logprobs
from workers.probe.decode.outcome import outcome_of_answer, read_finish
from workers.probe.decode.usage import read_usage


def is_chat(body: Mapping[str, Any]) -> bool:
    return "choices" in body or as_text(body.get("object")).startswith(("chat.completion", "text_completion"))


def read_chat(body: Mapping[str, Any], version: int) -> Decoded:
    """The first choice of `body` as an answer; identity and header evidence are added by the caller."""
    usage = read_usage(body)
    blank = Decoded(
        version,
        Outcome.EMPTY,
        usage=usage,
        completion_id=as_text(body.get("id"))[:200],
        created=as_time(body.get("created")),
        batch_sizes=read_batch_sizes(body),
    )
    choice = _first_choice(body)
    if choice is None:
        return replace(blank, outcome=Outcome.FILTERED) if _prompt_was_filtered(body) else blank
    sent, finish = read_finish(choice.get("finish_reason"))
    failure = error_in({"error": choice.get("error")})
    if failure is not None:
        # A router puts the upstream's failure beside what had been written until then.
        finish = "error"
        blank = replace(blank, error_code=failure.code or failure.kind, error_message=failure.message)
    message = as_object(choice.get("message") or choice.get("delta"))
    if not message and isinstance(choice.get("text"), str):
        message = {"content": choice["text"]}
    if not message and finish not in ("filter", "error"):
        problem = "A choice without a message."
        return replace(blank, outcome=Outcome.UNREADABLE, finish_reason=sent, finish=finish, error_message=problem)
    text, inline_reasoning = split_content(message.get("content"))
    if not text and isinstance(message.get("refusal"), str):
        text = message["refusal"]
    reasoning = reasoning_fields(message) or inline_reasoning
    tool_calls = canonical_tool_calls(message)
    tokens, shape = read_logprobs(choice.get("logprobs"))
    groq = as_object(body.get("x_groq"))
    return replace(
        blank,
        outcome=outcome_of_answer(
            finish=finish,
            text=text,
            reasoning=reasoning,
            tool_calls=tool_calls,
            reasoning_tokens=usage.reasoning_tokens,
            completion_tokens=usage.completion_tokens,
        ),
        text=text,
        reasoning=reasoning,
        tool_calls=tool_calls,
        finish_reason=sent,
        finish=finish,
        tokens=align(tokens, text) if reasoning else tokens,
        logprob_shape=shape,
        seed_echo=as_seed(groq.get("seed", choice.get("seed"))),
    )


def read_batch_sizes(body: Mapping[str, Any]) -> tuple[int, ...] | None:
    """How many requests shared each decode step, where our own worker says so."""
    sizes = as_object(body.get("tidegauge")).get("batch_sizes")
    if not isinstance(sizes, list):
        return None
    counts = tuple(as_count(size) for size in sizes)
    return None if None in counts else tuple(count for count in counts if count is not None)


def _first_choice(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    choices = [choice for choice in as_list(body.get("choices")) if isinstance(choice, dict)]
    return next((choice for choice in choices if choice.get("index") == 0), choices[0] if choices else None)


def _prompt_was_filtered(body: Mapping[str, Any]) -> bool:
    """Azure answers a filtered prompt with no choice and these results."""
    return any(
        as_object(verdict).get("filtered") is True
        for result in as_list(body.get("prompt_filter_results"))
        for verdict in as_object(as_object(result).get("content_filter_results")).values()
    )
