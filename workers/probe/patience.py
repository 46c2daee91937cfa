"""Asks once more where that can help, at the endpoint's pace, counting every attempt."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol, Self

from asgiref.sync import sync_to_async

from drift.addresses import AddressRule
from drift.answers import Ask, Decoded, Exchange, Target
from workers.probe.client import Prober
from workers.probe.decode import decode
from workers.probe.retry import next_attempt

LONGEST_WAIT_S = 30.0  # a longer wish is for the circuit breaker: no request hangs about for it


class Gate(Protocol):
    """What decides whether and when a request may go out."""

    @property
    def paced(self) -> bool: ...
    def pace(self) -> float: ...
    def may_go_on(self) -> bool: ...
    def note(self, exchange: Exchange, decoded: Decoded) -> None: ...


class Asker:
    """One endpoint, asked with patience. An async context manager: it keeps the connections."""

    def __init__(self, target: Target, rule: AddressRule, gate: Gate) -> None:
        self._target = target
        self._rule = rule
        self._gate = gate
        self._stack = AsyncExitStack()
        self._probers: dict[tuple[str, ...], Prober] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def _prober(self, without: tuple[str, ...]) -> Prober:
        if without not in self._probers:
            kept = {name: value for name, value in self._target.parameters.items() if name not in without}
            prober = Prober(replace(self._target, parameters=kept), allow=self._rule)
            self._probers[without] = await self._stack.enter_async_context(prober)
        return self._probers[without]

    async def ask(self, ask: Ask) -> tuple[Exchange, Decoded]:
        """The answer that stands in the end, with the number of attempts it took."""
        without: tuple[str, ...] = ()
        attempt = 1
        while True:
            if self._gate.paced:
                while (wait := await sync_to_async(self._gate.pace)()) > 0:
                    await asyncio.sleep(wait)
            exchange = await (await self._prober(without)).ask(ask)
            decoded = decode(exchange)
            self._gate.note(exchange, decoded)
            retry = next_attempt(exchange, decoded, attempt, datetime.now(UTC))
            if retry is None or retry.wait_s > LONGEST_WAIT_S or not self._gate.may_go_on():
                return replace(exchange, attempts=max(attempt, exchange.attempts)), decoded
            without = retry.without or without
            attempt += 1
            await asyncio.sleep(retry.wait_s)
