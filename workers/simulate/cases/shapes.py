"""Traps in the shape of the answer."""

from __future__ import annotations

from typing import Any

from workers.simulate.cases.trap import Trap
from workers.simulate.draft import Draft
from workers.simulate.reply import completion
from workers.simulate.wire import Wire, events, whole

FINISH_REASONS = ("error", "abort", "", "null", "eos", "model_length")


def error_with_status_200(draft: Draft) -> Wire:
    """A gateway that puts an upstream's failure into a successful response."""
    return whole({"error": {"code": 502, "message": "Upstream provider returned an invalid response."}})


def filtered(draft: Draft) -> Wire:
    """A filtered choice has no message; a filtered prompt brings no choice at all."""
    verdict = {"violence": {"filtered": True, "severity": "high"}}
    if draft.index % 3 == 0:
        choice = {"index": 0, "finish_reason": "content_filter", "content_filter_results": verdict}
        return draft.plain(choices=[choice])
    results = [{"prompt_index": 0, "content_filter_results": verdict}]
    return draft.plain(choices=None if draft.index % 3 == 1 else [], prompt_filter_results=results)


def reasoning_ate_the_cap(draft: Draft) -> Wire:
    """All tokens went into hidden reasoning; nothing was left for the answer."""
    cap = draft.fields.get("max_tokens") or draft.fields.get("max_completion_tokens") or 400
    usage = {
        "prompt_tokens": draft.reply.prompt_tokens,
        "completion_tokens": cap,
        "completion_tokens_details": {"reasoning_tokens": cap},
    }
    return draft.plain(choices=[_choice({"role": "assistant", "content": ""}, "length")], usage=usage)


def parts(draft: Draft) -> Wire:
    """Content as a list of typed parts; how many varies from call to call."""
    text = draft.reply.written.text
    cut = len(text) // (draft.index % 3 + 2)
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": f"Thought {draft.index}."}]}
    content = [thinking, {"type": "text", "text": text[:cut]}, {"type": "text", "text": text[cut:]}]
    return draft.plain(choices=[_choice({"role": "assistant", "content": content})])


def odd_finish_reasons(draft: Draft) -> Wire:
    """Finish reasons that no specification has."""
    message = {"role": "assistant", "content": draft.reply.written.text}
    return draft.plain(choices=[_choice(message, FINISH_REASONS[draft.index % len(FINISH_REASONS)])])


def tools_nobody_offered(draft: Draft) -> Wire:
    """The model calls a tool of its own; ids are random, arguments are not."""
    function = {"name": "python", "arguments": '{"code": "print(' + str(draft.index % 2) + ')"}'}
    call = {"id": f"call_{draft.reply.id}", "type": "function", "function": function}
    return draft.plain(choices=[_choice({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")])


def no_usage(draft: Draft) -> Wire:
    body = completion(draft.reply)
    del body["usage"]
    return whole(body)


def space_only_in_streams(draft: Draft) -> Wire:
    """The streamed answer begins with a space that the whole one has not."""
    if not draft.streams:
        return draft.plain()
    text = " " + draft.reply.written.text
    head = {"id": draft.reply.id, "model": draft.reply.model, "created": draft.reply.created}
    first = {**head, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    return events([first, {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}])


def nul_and_surrogates(draft: Draft) -> Wire:
    """Characters that databases and UTF-8 do not take."""
    return draft.plain(choices=[_choice({"role": "assistant", "content": "a\u0000b\ud83d c"})])


def _choice(message: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
    return {"index": 0, "message": message, "finish_reason": finish}


SHAPES = {
    "b21": Trap(error_with_status_200),
    "b22": Trap(filtered),
    "b23": Trap(reasoning_ate_the_cap),
    "b24": Trap(parts),
    "b25": Trap(odd_finish_reasons),
    "b26": Trap(tools_nobody_offered),
    "b27": Trap(no_usage),
    "b28": Trap(space_only_in_streams),
    "b29": Trap(nul_and_surrogates),
}
