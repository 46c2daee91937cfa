"""POST /v1/chat/completions."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import AsyncIterator
from collections.abc import Sequence as Items
from typing import Any

from workers.inference.engine.sequence import Progress, TokenLogprob
from workers.inference.errors import InvalidRequestError
from workers.inference.server.answering import Answering, Job, room_for
from workers.inference.server.http import Response, json_response
from workers.inference.server.parameters import CHAT_FIELDS, MAX_ALTERNATIVES, Ask, flag, integer, read_ask
from workers.inference.server.service import Service
from workers.inference.text import Vocabulary


async def chat_completions(service: Service, raw: bytes) -> Response:
    """Answer a conversation, whole or as server-sent events."""
    ask = read_ask(raw, service.model.name, CHAT_FIELDS)
    prompt_ids = service.model.encode_chat(_messages(ask.body.get("messages")))
    wanted = integer(ask.body, "max_completion_tokens", None, 1) or integer(ask.body, "max_tokens", None, 1)
    cap_field = "max_completion_tokens" if ask.body.get("max_completion_tokens") is not None else "max_tokens"
    max_tokens = room_for(prompt_ids, wanted, service.context, cap_field, "messages")
    logprobs = _logprobs(ask)
    jobs = [Job(prompt_ids, ask.params(choice, max_tokens, logprobs)) for choice in range(ask.choices)]
    answering = Answering(service.model, service.loop, jobs)
    head = {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "created": int(time.time()),
        "model": service.model.name,
        "system_fingerprint": service.model.fingerprint,
    }
    if ask.stream:
        events = _events(service, ask, answering, head)
        return Response(content_type="text/event-stream; charset=utf-8", stream=events)
    await answering.complete()
    choices = [
        {
            "index": index,
            "message": {"role": "assistant", "content": choice.text, "refusal": None},
            "logprobs": _content(choice.spoken, service.model.vocabulary) if logprobs is not None else None,
            "finish_reason": choice.finish_reason,
        }
        for index, choice in enumerate(answering.choices)
    ]
    return json_response(
        head
        | {
            "object": "chat.completion",
            "choices": choices,
            "usage": answering.usage(1),
            "tidegauge": answering.batches(service.mode),
        }
    )


async def _events(service: Service, ask: Ask, answering: Answering, head: dict[str, Any]) -> AsyncIterator[bytes]:
    vocabulary = service.model.vocabulary

    def chunk(choices: list[dict[str, Any]], **more: Any) -> bytes:
        usage = {"usage": None} if ask.include_usage else {}
        return server_event(head | {"object": "chat.completion.chunk", "choices": choices} | usage | more)

    def choice(index: int, delta: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"index": index, "delta": delta, "logprobs": None, "finish_reason": None} | more

    for index in range(ask.choices):
        yield chunk([choice(index, {"role": "assistant", "content": "", "refusal": None})])
    unfinished = ask.choices
    async for index, step in answering.follow():
        done = answering.choices[index]
        spoken = step.token_id is not None and step in done.spoken[-1:]
        logprobs = _content([step], vocabulary) if step.logprob is not None and spoken else None
        if step.text or logprobs:
            yield chunk([choice(index, {"content": step.text}, logprobs=logprobs)])
        if step.finish_reason is not None:
            unfinished -= 1
            last = {} if unfinished or ask.include_usage else {"tidegauge": answering.batches(service.mode)}
            yield chunk([choice(index, {}, finish_reason=step.finish_reason)], **last)
    if ask.include_usage:
        yield chunk([], usage=answering.usage(1), tidegauge=answering.batches(service.mode))
    yield b"data: [DONE]\n\n"


def server_event(payload: dict[str, Any]) -> bytes:
    """One server-sent event."""
    return b"data: " + json.dumps(payload, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n\n"


def _content(steps: Items[Progress], vocabulary: Vocabulary) -> dict[str, Any]:
    found = [step.logprob for step in steps if step.logprob is not None]
    return {"content": [_token(logprob, vocabulary) for logprob in found], "refusal": None}


def _token(logprob: TokenLogprob, vocabulary: Vocabulary) -> dict[str, Any]:
    def named(token_id: int, value: float) -> dict[str, Any]:
        raw = vocabulary.token_bytes(token_id)
        return {"token": raw.decode("utf-8", "replace"), "logprob": value, "bytes": list(raw)}

    return named(logprob.token_id, logprob.logprob) | {"top_logprobs": [named(*pair) for pair in logprob.top]}


def _logprobs(ask: Ask) -> int | None:
    top = integer(ask.body, "top_logprobs", None, 0, MAX_ALTERNATIVES)
    if not flag(ask.body, "logprobs"):
        if top is not None:
            raise InvalidRequestError("'top_logprobs' needs 'logprobs' to be true.", "top_logprobs")
        return None
    return top or 0


def _messages(value: Any) -> list[dict[str, str]]:
    if not isinstance(value, list) or not value:
        raise InvalidRequestError("'messages' must be a non-empty list.", "messages")
    messages = []
    for index, message in enumerate(value):
        where = f"messages[{index}]"
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise InvalidRequestError(f"{where} must be an object with a role.", where)
        role = "system" if message["role"] == "developer" else message["role"]
        if role not in ("system", "user", "assistant"):
            raise InvalidRequestError(
                f"Role '{role}' is not supported; system, user and assistant are.", f"{where}.role"
            )
        messages.append({"role": role, "content": _text(message.get("content"), f"{where}.content")})
    return messages


def _text(content: Any, where: str) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(p, dict) and isinstance(p.get("text"), str) for p in content):
        return "".join(part["text"] for part in content)
    raise InvalidRequestError(f"{where} must be text, or a list of text parts.", where)
