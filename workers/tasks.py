"""What the queue can ask for: each task names a capability and passes an id."""

from __future__ import annotations

import logging
from datetime import datetime

from django.utils import timezone

from drift import alerts, deliveries, drills, endpoints, incidents, retention, runs, schedule, trials
from drift.checkup import answer_files
from drift.checkup import life as checkups
from drift.evals import runs as evals
from drift.findings import absence
from drift.logs import in_run
from workers.celery import app

log = logging.getLogger(__name__)


@app.task
def tick() -> None:
    """Takes back what is stuck, makes runs whose slot has come, and hands out whatever is due."""
    now = timezone.now()
    runs_back, checks_back = runs.reap(now)
    if runs_back or checks_back:
        log.warning("took back %d runs and %d checks whose worker was gone", runs_back, checks_back)
    if evals_back := evals.reap(now):
        log.warning("took back %d eval runs whose worker was gone", evals_back)
    if checkups_back := checkups.reap(now):
        log.warning("took back %d check-ups whose worker was gone", checkups_back)
    if trials_back := trials.reap(now):
        log.warning("took back %d trials whose worker was gone", trials_back)
    if files_back := answer_files.reap(now):
        log.warning("took back %d files of answers whose worker was gone", files_back)
    schedule.claim_due_monitors(now)
    for run_id in schedule.runs_to_publish(now):
        probe.delay(run_id)
    for check_id in endpoints.checks_to_publish(now):
        check.delay(check_id)
    for eval_id in evals.to_publish(now):
        eval_run.delay(eval_id)
    for checkup_id in checkups.to_publish(now):
        checkup.delay(checkup_id)
    for file_id in answer_files.to_publish(now):
        answer_file.delay(file_id)
    for trial_id in trials.to_publish(now):
        trial.delay(trial_id)
    try:
        _tend_alerts(now)
    except Exception:
        log.exception("alerts could not be tended; probing goes on")
    if retention.is_due(now):
        prune.apply_async(expires=3600)
    pulse.apply_async(expires=60)
    schedule.note_tick(now)


def _tend_alerts(now: datetime) -> None:
    """Finds what is missing, ends silences and acknowledgements, reminds, and hands out what is to be sent."""
    absence.look(now)
    incidents.end_acknowledgements(now)
    alerts.catch_up(now)
    alerts.remind(now)
    alerts.summarise(now)
    deliveries.reap(now)
    drills.reap(now)
    for delivery_id in deliveries.to_publish(now):
        notify.delay(delivery_id)
    for drill_id in drills.to_publish(now):
        drill.delay(drill_id)


@app.task
def probe(run_id: int) -> None:
    from workers.probe.run import perform

    with in_run(run_id):
        perform(run_id)


@app.task
def check(check_id: int) -> None:
    from workers.probe.check import perform

    perform(check_id)


@app.task
def drill(drill_id: int) -> None:
    from workers.drill import perform

    perform(drill_id)


@app.task
def notify(delivery_id: int) -> None:
    from workers.notify.deliver import perform

    perform(delivery_id)


@app.task
def eval_run(run_id: int) -> None:
    from workers.evals.run import perform

    perform(run_id)


@app.task
def checkup(checkup_id: int) -> None:
    from workers.checkup.run import perform

    perform(checkup_id)


@app.task
def trial(trial_id: int) -> None:
    from workers.probe.trial import perform

    perform(trial_id)


@app.task
def answer_file(file_id: int) -> None:
    from workers.checkup.answer_file import perform

    perform(file_id)


@app.task
def prune() -> None:
    """Once a day: what is older than it is kept goes."""
    deleted = {what: count for what, count in retention.prune(timezone.now()).items() if count}
    log.info("pruned %s", deleted or "nothing")


@app.task
def pulse() -> None:
    """Proves that a message published by the scheduler reaches a probing worker."""
    schedule.note_pulse(timezone.now())
