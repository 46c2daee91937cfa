"""Has the endpoint score its own answers: sampled once, then given back whole and scored (POST /completions)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from asgiref.sync import sync_to_async

from drift.answers import Decoded, Exchange
from drift.checkup.packed import unpack
from drift.checkup.questions import Question
from drift.models import CheckupStage
from workers.probe.client import Prober
from workers.probe.decode import decode

SAMPLED, SCORED = 0, 1


class Scorer:
    """Answers the two places of a question: a plain continuation of its last message, then the scores of all of it."""

    def __init__(self, prober: Prober, stage: CheckupStage) -> None:
        self._prober = prober
        self._stage = stage
        self._said: dict[str, str] = {}

    async def answer(self, question: Question, repeat: int) -> tuple[Exchange, Decoded]:
        prompt = str(question.messages[-1]["content"])
        fields: dict[str, Any] = {"prompt": prompt, "max_tokens": self._stage.max_tokens, "logprobs": 1}
        if repeat == SCORED:
            said = self._said.get(question.key) or await sync_to_async(self._stored)(question.key)
            fields |= {"prompt": prompt + said, "max_tokens": 0, "echo": True}
        exchange = await self._prober.complete({**_sampling(self._stage.parameters), **fields})
        decoded = decode(exchange)
        if repeat == SAMPLED:
            self._said[question.key] = decoded.text
        return exchange, replace(decoded, text="" if repeat == SCORED else decoded.text)

    def _stored(self, key: str) -> str:
        row = self._stage.answers.filter(question=key, repeat=SAMPLED).first()
        return unpack(bytes(row.decoded)).text if row is not None else ""


def _sampling(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What /completions shares with chat requests: how tokens are chosen, not what is said about them."""
    return {name: value for name, value in parameters.items() if name in ("temperature", "seed", "top_p", "top_k")}
