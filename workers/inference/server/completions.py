"""POST /v1/completions: plain continuation, and scoring with ``echo``."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator
from typing import Any

from workers.inference.engine.sequence import TokenLogprob
from workers.inference.errors import InvalidRequestError
from workers.inference.server.answering import Answering, Choice, Job, room_for
from workers.inference.server.chat import server_event
from workers.inference.server.http import Response, json_response
from workers.inference.server.parameters import COMPLETION_FIELDS, MAX_ALTERNATIVES, Ask, flag, integer, read_ask
from workers.inference.server.service import Service
from workers.inference.text import Vocabulary

DEFAULT_MAX_TOKENS = 16
MAX_PROMPTS = 64


async def completions(service: Service, raw: bytes) -> Response:
    """Continue each prompt. With ``echo`` the prompt is part of the answer, and with ``logprobs`` it is scored."""
    ask = read_ask(raw, service.model.name, COMPLETION_FIELDS)
    prompts = _prompts(ask.body.get("prompt"), service)
    echo = flag(ask.body, "echo")
    wanted = integer(ask.body, "max_tokens", DEFAULT_MAX_TOKENS, 0 if echo else 1)
    logprobs = integer(ask.body, "logprobs", None, 0, MAX_ALTERNATIVES)
    jobs = []
    for ids in prompts:
        max_tokens = room_for(ids, wanted, service.context, "max_tokens", "prompt")
        jobs += [
            Job(ids, ask.params(choice, max_tokens, logprobs, score_prompt=echo and logprobs is not None))
            for choice in range(ask.choices)
        ]
    answering = Answering(service.model, service.loop, jobs)
    head = {
        "id": f"cmpl-{uuid.uuid4().hex}",
        "object": "text_completion",
        "created": int(time.time()),
        "model": service.model.name,
        "system_fingerprint": service.model.fingerprint,
    }
    if ask.stream:
        events = _events(service, ask, answering, head, echo, len(prompts))
        return Response(content_type="text/event-stream; charset=utf-8", stream=events)
    await answering.complete()
    choices = []
    for index, choice in enumerate(answering.choices):
        prompt = service.model.tokenizer.decode(choice.sequence.prompt_ids) if echo else ""
        scored = _legacy_logprobs(choice, service.model.vocabulary, echo) if logprobs is not None else None
        choices.append(
            {
                "index": index,
                "text": prompt + choice.text,
                "logprobs": scored,
                "finish_reason": choice.finish_reason,
            }
        )
    usage = answering.usage(len(prompts))
    return json_response(head | {"choices": choices, "usage": usage, "tidegauge": answering.batches(service.mode)})


async def _events(
    service: Service, ask: Ask, answering: Answering, head: dict[str, Any], echo: bool, prompts: int
) -> AsyncIterator[bytes]:
    usage = {"usage": None} if ask.include_usage else {}

    def chunk(index: int, text: str, reason: str | None, logprobs: Any = None, **more: Any) -> bytes:
        choice = {"index": index, "text": text, "logprobs": logprobs, "finish_reason": reason}
        return server_event(head | {"choices": [choice]} | usage | more)

    if echo:
        for index, choice in enumerate(answering.choices):
            yield chunk(index, service.model.tokenizer.decode(choice.sequence.prompt_ids), None)
    unfinished = len(answering.choices)
    sent = [0] * unfinished
    async for index, step in answering.follow():
        choice = answering.choices[index]
        scored = None
        if step.logprob is not None:
            offset = len(choice.text) - len(step.text)
            scored = _legacy([step.logprob], service.model.vocabulary, offset)
        last: dict[str, Any] = {}
        if step.finish_reason is not None:
            unfinished -= 1
            if not unfinished and not ask.include_usage:
                last = {"tidegauge": answering.batches(service.mode)}
        if step.text or step.finish_reason is not None or scored:
            sent[index] += 1
            yield chunk(index, step.text, step.finish_reason, scored, **last)
    if ask.include_usage:
        final = {"choices": [], "usage": answering.usage(prompts), "tidegauge": answering.batches(service.mode)}
        yield server_event(head | final)
    yield b"data: [DONE]\n\n"


def _legacy_logprobs(choice: Choice, vocabulary: Vocabulary, echo: bool) -> dict[str, Any]:
    generated = [step.logprob for step in choice.spoken if step.logprob is not None]
    if not echo:
        return _legacy(generated, vocabulary, 0)
    sequence = choice.sequence
    first = TokenLogprob(sequence.prompt_ids[0], float("nan"), ())
    prompt = [sequence.prompt_logprobs[position] for position in range(1, len(sequence.prompt_ids))]
    scored = _legacy([first, *prompt, *generated], vocabulary, 0)
    # Nothing precedes the first token, so nothing predicts it.
    scored["token_logprobs"][0] = scored["top_logprobs"][0] = None
    return scored


def _legacy(logprobs: list[TokenLogprob], vocabulary: Vocabulary, offset: int) -> dict[str, Any]:
    """The four parallel lists of the completions API; offsets count characters of the text."""
    tokens = [vocabulary.token_bytes(entry.token_id).decode("utf-8", "replace") for entry in logprobs]
    offsets = []
    for token in tokens:
        offsets.append(offset)
        offset += len(token)
    return {
        "tokens": tokens,
        "token_logprobs": [entry.logprob for entry in logprobs],
        "top_logprobs": [
            {vocabulary.token_bytes(token).decode("utf-8", "replace"): value for token, value in entry.top}
            for entry in logprobs
        ],
        "text_offset": offsets,
    }


def _prompts(value: Any, service: Service) -> list[list[int]]:
    if isinstance(value, str):
        return [service.model.encode(value)]
    if not isinstance(value, list) or not value or (len(value) > MAX_PROMPTS and not isinstance(value[0], int)):
        raise InvalidRequestError(
            f"'prompt' must be text or token ids, or a list of up to {MAX_PROMPTS} of them.", "prompt"
        )
    if all(isinstance(item, str) for item in value):
        return [service.model.encode(item) for item in value]
    rows = [value] if all(_is_token(item, service) for item in value) else value
    if all(isinstance(row, list) and all(_is_token(item, service) for item in row) for row in rows):
        return rows
    raise InvalidRequestError("'prompt' mixes types, or holds ids outside the vocabulary.", "prompt")


def _is_token(item: Any, service: Service) -> bool:
    vocabulary = service.model.decoder.config.vocabulary
    return isinstance(item, int) and not isinstance(item, bool) and 0 <= item < vocabulary
