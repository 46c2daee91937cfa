"""One negotiation under way: asks, waits where asked to, and counts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext_noop

from drift.answers import COMPARABLE, Ask, Decoded, Exchange, Outcome, Target
from drift.said import said
from workers.probe.client import Prober
from workers.probe.decode import decode
from workers.probe.decode.body import BodyKind, read_body
from workers.probe.decode.fields import as_list, as_object
from workers.probe.negotiate.refusals import was_refused
from workers.probe.retry_after import wait_seconds

LONGEST_PATIENCE_S = 10.0
BUDGET_S = 60.0
"""Optional questions are left out once this much time has passed."""

_ANSWERED = COMPARABLE | {
    Outcome.EMPTY,
    Outcome.REASONING_ONLY,
    Outcome.FILTERED,
    Outcome.CACHED,
    Outcome.FALLBACK,
}

Reply = tuple[Exchange, Decoded]


class Conversation:
    """Asks one endpoint in varying words. `target` is the wording found to work so far."""

    def __init__(self, prober: Prober) -> None:
        self._prober = prober
        self._began = time.monotonic()
        self.target = prober.target
        self.max_tokens = 24
        self.requests = 0

    @property
    def has_time(self) -> bool:
        return time.monotonic() - self._began < BUDGET_S

    async def models(self) -> tuple[Exchange, tuple[str, ...]]:
        """The answer to `GET /models` and the model ids in it."""
        self.requests += 1
        exchange = await self._prober.models()
        if exchange.status != 200:
            return exchange, ()
        document = read_body(exchange.body).document
        entries = document if isinstance(document, list) else as_list(as_object(document).get("data"))
        names = (as_object(entry).get("id") or as_object(entry).get("name") for entry in entries)
        return exchange, tuple(name for name in names if isinstance(name, str))

    async def ask(
        self, prompt: str, parameters: Mapping[str, Any] | None = None, target: Target | None = None
    ) -> Reply:
        """One answer to `prompt`, worded as `target` with `parameters` on top. Waits out a short throttling
        once.
        """
        wording = with_parameters(target or self.target, parameters or {})
        ask = Ask(({"role": "user", "content": prompt},), self.max_tokens)
        self.requests += 1
        exchange = await self._prober.ask(ask, like=wording)
        decoded = decode(exchange)
        if decoded.outcome is Outcome.THROTTLED or (exchange.status or 0) in (502, 503):
            wait_s = wait_seconds(dict(exchange.headers), datetime.now(UTC))
            if wait_s is not None and wait_s <= LONGEST_PATIENCE_S:
                await asyncio.sleep(wait_s)
                self.requests += 1
                exchange = await self._prober.ask(ask, like=wording)
                decoded = decode(exchange)
        return exchange, decoded

    async def texts(self, prompt: str, times: int, parameters: Mapping[str, Any]) -> list[str] | None:
        """The answers to `times` equal requests; None as soon as one brings none, or time is short."""
        answers: list[str] = []
        for _ in range(times):
            if not self.has_time:
                return None
            _, decoded = await self.ask(prompt, parameters)
            if decoded.outcome not in _ANSWERED or not decoded.compared:
                return None
            answers.append(decoded.compared)
        return answers


def answered(decoded: Decoded) -> bool:
    """Whether the request was accepted, whatever the answer is good for."""
    return decoded.outcome in _ANSWERED


def with_parameters(target: Target, parameters: Mapping[str, Any]) -> Target:
    """`target` with `parameters` added; one that is None is taken out."""
    merged = {**target.parameters, **parameters}
    return replace(target, parameters={name: value for name, value in merged.items() if value is not None})


def evidence(exchange: Exchange, decoded: Decoded) -> str:
    """One line on what a request brought."""
    if answered(decoded):
        return said(gettext_noop("status {status}, {value}"), status=exchange.status, value=decoded.outcome.value)
    return (
        said(
            gettext_noop("status {status}: {error_message}"),
            status=exchange.status,
            error_message=decoded.error_message[:200],
        )
        if exchange.status
        else decoded.error_message[:200]
    )


def refused(reply: Reply) -> bool:
    return was_refused(*reply)


def choices_in(exchange: Exchange) -> int | None:
    """How many choices a whole answer holds; None when it is not a whole chat completion."""
    body = read_body(exchange.body)
    choices = as_object(body.document).get("choices") if body.kind is BodyKind.JSON else None
    return len(choices) if isinstance(choices, list) else None
