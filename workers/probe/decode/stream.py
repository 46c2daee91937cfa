"""Folds a stream of server-sent events into the body that the same answer would have had in one piece."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workers.probe.decode.errors import ProviderError, error_in
from workers.probe.decode.fields import as_list, as_object, as_text
from workers.probe.decode.outcome import has_finished
from workers.probe.redact import redact

_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Folded:
    """`body` has the shape of a whole answer. `complete`: a finish reason or `[DONE]` was seen.

    `malformed` counts events that were not JSON: each may have held a piece of the answer.
    """

    body: dict[str, Any] = field(default_factory=dict)
    complete: bool = False
    malformed: int = 0
    error: ProviderError | None = None


def events(text: str) -> Iterator[tuple[str, str]]:
    """(event name, data) of each event. Comments are skipped; an event cut off by the end of the body is
    kept.
    """
    name = ""
    data: list[str] = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if not line:
            if data:
                yield name, "\n".join(data)
            name, data = "", []
            continue
        key, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if key == "data":
            data.append(value)
        elif key == "event":
            name = value
    if data:
        yield name, "\n".join(data)


def fold(text: str) -> Folded:
    """The whole answer in `text`, an event stream of chat chunks or of Responses events."""
    chat = _Chat()
    done, malformed = False, 0
    error: ProviderError | None = None
    final: Mapping[str, Any] | None = None
    response_deltas: list[str] = []
    for name, data in events(text):
        if data.strip() == "[DONE]":
            done = True
            continue
        try:
            chunk = _DECODER.decode(data)
        except (ValueError, RecursionError):
            if name == "error":
                error = error or ProviderError(redact(data))
            else:
                malformed += 1
            continue
        kind = as_text(as_object(chunk).get("type"))
        if kind.startswith("response."):
            if kind in ("response.completed", "response.incomplete", "response.failed"):
                final = as_object(chunk.get("response"))
            elif kind == "response.output_text.delta":
                response_deltas.append(as_text(chunk.get("delta")))
            continue
        found = error_in(chunk) if name != "error" else error_in(chunk) or ProviderError(redact(data))
        error = error or found
        chat.add(as_object(chunk))
    if final is not None:
        return Folded(dict(final), True, malformed, error or error_in(final))
    if response_deltas:
        content = [{"type": "output_text", "text": "".join(response_deltas)}]
        body = {"object": "response", "output": [{"type": "message", "content": content}]}
        return Folded(body, False, malformed, error)
    return Folded(chat.body(), chat.finished or (done and chat.chunks > 0), malformed, error)


@dataclass(slots=True)
class _Chat:
    """Chat chunks so far. Only choice 0 is folded: one answer is what was asked for."""

    chunks: int = 0
    finished: bool = False
    top: dict[str, Any] = field(default_factory=dict)
    finish: Any = None
    content: list[Any] = field(default_factory=list)
    content_seen: bool = False
    pieces: dict[str, list[Any]] = field(default_factory=dict)  # reasoning, refusal: field name -> deltas
    calls: dict[int, dict[str, Any]] = field(default_factory=dict)
    last_call: int = -1
    scores: list[Any] = field(default_factory=list)
    legacy: dict[str, list[Any]] = field(default_factory=dict)
    whole_message: Mapping[str, Any] | None = None
    choice_seen: bool = False
    extras: dict[str, Any] = field(default_factory=dict)

    def add(self, chunk: Mapping[str, Any]) -> None:
        self.chunks += 1
        for name, value in chunk.items():
            if name != "choices":
                self._keep(name, value)
        for choice in as_list(chunk.get("choices")):
            if isinstance(choice, dict) and choice.get("index", 0) in (0, None):
                self._add_choice(choice)

    def _keep(self, name: str, value: Any) -> None:
        """The last value that says something wins; null and '' never overwrite a value, '' does null."""
        earlier = self.top.get(name)
        if name not in self.top or value or earlier is None:
            if name in ("id", "created", "model") and earlier:
                return
            self.top[name] = value

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        self.choice_seen = True
        if choice.get("finish_reason") is not None and (has_finished(choice["finish_reason"]) or not self.finished):
            self.finish = choice["finish_reason"]
            self.finished = self.finished or has_finished(self.finish)
        self.extras.update({name: choice[name] for name in ("seed", "error") if choice.get(name) is not None})
        self._add_scores(choice.get("logprobs"))
        if isinstance(choice.get("message"), dict):
            self.whole_message = choice["message"]
        delta = as_object(choice.get("delta"))
        if isinstance(choice.get("text"), str):
            self._add_content(choice["text"])
        if delta.get("content") is not None:
            self._add_content(delta["content"])
        for name in ("reasoning_content", "reasoning", "reasoning_details", "refusal"):
            if delta.get(name):
                self.pieces.setdefault(name, []).append(delta[name])
        for call in as_list(delta.get("tool_calls")):
            self._add_call(as_object(call))
        if as_object(delta.get("function_call")):
            self._add_call({"index": 0, "function": delta["function_call"]})

    def _add_content(self, content: Any) -> None:
        self.content_seen = True
        self.content.append(content)

    def _add_call(self, call: Mapping[str, Any]) -> None:
        index = call.get("index")
        if not isinstance(index, int):
            # Without an index a new id opens a new call.
            index = self.last_call + 1 if call.get("id") or self.last_call < 0 else self.last_call
        self.last_call = index
        function = as_object(call.get("function"))
        kept = self.calls.setdefault(index, {"name": [], "arguments": []})
        kept["name"].append(as_text(function.get("name")))
        arguments = function.get("arguments")
        if arguments is not None:
            kept["arguments"].append(arguments if isinstance(arguments, str) else json.dumps(arguments, sort_keys=True))

    def _add_scores(self, value: Any) -> None:
        scores = as_object(value)
        self.scores += as_list(scores.get("content"))
        for name in ("tokens", "token_logprobs", "top_logprobs"):
            if isinstance(scores.get(name), list):
                self.legacy.setdefault(name, []).extend(scores[name])

    def body(self) -> dict[str, Any]:
        """The folded answer."""
        if not self.choice_seen:
            return {**self.top, "choices": []} if self.chunks else {}
        message: dict[str, Any] = dict(self.whole_message or {}) if not self.content_seen else {}
        if self.content_seen:
            texts = all(isinstance(piece, str) for piece in self.content)
            message["content"] = "".join(self.content) if texts else _flat(self.content)
        message.update({name: _joined(pieces) for name, pieces in self.pieces.items()})
        if self.calls:
            message["tool_calls"] = [
                {"function": {"name": "".join(call["name"]), "arguments": "".join(call["arguments"])}}
                for _, call in sorted(self.calls.items())
            ]
        choice: dict[str, Any] = {"index": 0, "finish_reason": self.finish, "message": message, **self.extras}
        if self.scores:
            choice["logprobs"] = {"content": self.scores}
        elif self.legacy:
            choice["logprobs"] = self.legacy
        return {**self.top, "choices": [choice]}


def _joined(pieces: list[Any]) -> Any:
    return "".join(pieces) if all(isinstance(piece, str) for piece in pieces) else _flat(pieces)


def _flat(pieces: list[Any]) -> list[Any]:
    return [part for piece in pieces for part in (piece if isinstance(piece, list) else [piece])]
