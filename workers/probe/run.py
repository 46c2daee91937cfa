"""Performs one run: claims it, asks the endpoint, stores what came back."""

from __future__ import annotations

import asyncio
import logging
import random
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.utils import timezone

from drift import endpoints, runs
from drift.addresses import AddressRule
from drift.answers import Answer, Ask
from drift.models import Canary, Run
from drift.record import record_run
from workers.probe.caching import mark_cached
from workers.probe.flight import Flight
from workers.probe.holding import ClaimLostError, keep, while_held
from workers.probe.patience import Asker
from workers.probe.retry import needs_negotiation
from workers.probe.traffic import Share

log = logging.getLogger(__name__)

LONGEST_RUN = timedelta(minutes=25)  # under Celery's hard limit


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
    share = Share(run.monitor.endpoint, run)
    refusal = share.enter()
    if refusal is not None:
        if refusal.resting:
            runs.skip(run, token, refusal.why)
        else:
            runs.postpone(run, token, timezone.now(), refusal.why)
        return
    try:
        answers = asyncio.run(_ask_all(run, token, share))
        record_run(run, token, answers, timezone.now())
        if any(needs_negotiation(answer.exchange) for answer in answers):
            endpoints.recheck_if_not_lately(run.monitor.endpoint, timezone.now())
    except ClaimLostError:
        log.warning("run %s was taken over by another worker", run.public_id)
    except Exception as error:
        runs.give_back(run, token, timezone.now(), f"{type(error).__name__}: {error}")
        raise
    finally:
        share.leave()


def order_of(run: Run, canaries: list[Canary]) -> list[Place]:
    """Every canary once per round, each round in an order of its own, so that neighbours in a batch vary."""
    shuffle = random.Random(run.pk).shuffle  # noqa: S311  an order, not a secret
    places: list[Place] = []
    for repeat in range(run.repeats):
        round_ = [Place(canary, repeat) for canary in canaries]
        shuffle(round_)
        places += round_
    return places


async def _ask_all(run: Run, token: UUID, share: Share) -> list[Answer]:
    """Asks every place of the run, as many at a time as it has a share of, and reads what came.

    Stops early when the circuit opens or the time is up: what was not asked is not stored. Raises ClaimLostError.
    """
    places = order_of(run, await sync_to_async(runs.canaries_of)(run))
    left = iter(places)
    answers: list[Answer] = []
    rule = AddressRule.parse(settings.ALLOW_PRIVATE_TARGETS)

    async with Asker(endpoints.target_of(run.monitor.endpoint), rule, share) as asker:

        async def take(place: Place) -> None:
            exchange, decoded = await asker.ask(Ask(tuple(place.canary.messages), place.canary.max_tokens))
            answers.append(Answer(place.canary.pk, place.repeat, exchange, decoded))

        flight = Flight(share.places)

        async def take_all() -> None:
            for place in left:
                async with flight.room(place.repeat):
                    if not share.may_go_on():
                        return
                    await take(place)

        async def ask() -> None:
            if share.on_trial:
                await take(next(left))
            await asyncio.gather(*(take_all() for _ in range(min(share.places, len(places)))))

        def renew() -> bool:
            share.keep()
            return runs.renew(run, token, timezone.now(), len(answers))

        await while_held(ask(), keep(renew), LONGEST_RUN)

    read = mark_cached([answer.decoded for answer in answers], [answer.exchange for answer in answers])
    return [replace(answer, decoded=decoded) for answer, decoded in zip(answers, read, strict=True)]
