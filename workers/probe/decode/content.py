"""The answer and the reasoning in a message, wherever the server put each.

Reasoning has five places: `reasoning_content`, `reasoning`, `reasoning_details[]`, `<think>...</think>`
inside the content, and typed parts of a content list. None of it belongs to the compared answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from workers.probe.decode.fields import as_list, as_object, as_text

_THINK_OPEN, _THINK_CLOSE = "<think>", "</think>"
_REASONING_PARTS = frozenset({"thinking", "reasoning", "reasoning_content", "summary", "summary_text"})
_DEEPEST = 6


def split_content(content: Any) -> tuple[str, str]:
    """(answer, reasoning) of a `content` value: a string, None, a part, or a list of parts in order."""
    if isinstance(content, str):
        return split_think(content)
    answer: list[str] = []
    reasoning: list[str] = []
    _collect(content, answer, reasoning, thinking=False, depth=0)
    return "".join(answer), "".join(reasoning)


def split_think(content: str) -> tuple[str, str]:
    """Takes `<think>...</think>` off the front. Templates that open the tag themselves send only the closing
    one.
    """
    start = content.lstrip()
    if start.startswith(_THINK_OPEN):
        reasoning, closed, answer = start[len(_THINK_OPEN) :].partition(_THINK_CLOSE)
        return (answer, reasoning) if closed else ("", reasoning)
    reasoning, closed, answer = content.partition(_THINK_CLOSE)
    if closed and _THINK_OPEN not in reasoning:
        return answer, reasoning
    return content, ""


def reasoning_fields(message: Mapping[str, Any]) -> str:
    """The reasoning that stands beside the content."""
    for name in ("reasoning_content", "reasoning"):
        value = message.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, dict | list):
            text = _joined(value)
            if text:
                return text
    return _joined(message.get("reasoning_details"))


def canonical_tool_calls(message: Mapping[str, Any]) -> str:
    """The tool calls as JSON without their random ids: names in order, arguments as the model wrote them."""
    calls = [_tool_call(as_object(call)) for call in as_list(message.get("tool_calls"))]
    legacy = as_object(message.get("function_call"))
    # Some servers always send an empty stub here.
    if legacy.get("name"):
        calls.append(_tool_call({"function": legacy}))
    calls = [call for call in calls if call["name"] or call["arguments"]]
    return json.dumps(calls, sort_keys=True, separators=(",", ":")) if calls else ""


def _tool_call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = as_object(call.get("function") or call.get("custom")) or call
    arguments = function.get("arguments", function.get("input"))
    return {"name": as_text(function.get("name")), "arguments": "" if arguments is None else arguments}


def _joined(value: Any) -> str:
    answer: list[str] = []
    reasoning: list[str] = []
    _collect(value, answer, reasoning, thinking=True, depth=0)
    return "".join(reasoning)


def _collect(part: Any, answer: list[str], reasoning: list[str], *, thinking: bool, depth: int) -> None:
    if depth > _DEEPEST:
        return
    if isinstance(part, str):
        (reasoning if thinking else answer).append(part)
    elif isinstance(part, list):
        for item in part:
            _collect(item, answer, reasoning, thinking=thinking, depth=depth + 1)
    elif isinstance(part, dict):
        inner = thinking or as_text(part.get("type")) in _REASONING_PARTS
        for name in ("text", "thinking", "reasoning", "summary", "content"):
            if part.get(name):
                is_thought = inner or name in ("thinking", "reasoning", "summary")
                _collect(part[name], answer, reasoning, thinking=is_thought, depth=depth + 1)
                return
