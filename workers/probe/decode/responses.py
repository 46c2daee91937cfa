"""Reads an answer of the Responses API: output items instead of choices, no fingerprint, no seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drift.answers import Decoded, Outcome, ScoredToken
from workers.probe.decode.chat import read_batch_sizes
from workers.probe.decode.content import canonical_tool_calls, split_content
from workers.probe.decode.fields import as_list, as_object, as_text, as_time
from workers.probe.decode.logprobs import read_token_list
from workers.probe.decode.outcome import outcome_of_answer, read_finish
from workers.probe.decode.usage import read_usage


def is_response(body: Mapping[str, Any]) -> bool:
    return body.get("object") == "response" or isinstance(body.get("output"), list)


def read_response(body: Mapping[str, Any], version: int) -> Decoded:
    """The output of a Responses answer joined in order: text, reasoning summaries, function calls."""
    text: list[str] = []
    reasoning: list[str] = []
    calls: list[Any] = []
    tokens: list[ScoredToken] = []
    shape = ""
    for item in as_list(body.get("output")):
        item = as_object(item)
        kind = as_text(item.get("type"))
        if kind == "reasoning":
            reasoning.append(split_content([item.get("summary"), item.get("content")])[1] or _plain(item))
        elif kind in ("function_call", "custom_tool_call"):
            calls.append(item)
        elif kind == "message":
            for part in as_list(item.get("content")):
                part = as_object(part)
                text.append(as_text(part.get("text")) or as_text(part.get("refusal")))
                scored, found = read_token_list(as_list(part.get("logprobs")), "responses")
                tokens.extend(scored or ())
                shape = found or shape
    usage = read_usage(body)
    sent, finish = read_finish(_finish_reason(body))
    answer, thoughts, tool_calls = (
        "".join(text),
        "".join(reasoning),
        canonical_tool_calls({"tool_calls": calls}),
    )
    outcome = outcome_of_answer(
        finish=finish,
        text=answer,
        reasoning=thoughts,
        tool_calls=tool_calls,
        reasoning_tokens=usage.reasoning_tokens,
        completion_tokens=usage.completion_tokens,
    )
    if outcome is Outcome.EMPTY and "output" not in body:
        outcome = Outcome.UNREADABLE
    return Decoded(
        version=version,
        outcome=outcome,
        text=answer,
        reasoning=thoughts,
        tool_calls=tool_calls,
        finish_reason=sent,
        finish=finish,
        tokens=tuple(tokens) or None,
        logprob_shape=shape,
        usage=usage,
        completion_id=as_text(body.get("id"))[:200],
        created=as_time(body.get("created_at")),
        batch_sizes=read_batch_sizes(body),
    )


def _finish_reason(body: Mapping[str, Any]) -> Any:
    """`incomplete` alone says nothing; its reason (`max_output_tokens`, `content_filter`) does."""
    if body.get("status") == "incomplete":
        return as_object(body.get("incomplete_details")).get("reason") or "incomplete"
    return body.get("status")


def _plain(item: Mapping[str, Any]) -> str:
    return "".join(
        as_text(as_object(part).get("text")) for part in [*as_list(item.get("summary")), *as_list(item.get("content"))]
    )
