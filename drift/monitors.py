"""What people do with monitors: make, change, pause, resume, run now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from drift.models import Endpoint, Monitor, Run, Suite, User
from drift.said import cut, said
from drift.schedule import next_slot


def create(*, endpoint: Endpoint, suite: Suite, run_at_once: bool = True, **fields: Any) -> Monitor:
    """A monitor, with a first run due now unless `run_at_once` is False."""
    now = timezone.now()
    with transaction.atomic():
        monitor = Monitor.objects.create(endpoint=endpoint, suite=suite, next_due_at=now, **fields)
        monitor.next_due_at = next_slot(monitor, now)
        monitor.save(update_fields=["next_due_at"])
        if run_at_once:
            run_now(monitor, None)
    return monitor


def store(fresh: Sequence[Monitor]) -> None:
    """Stores new monitors with their next slots, and a first run due now for each that is active."""
    now = timezone.now()
    with transaction.atomic():
        Monitor.objects.bulk_create(fresh)
        for monitor in fresh:
            monitor.next_due_at = next_slot(monitor, now)
        Monitor.objects.bulk_update(fresh, ["next_due_at"])
        Run.objects.bulk_create(
            Run(
                monitor=monitor,
                scheduled_for=now,
                origin=Run.Origin.PERSON,
                repeats=monitor.repeats,
                concurrency=monitor.concurrency,
            )
            for monitor in fresh
            if monitor.active
        )


def change(monitor: Monitor, **fields: Any) -> None:
    """Changes cadence, repeats, concurrency or budget; the next slot follows the new cadence."""
    for name, value in fields.items():
        setattr(monitor, name, value)
    monitor.next_due_at = next_slot(monitor, timezone.now())
    monitor.save()


def pause(monitor: Monitor, reason: str = "") -> None:
    """Stops scheduling. A run in progress ends; waiting ones are dropped."""
    now = timezone.now()
    with transaction.atomic():
        Monitor.objects.filter(pk=monitor.pk).update(active=False, paused_at=now, paused_reason=cut(reason, 200))
        Run.objects.filter(monitor=monitor, state=Run.State.DUE).update(
            state=Run.State.SKIPPED, problem=said(gettext_noop("the monitor was paused")), missed_slots=1
        )
    monitor.refresh_from_db()


def resume(monitor: Monitor) -> None:
    """Starts scheduling again, from the next slot."""
    monitor.active = True
    monitor.paused_at = None
    monitor.paused_reason = ""
    monitor.next_due_at = next_slot(monitor, timezone.now())
    monitor.save()


def run_now(monitor: Monitor, user: User | None) -> Run:
    """A run due at this moment. One that is already waiting or running is returned instead of a second."""
    with transaction.atomic():
        Monitor.objects.select_for_update().get(pk=monitor.pk)
        open_run = Run.objects.filter(monitor=monitor, state__in=[Run.State.DUE, Run.State.RUNNING]).first()
        return open_run or Run.objects.create(
            monitor=monitor,
            scheduled_for=timezone.now(),
            origin=Run.Origin.PERSON,
            requested_by=user,
            repeats=monitor.repeats,
            concurrency=monitor.concurrency,
        )
