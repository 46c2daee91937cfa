"""Asks simulated endpoints over real loopback connections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from drift.answers import Ask, Decoded, Exchange, Target
from tests.workers.probe.loopback import LOOPBACK
from workers.probe.caching import mark_cached
from workers.probe.client import Prober
from workers.probe.decode import decode
from workers.probe.negotiate import Negotiation, negotiate
from workers.simulate import NAMED, Clock, Scenario, Simulator

TIDES = Ask(({"role": "user", "content": "What makes the tides?"},), max_tokens=60)
WISHES = {"temperature": 0, "seed": 7}
SCORES = {**WISHES, "logprobs": True, "top_logprobs": 5}


@dataclass(frozen=True)
class Run:
    """What one run against a simulated endpoint brought."""

    exchanges: list[Exchange]
    answers: list[Decoded]

    @property
    def outcomes(self) -> list[str]:
        return [answer.outcome.value for answer in self.answers]

    @property
    def texts(self) -> list[str]:
        return [answer.text for answer in self.answers]


def scenario(name: str, **changes: Any) -> Scenario:
    return replace(NAMED[name], **changes)


async def ask(
    name: str | Scenario, times: int = 1, ask: Ask = TIDES, advance_s: Sequence[float] = (), **target: Any
) -> Run:
    """Asks the simulated endpoint one call after the other; `advance_s` moves its clock before each call."""
    chosen = NAMED[name] if isinstance(name, str) else name
    target.setdefault("parameters", WISHES)
    target.setdefault("deadline_s", 5.0)
    target.setdefault("model", chosen.model)
    clock = Clock()
    exchanges: list[Exchange] = []
    async with Simulator(chosen, clock=clock) as simulator:
        endpoint = Target(simulator.url(), **target)
        async with Prober(endpoint, allow=LOOPBACK) as prober:
            for number in range(times):
                clock.advance(advance_s[number] if number < len(advance_s) else 0.0)
                exchanges.append(await prober.ask(ask))
    answers = mark_cached([decode(exchange) for exchange in exchanges], exchanges)
    return Run(exchanges, answers)


async def register(name: str | Scenario, path: str = "/v1", **target: Any) -> Negotiation:
    """Negotiates with the simulated endpoint as at its registration."""
    chosen = NAMED[name] if isinstance(name, str) else name
    target.setdefault("parameters", SCORES)
    target.setdefault("deadline_s", 5.0)
    target.setdefault("model", chosen.model)
    async with Simulator(chosen) as simulator:
        base_url = simulator.url().removesuffix("/v1") + path
        return await negotiate(Target(base_url, **target), allow=LOOPBACK)
