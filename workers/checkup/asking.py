"""Asks what is missing of one stage, as many requests at a time as it has a share of."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections
from django.utils import timezone

from drift import endpoints
from drift.addresses import AddressRule
from drift.answers import Ask, Decoded, Exchange
from drift.checkup import life, store
from drift.checkup.plan import order_of
from drift.checkup.questions import Question
from drift.checkup.store import Asked
from drift.models import Checkup, CheckupStage
from workers.checkup.budget import Budget, CapReachedError
from workers.checkup.scoring import Scorer
from workers.probe.client import Prober
from workers.probe.holding import ClaimLostError, keep
from workers.probe.patience import Asker
from workers.probe.traffic import Share

Answerer = Callable[[Question, int], Coroutine[Any, Any, tuple[Exchange, Decoded]]]


@dataclass(frozen=True, slots=True)
class Turn:
    """One claim's work: until when it may go on, and who is told of progress."""

    checkup: Checkup
    token: UUID
    budget: Budget
    until: datetime
    on_answer: Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Holder:
    """A stage as `Share` knows it."""

    pk: str
    concurrency: int


def open_places(stage: CheckupStage, questions: Mapping[str, Question]) -> list[tuple[Question, int]]:
    """What has no answer yet, in the order of asking."""
    asked = [questions[key] for key in stage.only or questions]
    stored = set(stage.answers.values_list("question", "repeat"))
    order = order_of(stage.kind, asked, stage.repeats, stage.pk)
    return [(question, repeat) for question, repeat in order if (question.key, repeat) not in stored]


async def ask_stage(turn: Turn, stage: CheckupStage, places: list[tuple[Question, int]], share: Share) -> None:
    """Asks the places and stores each answer as it comes. Stops early at the end of the turn, or when the circuit
    opens. Raises ClaimLostError and CapReachedError.
    """
    endpoint = turn.checkup.endpoint
    if endpoint is None:
        raise ValueError(f"check-up {turn.checkup.pk} was recorded elsewhere")
    target = replace(endpoints.target_of(endpoint), parameters=stage.parameters)
    rule = AddressRule.parse(settings.ALLOW_PRIVATE_TARGETS)
    async with Asker(target, rule, share) as asker:

        async def answer(question: Question, repeat: int) -> tuple[Exchange, Decoded]:
            return await asker.ask(Ask(question.messages, stage.max_tokens))

        await _ask_all(turn, stage, places, share, answer)


async def ask_scores(turn: Turn, stage: CheckupStage, places: list[tuple[Question, int]], share: Share) -> None:
    """The same for the stage that has own answers scored. One request at a time: each needs the one before."""
    endpoint = turn.checkup.endpoint
    if endpoint is None:
        raise ValueError(f"check-up {turn.checkup.pk} was recorded elsewhere")
    rule = AddressRule.parse(settings.ALLOW_PRIVATE_TARGETS)
    async with Prober(endpoints.target_of(endpoint), allow=rule) as prober:
        await _ask_all(turn, stage, places, share, Scorer(prober, stage).answer, most=1)


async def _ask_all(
    turn: Turn,
    stage: CheckupStage,
    places: list[tuple[Question, int]],
    share: Share,
    answer: Answerer,
    most: int | None = None,
) -> None:
    left: Iterator[tuple[Question, int]] = iter(places)
    came: asyncio.Queue[Asked | None] = asyncio.Queue()
    reached: list[CapReachedError] = []

    async def take(question: Question, repeat: int) -> None:
        with turn.budget.reserved(question, stage.max_tokens) as spending:
            exchange, decoded = await answer(question, repeat)
            spending.usage = decoded.usage
        came.put_nowait(Asked(question.key, repeat, exchange, decoded))

    async def take_all() -> None:
        # a cap stops new requests; those in flight are paid for and end as they will
        for question, repeat in left:
            if reached or not share.may_go_on() or timezone.now() >= turn.until:
                return
            try:
                await take(question, repeat)
            except CapReachedError as cap:
                reached.append(cap)

    async def ask() -> None:
        if share.on_trial and places:
            await take(*next(left))
        await asyncio.gather(*(take_all() for _ in range(min(most or share.places, share.places, len(places)))))
        if reached:
            raise reached[0]

    def renew() -> bool:
        share.keep()
        return life.renew(turn.checkup, turn.token, timezone.now())

    asking = asyncio.ensure_future(ask())
    keeping = asyncio.ensure_future(keep(renew))
    storing = asyncio.ensure_future(_store_what_comes(turn, stage, came))
    try:
        await asyncio.wait({asking, keeping, storing}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        asking.cancel()
        keeping.cancel()
        ends: list[object] = list(await asyncio.gather(asking, keeping, return_exceptions=True))
        # whatever came is stored before anything is given up
        came.put_nowait(None)
        ends += await asyncio.gather(storing, return_exceptions=True)
        await sync_to_async(connections.close_all)()
    for end in reversed(ends):
        if isinstance(end, BaseException) and not isinstance(end, asyncio.CancelledError):
            raise end


async def _store_what_comes(turn: Turn, stage: CheckupStage, came: asyncio.Queue[Asked | None]) -> None:
    """Everything that waits in one transaction, until None comes. Raises ClaimLostError."""
    over = False
    while not over:
        waiting = [await came.get()]
        waiting += [came.get_nowait() for _ in range(came.qsize())]
        over = None in waiting
        batch = [one for one in waiting if one is not None]
        if batch and not await sync_to_async(_keep_answers)(turn, stage, batch):
            raise ClaimLostError


def _keep_answers(turn: Turn, stage: CheckupStage, batch: list[Asked]) -> bool:
    kept = store.store(turn.checkup, turn.token, stage, batch)
    if kept:
        turn.on_answer(turn.checkup.answered)
    return kept
