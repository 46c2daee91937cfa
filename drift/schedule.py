"""When a monitor's slots come due. Several processes may do every step at once; rows and keys keep it single."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Sum
from django.utils.translation import gettext_noop

from drift import runs
from drift.models import Heartbeat, Monitor, Run, SeriesBucket, Span
from drift.partitions import ensure_sample_partitions
from drift.rollups import start_of
from drift.said import said

EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
STILL_GOING = gettext_noop("the run before it was still going")
LATE_SHARE = 0.5  # a slot found later than this share of its period is missed, not run late


def phase_s(public_id: UUID, cadence_s: int) -> int:
    """Where in its period a monitor fires: spread by hash, so that a thousand monitors do not fire at once."""
    return int.from_bytes(hashlib.sha256(public_id.bytes).digest()[:8]) % cadence_s


def slot_at_or_before(monitor: Monitor, now: datetime) -> datetime:
    """The latest slot of the monitor's grid that is not after `now`."""
    offset = phase_s(monitor.public_id, monitor.cadence_s)
    elapsed = int((now - EPOCH).total_seconds()) - offset
    return EPOCH + timedelta(seconds=elapsed // monitor.cadence_s * monitor.cadence_s + offset)


def next_slot(monitor: Monitor, now: datetime) -> datetime:
    """The first slot after `now`."""
    return slot_at_or_before(monitor, now) + timedelta(seconds=monitor.cadence_s)


def claim_due_monitors(now: datetime, limit: int = 500) -> list[Run]:
    """Makes the runs whose slot has come, and moves each monitor to its next slot.

    1. Locks due monitors, passing over those another scheduler holds (SKIP LOCKED).
    2. Writes slots that went by unseen as one skipped gap; they are never replayed.
    3. Inserts the current slot's run, unless it is over half a period late, the last run is still open or the day's
       budget is spent, which are recorded as skipped with the reason.
    """
    made: list[Run] = []
    with transaction.atomic():
        due = (
            Monitor.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(active=True, next_due_at__lte=now, endpoint__archived_at__isnull=True)
            .order_by("next_due_at")[:limit]
        )
        for monitor in due:
            made += _runs_for(monitor, now)
            monitor.next_due_at = next_slot(monitor, now)
            monitor.save(update_fields=["next_due_at"])
        Run.objects.bulk_create(made, ignore_conflicts=True)
    return made


def _runs_for(monitor: Monitor, now: datetime) -> list[Run]:
    current = slot_at_or_before(monitor, now)
    period = timedelta(seconds=monitor.cadence_s)
    runs: list[Run] = []
    missed = max(0, round((current - monitor.next_due_at) / period))
    late = (now - current) > LATE_SHARE * period
    if late:
        missed += 1
    if missed:
        runs.append(_skipped(monitor, monitor.next_due_at, said(gettext_noop("the scheduler was not running")), missed))
    if late:
        return runs
    if Run.objects.filter(monitor=monitor, state__in=[Run.State.DUE, Run.State.RUNNING]).exists():
        runs.append(_skipped(monitor, current, said(STILL_GOING)))
    elif spent := _budget_spent(monitor, now):
        runs.append(_skipped(monitor, current, spent))
    else:
        runs.append(
            Run(
                monitor=monitor,
                scheduled_for=current,
                repeats=monitor.repeats,
                concurrency=monitor.concurrency,
            )
        )
    return runs


def _skipped(monitor: Monitor, slot: datetime, why: str, missed: int = 1) -> Run:
    return Run(
        monitor=monitor,
        scheduled_for=slot,
        state=Run.State.SKIPPED,
        repeats=monitor.repeats,
        concurrency=monitor.concurrency,
        problem=why,
        missed_slots=missed,
    )


def _budget_spent(monitor: Monitor, now: datetime) -> str:
    """Why the budget forbids a run, or '' if it does not."""
    if monitor.tokens_per_day is None:
        return ""
    today = SeriesBucket.objects.filter(
        series__endpoint=monitor.endpoint_id,
        series__suite=monitor.suite_id,
        span=Span.DAY,
        starts_at=start_of(Span.DAY, now),
    ).aggregate(out=Sum("completion_tokens"), asked=Sum("prompt_tokens"))
    used = (today["out"] or 0) + (today["asked"] or 0)
    if used < monitor.tokens_per_day:
        return ""
    return said(
        gettext_noop("the budget of {budget} tokens a day is spent ({used} used)"),
        budget=f"{monitor.tokens_per_day:,}",
        used=f"{used:,}",
    )


def runs_to_publish(now: datetime, limit: int = 500) -> list[int]:
    """Ids of runs that are due and were not handed to a worker lately; marks them as handed over."""
    return runs.claims.to_publish(now, limit, ("scheduled_for",))


def note_tick(now: datetime) -> None:
    """Leaves the scheduler's sign of life, and has the sample partitions ready."""
    ensure_sample_partitions(now)
    Heartbeat.objects.update_or_create(part="tick", defaults={"beat_at": now})


def note_pulse(now: datetime) -> None:
    """Leaves the sign that a message went through the broker to a probing worker."""
    Heartbeat.objects.update_or_create(part="pulse", defaults={"beat_at": now})
