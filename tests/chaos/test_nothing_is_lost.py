"""Processes die and the broker forgets; every slot is still run once, with every sample, and none twice."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from datetime import timedelta

import psutil
import pytest
from django.db import connection
from django.utils import timezone

from drift import monitors, schedule
from drift.models import Endpoint, Monitor, Run, Sample
from tests.conftest import redis_client
from tests.stack import answering_server, wait_until

SAMPLES = 2 * 5  # canaries x repeats


@pytest.fixture
def slow(endpoint: Endpoint):
    """The endpoint answers after a while, so that there is a middle to kill a run in."""
    with answering_server(delay_s=0.4) as (url, asked):
        Endpoint.objects.filter(pk=endpoint.pk).update(base_url=url)
        yield asked


def all_finished() -> bool:
    states = Counter(Run.objects.values_list("state", flat=True))
    return states[Run.State.DUE] == 0 and states[Run.State.RUNNING] == 0


def test_a_due_monitor_is_probed_end_to_end(processes, monitor, slow):
    processes.scheduler()
    processes.worker()
    Monitor.objects.update(next_due_at=timezone.now(), cadence_s=60)

    wait_until(lambda: Run.objects.filter(state=Run.State.FINISHED).exists(), 60, "the first finished run")

    run = Run.objects.filter(state=Run.State.FINISHED).first()
    assert run.samples_stored == run.samples_comparable == SAMPLES
    assert Sample.objects.filter(run=run).values("output").distinct().count() == 2


def test_two_workers_and_two_ticks_at_once_never_run_a_slot_twice(processes, monitor, slow):
    processes.worker("one")
    processes.worker("two")
    processes.scheduler("tick-one")
    processes.scheduler("tick-two")
    monitors.run_now(monitor, None)
    wait_until(lambda: Run.objects.filter(state=Run.State.FINISHED).count() >= 1, 60, "the run asked for")
    Monitor.objects.update(cadence_s=30, next_due_at=timezone.now() - timedelta(seconds=1))
    wait_until(lambda: Run.objects.count() >= 2, 60, "a scheduled slot")
    wait_until(all_finished, 60, "all runs finished")

    finished = Run.objects.filter(state=Run.State.FINISHED)
    assert all(run.samples_stored == SAMPLES and run.attempts == 1 for run in finished)
    assert len(slow) == SAMPLES * finished.count()


def test_many_schedulers_at_the_same_instant_make_one_run(transactional_db, monitor):
    now = monitor.next_due_at + timedelta(seconds=1)
    start = threading.Barrier(8)

    def tick() -> None:
        start.wait()
        schedule.claim_due_monitors(now)
        connection.close()

    threads = [threading.Thread(target=tick) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert Run.objects.count() == 1


def test_a_worker_child_killed_in_mid_run_is_replaced_and_the_run_finishes_once(processes, monitor, slow):
    worker = processes.worker()
    processes.scheduler()
    run = monitors.run_now(monitor, None)
    wait_until(lambda: len(slow) >= 3, 60, "the middle of the run")

    for child in psutil.Process(worker.pid).children():
        os.kill(child.pid, signal.SIGKILL)

    wait_until(lambda: Run.objects.get(pk=run.pk).state == Run.State.FINISHED, 60, "the run finished after all")
    run.refresh_from_db()
    assert run.attempts == 2
    assert Sample.objects.filter(run=run).count() == run.samples_stored == SAMPLES


def test_a_whole_worker_killed_in_mid_run_loses_nothing(processes, monitor, slow):
    worker = processes.worker("first")
    processes.scheduler()
    run = monitors.run_now(monitor, None)
    wait_until(lambda: len(slow) >= 3, 60, "the middle of the run")

    os.killpg(worker.pid, signal.SIGKILL)
    processes.worker("second")

    wait_until(lambda: Run.objects.get(pk=run.pk).state == Run.State.FINISHED, 60, "the run finished after all")
    assert Sample.objects.filter(run=run).count() == SAMPLES


def test_a_broker_that_forgets_everything_loses_no_run(processes, monitor, slow):
    processes.scheduler()
    run = monitors.run_now(monitor, None)
    wait_until(lambda: Run.objects.get(pk=run.pk).published_at is not None, 60, "the run handed out")

    redis_client().flushdb()
    processes.worker()

    wait_until(lambda: Run.objects.get(pk=run.pk).state == Run.State.FINISHED, 60, "the run finished after all")
    assert Sample.objects.filter(run=run).count() == SAMPLES


def test_an_endpoint_that_never_answers_does_not_slow_the_others(processes, team, suite, monitor):
    stuck = Endpoint.objects.create(
        team=team, name="stuck", base_url="http://127.0.0.1:9/v1", model="none", deadline_s=2.0
    )
    with answering_server(delay_s=60) as (stuck_url, _), answering_server() as (good_url, _):
        Endpoint.objects.filter(pk=stuck.pk).update(base_url=stuck_url)
        Endpoint.objects.filter(pk=monitor.endpoint_id).update(base_url=good_url)
        stuck_monitor = monitors.create(endpoint=stuck, suite=suite, repeats=2, concurrency=2)
        good = monitors.run_now(monitor, None)
        processes.worker()
        processes.scheduler()

        wait_until(lambda: Run.objects.get(pk=good.pk).state == Run.State.FINISHED, 60, "the healthy endpoint's run")
        wait_until(lambda: not stuck_monitor.runs.filter(state="due").exists(), 60, "the stuck run taken up")
        wait_until(all_finished, 60, "the stuck run given up")

    outcomes = set(Sample.objects.filter(series__endpoint=stuck).values_list("outcome", flat=True))
    assert outcomes == {"timeout"}
    assert "deadline" in stuck_monitor.runs.first().problem
