"""A request as the simulator reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. Header names are in lower case; `fields` is the JSON body, {} when it has none."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def fields(self) -> dict[str, Any]:
        try:
            value = json.loads(self.body or b"{}")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def route(self) -> str:
        """The path without query and trailing slash."""
        return self.path.partition("?")[0].rstrip("/")


def prompt_of(fields: Mapping[str, Any]) -> str:
    """The conversation as one string."""
    messages = fields.get("messages", fields.get("input", ""))
    if isinstance(messages, str):
        return messages
    return "\n".join(
        f"{message.get('role')}: {message.get('content')}" for message in messages or () if isinstance(message, dict)
    )


def cap_of(fields: Mapping[str, Any]) -> int:
    for name in ("max_completion_tokens", "max_tokens", "max_output_tokens"):
        value = fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return 4096


def scores_wanted(fields: Mapping[str, Any]) -> int | None:
    """How many alternatives per token are asked for; None when no scores are."""
    if isinstance(fields.get("include"), list) and "message.output_text.logprobs" in fields["include"]:
        return int(fields.get("top_logprobs") or 0)
    wanted = fields.get("logprobs")
    if wanted is None or wanted is False:
        return None
    if isinstance(wanted, int) and not isinstance(wanted, bool):
        return wanted
    return int(fields.get("top_logprobs") or 0)
