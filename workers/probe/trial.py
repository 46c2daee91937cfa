"""Performs one trial: sends a stored request again byte for byte, or a draft's canaries. Answers stay apart."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.utils import timezone

from drift import endpoints, trials
from drift.addresses import AddressRule
from drift.answers import ApiKind, Decoded, Exchange, Transport
from drift.models import Trial, TrialAnswer
from workers.probe.client import Prober
from workers.probe.decode import decode
from workers.probe.holding import ClaimLostError, keep, while_held
from workers.probe.patience import Asker
from workers.probe.traffic import Share

log = logging.getLogger(__name__)

CONCURRENCY = 4
RESTING, BUSY, FAILED = timedelta(seconds=60), timedelta(seconds=5), timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Holder:
    """A trial as `Share` knows it."""

    pk: str
    concurrency: int


def perform(trial_id: int) -> None:
    """Does the trial if it is still due. An endpoint's failure is a result; one of our own puts it back."""
    claimed = trials.claim(trial_id, timezone.now())
    if claimed is None:
        return
    trial, token = claimed
    open_rows = trials.open_answers(trial)
    share = Share(trial.endpoint, Holder(f"trial-{trial.pk}", max(1, min(CONCURRENCY, len(open_rows)))))
    refusal = share.enter()
    if refusal is not None:
        trials.wait(trial, token, timezone.now(), refusal.why, RESTING if refusal.resting else BUSY)
        return
    try:
        asyncio.run(_ask_all(trial, token, share, open_rows))
        if trials.open_answers(trial):
            trials.wait(trial, token, timezone.now(), "the endpoint rests after failures", RESTING)
        else:
            trials.end(trial, token, timezone.now())
    except ClaimLostError:
        log.warning("trial %s was taken over by another worker", trial.public_id)
    except Exception as error:
        trials.wait(trial, token, timezone.now(), f"{type(error).__name__}: {error}", FAILED)
        raise
    finally:
        share.leave()


async def _ask_all(trial: Trial, token: UUID, share: Share, rows: Sequence[TrialAnswer]) -> None:
    def renew() -> bool:
        share.keep()
        return trials.renew(trial, token, timezone.now())

    ask = _replay if trial.kind == Trial.Kind.REPLAY else _try_draft
    await while_held(ask(trial, token, share, rows), keep(renew))


async def _replay(trial: Trial, token: UUID, share: Share, rows: Sequence[TrialAnswer]) -> None:
    """Reads the former answer again by the decoder of today, so that both are read alike, then sends its request."""
    series = trial.series
    if series is None:
        raise ValueError(f"trial {trial.pk} replays nothing")
    target = replace(
        endpoints.target_of(trial.endpoint),
        kind=ApiKind(series.parameters["kind"]),
        transport=Transport(series.transport),
    )
    async with Prober(target, allow=AddressRule.parse(settings.ALLOW_PRIVATE_TARGETS)) as prober:
        for row in rows:
            if row.former:
                exchange = trials.former_exchange(trial, row)
            else:
                while share.paced and (seconds := await sync_to_async(share.pace)()) > 0:
                    await asyncio.sleep(seconds)
                exchange = await prober.resend(bytes(row.request or b""))
            decoded = decode(exchange)
            if not row.former:
                share.note(exchange, decoded)
            await _store(trial, token, row, exchange, decoded)


async def _try_draft(trial: Trial, token: UUID, share: Share, rows: Sequence[TrialAnswer]) -> None:
    rule = AddressRule.parse(settings.ALLOW_PRIVATE_TARGETS)
    left = iter(rows)
    async with Asker(endpoints.target_of(trial.endpoint), rule, share) as asker:

        async def take_all() -> None:
            for row in left:
                if not share.may_go_on():
                    return
                exchange, decoded = await asker.ask(trials.ask_of(row))
                await _store(trial, token, row, exchange, decoded)

        await asyncio.gather(*(take_all() for _ in range(share.places)))


async def _store(trial: Trial, token: UUID, row: TrialAnswer, exchange: Exchange, decoded: Decoded) -> None:
    if not await sync_to_async(trials.store)(trial, token, row, exchange, decoded):
        raise ClaimLostError
