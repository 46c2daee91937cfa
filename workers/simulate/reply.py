"""An answer before it is put into any provider's words, and the OpenAI way of putting it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workers.simulate.language import Token, Written


@dataclass(frozen=True, slots=True)
class Reply:
    """Everything one answer says. `scored`: whether token scores were asked for and are given."""

    id: str
    created: int
    model: str
    has_fingerprint: bool
    fingerprint: str | None
    written: Written
    prompt_tokens: int
    scored: bool
    choices: int = 1

    @property
    def usage(self) -> dict[str, Any]:
        count = len(self.written.tokens)
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": count,
            "total_tokens": self.prompt_tokens + count,
        }


def completion(reply: Reply, **changes: Any) -> dict[str, Any]:
    """The whole answer as a chat completion; `changes` replace top-level keys."""
    choice: dict[str, Any] = {
        "message": {"role": "assistant", "content": reply.written.text},
        "logprobs": scores(reply.written.tokens) if reply.scored else None,
        "finish_reason": reply.written.finish,
    }
    body: dict[str, Any] = {
        **_head(reply, "chat.completion"),
        "choices": [{"index": index, **choice} for index in range(reply.choices)],
        "usage": reply.usage,
        "simulated": True,
    }
    return {**body, **changes}


def chunks(reply: Reply, *, fingerprint_last: bool = False) -> Iterator[dict[str, Any]]:
    """The answer as a stream of chat chunks, the last one with usage."""
    head = _head(reply, "chat.completion.chunk")
    first = {key: value for key, value in head.items() if not (fingerprint_last and key == "system_fingerprint")}
    yield {**first, "choices": [_delta({"role": "assistant", "content": ""})]}
    for token in reply.written.tokens:
        choice = _delta({"content": token.text})
        if reply.scored:
            choice["logprobs"] = scores((token,))
        yield {**first, "choices": [choice]}
    yield {**head, "choices": [_delta({}, reply.written.finish)]}
    yield {**head, "choices": [], "usage": reply.usage, "simulated": True}


def response_object(reply: Reply) -> dict[str, Any]:
    """The answer as an object of the Responses API."""
    part: dict[str, Any] = {"type": "output_text", "text": reply.written.text, "annotations": []}
    if reply.scored:
        part["logprobs"] = scores(reply.written.tokens)["content"]
    complete = reply.written.finish == "stop"
    count = len(reply.written.tokens)
    return {
        "id": reply.id.replace("chatcmpl-", "resp_"),
        "object": "response",
        "created_at": reply.created,
        "status": "completed" if complete else "incomplete",
        "error": None,
        "incomplete_details": None if complete else {"reason": "max_output_tokens"},
        "model": reply.model,
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]},
        ],
        "usage": {
            "input_tokens": reply.prompt_tokens,
            "output_tokens": count,
            "output_tokens_details": {"reasoning_tokens": 0},
        },
        "simulated": True,
    }


def response_events(reply: Reply) -> Iterator[str | dict[str, Any]]:
    """The answer as the event stream of the Responses API."""
    final = response_object(reply)
    yield {"type": "response.created", "response": {**final, "status": "in_progress", "output": []}}
    for token in reply.written.tokens:
        yield {"type": "response.output_text.delta", "delta": token.text}
    kind = "response.completed" if final["status"] == "completed" else "response.incomplete"
    yield {"type": kind, "response": final}


def scores(tokens: tuple[Token, ...]) -> dict[str, Any]:
    return {"content": [score(token) for token in tokens], "refusal": None}


def score(token: Token) -> dict[str, Any]:
    return {
        "token": token.text,
        "logprob": token.logprob,
        "bytes": list(token.text.encode()),
        "top_logprobs": [
            {"token": text, "logprob": logprob, "bytes": list(text.encode())} for text, logprob in token.ranked
        ],
    }


def _head(reply: Reply, kind: str) -> dict[str, Any]:
    head: dict[str, Any] = {"id": reply.id, "object": kind, "created": reply.created, "model": reply.model}
    if reply.has_fingerprint:
        head["system_fingerprint"] = reply.fingerprint
    return head


def _delta(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish}
