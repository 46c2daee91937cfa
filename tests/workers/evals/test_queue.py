"""The same road through the real queue: a due run is found by the tick, handed to a worker, and finished."""

from __future__ import annotations

import pytest

from drift.evals.plan import ArmPlan, start
from drift.models import EvalRun
from tests.stack import wait_until

pytestmark = pytest.mark.timeout(240)


def test_a_run_that_is_started_on_a_page_is_done_by_a_worker(
    chat, endpoint_at, version, processes, monkeypatch
) -> None:
    monkeypatch.setenv("ALLOW_PRIVATE_TARGETS", "127.0.0.0/8")
    server = chat()
    run = start(version, [ArmPlan(endpoint_at(server.url))], repeats=3)
    processes.worker()
    processes.scheduler()

    def finished() -> bool:
        run.refresh_from_db()
        return run.state == EvalRun.State.FINISHED

    wait_until(finished, 120, f"the run to finish; worker: {processes.log('worker')[-500:]}")
    assert (run.answered, run.graded, len(server.asked)) == (18, 18, 18)
