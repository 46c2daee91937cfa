"""Makes the past of a simulated endpoint: its answers at a faster clock, through the same road as real ones."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import uuid4

from django.db import transaction

from drift.answers import Answer, Ask
from drift.endpoints import series_of, target_of
from drift.models import Monitor, Run
from drift.record import record_run
from drift.runs import canaries_of
from workers.probe.caching import mark_cached
from workers.probe.decode import decode
from workers.simulate.exchange import exchange_at
from workers.simulate.scenario import Scenario


def make_history(
    monitor: Monitor, scenario: Scenario, *, begin: datetime, until: datetime, every: timedelta
) -> Iterator[datetime]:
    """Runs every slot between `begin` and `until` that is not there yet; yields each slot when it is stored.

    Slots lie on a grid from `begin`, so that a history that was cut short goes on where it stopped.
    """
    last = Run.objects.filter(monitor=monitor, state=Run.State.FINISHED).order_by("-scheduled_for").first()
    slot = begin if last is None else last.scheduled_for + every
    while slot < until:
        with transaction.atomic():  # a history that is killed leaves no half-made slot
            _run_slot(monitor, scenario, begin, slot)
        yield slot
        slot += every


def _run_slot(monitor: Monitor, scenario: Scenario, begin: datetime, slot: datetime) -> None:
    claim = uuid4()
    run = Run.objects.create(
        monitor=monitor,
        series=series_of(monitor.endpoint, monitor.suite),
        scheduled_for=slot,
        state=Run.State.RUNNING,
        claim=claim,
        lease_until=slot + timedelta(hours=1),
        started_at=slot,
        attempts=1,
        repeats=monitor.repeats,
        concurrency=monitor.concurrency,
    )
    target = target_of(monitor.endpoint)
    first = int((slot - begin).total_seconds())  # request numbers never repeat between slots
    asked = [(canary, repeat) for repeat in range(monitor.repeats) for canary in canaries_of(run)]
    exchanges = [
        exchange_at(
            scenario,
            target,
            Ask(tuple(canary.messages), canary.max_tokens),
            at=slot + timedelta(seconds=0.5 * place),
            begin=begin,
            index=first + place,
        )
        for place, (canary, _) in enumerate(asked)
    ]
    read = mark_cached([decode(exchange) for exchange in exchanges], exchanges)
    answers = [
        Answer(canary.pk, repeat, exchange, decoded)
        for (canary, repeat), exchange, decoded in zip(asked, exchanges, read, strict=True)
    ]
    record_run(run, claim, answers, slot + timedelta(seconds=0.5 * len(asked) + 5))
