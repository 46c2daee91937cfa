"""Performs one run: claims it, asks the endpoint, stores what came back."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections
from django.utils import timezone

from drift import runs
from drift.addresses import AddressRule
from drift.answers import Ask
from drift.endpoints import target_of
from drift.models import Canary, Run
from drift.record import Answer, record_run
from workers.probe.caching import mark_cached
from workers.probe.client import Prober
from workers.probe.decode import decode

log = logging.getLogger(__name__)

RENEW_EVERY_S = 5.0
LONGEST_RUN = timedelta(minutes=25)  # under Celery's hard limit


class ClaimLostError(Exception):
    """Another worker holds the run now; what was asked here is thrown away."""


@dataclass(frozen=True, slots=True)
class Place:
    """One question of a run: which canary, which repeat."""

    canary: Canary
    repeat: int


def perform(run_id: int) -> None:
    """Does the run if it is still due. A failure of our own gives it back; an endpoint's failure is a result."""
    claimed = runs.claim(run_id, timezone.now())
    if claimed is None:
        return
    run, token = claimed
    canaries = runs.canaries_of(run)
    try:
        answers = asyncio.run(_ask_all(run, token, canaries))
        record_run(run, token, answers, timezone.now())
    except ClaimLostError:
        log.warning("run %s was taken over by another worker", run.public_id)
    except Exception as error:
        runs.give_back(run, token, timezone.now(), f"{type(error).__name__}: {error}")
        raise


def order_of(run: Run, canaries: list[Canary]) -> list[Place]:
    """Every canary once per round, each round in an order of its own, so that neighbours in a batch vary."""
    shuffle = random.Random(run.pk).shuffle  # noqa: S311  an order, not a secret
    places: list[Place] = []
    for repeat in range(run.repeats):
        round_ = [Place(canary, repeat) for canary in canaries]
        shuffle(round_)
        places += round_
    return places


async def _ask_all(run: Run, token: UUID, canaries: list[Canary]) -> list[Answer]:
    """Asks every place of the run, `concurrency` at a time, and reads what came. Raises ClaimLostError."""
    places = order_of(run, canaries)
    left = iter(places)
    answers: list[Answer] = []
    rule = AddressRule.parse(settings.ALLOW_PRIVATE_TARGETS)

    async with Prober(target_of(run.monitor.endpoint), allow=rule) as prober:

        async def take() -> None:
            for place in left:
                exchange = await prober.ask(Ask(tuple(place.canary.messages), place.canary.max_tokens))
                answers.append(Answer(place.canary.pk, place.repeat, exchange, decode(exchange)))

        takers = [take() for _ in range(min(run.concurrency, len(places)))]
        asking = asyncio.ensure_future(asyncio.gather(*takers))
        keeping = asyncio.ensure_future(_keep_lease(run, token, lambda: len(answers)))
        try:
            await asyncio.wait(
                {asking, keeping}, timeout=LONGEST_RUN.total_seconds(), return_when=asyncio.FIRST_COMPLETED
            )
            for ended in (asking, keeping):
                if ended.done():
                    ended.result()
        finally:
            for task in (asking, keeping):
                task.cancel()
            await asyncio.gather(asking, keeping, return_exceptions=True)

    read = mark_cached([answer.decoded for answer in answers], [answer.exchange for answer in answers])
    return [replace(answer, decoded=decoded) for answer, decoded in zip(answers, read, strict=True)]


async def _keep_lease(run: Run, token: UUID, done: Callable[[], int]) -> None:
    """Renews the lease and notes progress while the run goes on. Raises ClaimLostError when someone else took it."""

    def renew() -> bool:
        try:
            return runs.renew(run, token, timezone.now(), done())
        finally:
            connections.close_all()

    while True:
        await asyncio.sleep(RENEW_EVERY_S)
        if not await sync_to_async(renew)():
            raise ClaimLostError
