"""When slots come due, what happens to missed ones, and who gets them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from drift import monitors, runs, schedule
from drift.claims import lease
from drift.models import Heartbeat, Monitor, Run, SeriesBucket
from tests.conftest import NOW

pytestmark = pytest.mark.django_db


def due_now(monitor: Monitor):
    """A moment just after the monitor's next slot."""
    return monitor.next_due_at + timedelta(seconds=1)


def test_a_due_monitor_gets_one_run_and_its_next_slot(monitor):
    now = due_now(monitor)
    slot = monitor.next_due_at

    schedule.claim_due_monitors(now)
    schedule.claim_due_monitors(now)

    run = Run.objects.get()
    assert (run.scheduled_for, run.state) == (slot, Run.State.DUE)
    monitor.refresh_from_db()
    assert monitor.next_due_at == slot + timedelta(seconds=monitor.cadence_s)


def test_monitors_of_one_cadence_are_spread_over_it(endpoint):
    from uuid import uuid4

    phases = [schedule.phase_s(uuid4(), 300) for _ in range(300)]
    assert len({phase // 30 for phase in phases}) == 10


def test_missed_slots_become_one_skipped_gap_and_are_not_replayed(monitor):
    first = monitor.next_due_at
    now = first + timedelta(seconds=10 * monitor.cadence_s + 1)

    schedule.claim_due_monitors(now)

    gap, run = Run.objects.order_by("scheduled_for")
    assert (gap.state, gap.scheduled_for, gap.missed_slots) == (Run.State.SKIPPED, first, 10)
    assert (run.state, run.scheduled_for) == (Run.State.DUE, first + timedelta(seconds=10 * monitor.cadence_s))


def test_a_slot_found_very_late_is_missed_too(monitor):
    schedule.claim_due_monitors(monitor.next_due_at + timedelta(seconds=monitor.cadence_s * 0.8))

    assert Run.objects.get().state == Run.State.SKIPPED


def test_a_slot_is_skipped_while_the_run_before_it_is_still_going(monitor):
    monitors.run_now(monitor, None)

    schedule.claim_due_monitors(due_now(monitor))

    skipped = Run.objects.get(state=Run.State.SKIPPED)
    assert "still going" in skipped.problem


def test_a_spent_budget_skips_with_the_reason(monitor):
    from drift.endpoints import series_of

    now = due_now(monitor)
    Monitor.objects.filter(pk=monitor.pk).update(tokens_per_day=1000)
    SeriesBucket.objects.create(
        series=series_of(monitor.endpoint, monitor.suite),
        span="day",
        starts_at=now.replace(hour=0, minute=0, second=0, microsecond=0),
        completion_tokens=900,
        prompt_tokens=200,
    )

    schedule.claim_due_monitors(now)

    assert "budget of 1,000 tokens a day is spent" in Run.objects.get().problem


def test_a_paused_monitor_rests_and_a_resumed_one_goes_on_from_its_next_slot(monitor):
    monitors.run_now(monitor, None)
    monitors.pause(monitor, "budget")
    schedule.claim_due_monitors(due_now(monitor))
    assert set(Run.objects.values_list("state", flat=True)) == {Run.State.SKIPPED}

    monitors.resume(monitor)
    assert monitor.active
    assert monitor.paused_reason == ""


def test_run_now_twice_is_one_run(monitor):
    assert monitors.run_now(monitor, None).pk == monitors.run_now(monitor, None).pk


def test_a_run_is_handed_out_again_only_when_its_message_must_be_lost(monitor):
    run = monitors.run_now(monitor, None)

    assert schedule.runs_to_publish(NOW) == [run.pk]
    assert schedule.runs_to_publish(NOW + timedelta(seconds=5)) == []
    assert schedule.runs_to_publish(NOW + timedelta(seconds=61)) == [run.pk]


def test_a_run_is_claimed_once(monitor):
    run = monitors.run_now(monitor, None)

    assert runs.claim(run.pk, NOW) is not None
    assert runs.claim(run.pk, NOW) is None


def test_a_run_whose_worker_is_gone_is_taken_back_and_its_old_worker_can_store_nothing(monitor):
    run = monitors.run_now(monitor, None)
    claimed, token = runs.claim(run.pk, NOW)

    assert runs.reap(NOW + timedelta(seconds=30)) == (0, 0)
    assert runs.reap(NOW + lease() + timedelta(seconds=1)) == (1, 0)

    run.refresh_from_db()
    assert run.state == Run.State.DUE
    assert not runs.renew(claimed, token, NOW, 3)


def test_a_run_that_keeps_losing_its_worker_fails_in_the_end(monitor):
    run = monitors.run_now(monitor, None)
    now = NOW
    for _ in range(runs.MOST_ATTEMPTS):
        runs.claim(run.pk, now)
        now += lease() + timedelta(seconds=1)
        runs.reap(now)

    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    assert "5 times" in run.problem


def test_a_tick_leaves_a_sign_of_life(db):
    schedule.note_tick(NOW)
    assert Heartbeat.objects.get(part="tick").beat_at == NOW
