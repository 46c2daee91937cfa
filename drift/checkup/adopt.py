"""Makes a check-up a monitor and a baseline: what was asked goes on being asked, what was answered is the datum."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

from django.db import transaction
from django.utils.translation import gettext

from drift import baselines, figures, monitors
from drift.answers import Answer, ApiKind, Transport
from drift.baselines import LEAST_RUNS, BaselineError
from drift.checkup.errors import CheckupError
from drift.checkup.packed import unpack
from drift.checkup.store import exchange_of
from drift.endpoints import series_of
from drift.models import Baseline, Checkup, CheckupAnswer, CheckupStage, Endpoint, Monitor, Run, User
from drift.partitions import ensure_sample_partition
from drift.record import record_run

CADENCE_S = 900
REPEATS = 5


def adopt(checkup: Checkup, user: User | None, now: datetime) -> tuple[Monitor, Baseline | None]:
    """A monitor over the check-up's questions with its quiet answers as first runs, and the baseline made of them.

    No baseline where the quiet stage had too few rounds or nothing to compare: the monitor will take its own. Doing it
    twice gives the same monitor. Raises CheckupError.
    """
    endpoint = checkup.endpoint
    if endpoint is None or checkup.suite is None:
        raise CheckupError(gettext("Answers recorded elsewhere cannot be asked again. Check the endpoint up itself."))
    if not checkup.over:
        raise CheckupError(gettext("This check-up is still going on."))
    stage = checkup.stages.get(kind=CheckupStage.Kind.QUIET)
    if stage.parameters != endpoint.parameters:
        raise CheckupError(
            gettext("The endpoint's request was changed since: its answers would be another series. Check it up again.")
        )
    with transaction.atomic():
        monitor = Monitor.objects.filter(endpoint=endpoint, suite=checkup.suite).first()
        if monitor is not None and checkup.monitor_id == monitor.pk:
            return monitor, None
        monitor = monitor or monitors.create(
            endpoint=endpoint,
            suite=checkup.suite,
            cadence_s=CADENCE_S,
            repeats=REPEATS,
            concurrency=stage.concurrency,
            run_at_once=False,
        )
        runs = _runs(monitor, endpoint, stage, now)
        checkup.monitor = monitor
        checkup.save(update_fields=["monitor"])
        baseline = _baseline(runs, user, now)
    return monitor, baseline


def _runs(monitor: Monitor, endpoint: Endpoint, stage: CheckupStage, now: datetime) -> list[Run]:
    """The quiet answers as runs of at least two rounds each, at the times when they were asked."""
    canaries = {str(canary.public_id): canary.pk for canary in monitor.suite.canaries.all()}
    rounds: dict[int, list[CheckupAnswer]] = {}
    for row in stage.answers.filter(question__in=canaries).order_by("started_at"):
        rounds.setdefault(row.repeat, []).append(row)
    numbers = sorted(rounds)
    size = max(2, len(numbers) // LEAST_RUNS)
    chunks = [numbers[i : i + size] for i in range(0, len(numbers) - size + 1, size)]
    made: list[Run] = []
    for chunk in chunks:
        rows = [row for number in chunk for row in rounds[number]]
        at = min(row.started_at for row in rows)
        if made and at <= made[-1].scheduled_for:
            at = made[-1].scheduled_for + timedelta(milliseconds=1)
        if Run.objects.filter(monitor=monitor, scheduled_for=at).exists():
            continue
        made.append(_record(monitor, endpoint, stage, canaries, rows, at, now))
    return made


def _record(
    monitor: Monitor,
    endpoint: Endpoint,
    stage: CheckupStage,
    canaries: dict[str, int],
    rows: list[CheckupAnswer],
    at: datetime,
    now: datetime,
) -> Run:
    claim = uuid4()
    ensure_sample_partition(at)
    run = Run.objects.create(
        monitor=monitor,
        series=series_of(endpoint, monitor.suite),
        scheduled_for=at,
        origin=Run.Origin.PERSON,
        state=Run.State.RUNNING,
        claim=claim,
        lease_until=now + timedelta(minutes=5),
        started_at=at,
        attempts=1,
        repeats=len({row.repeat for row in rows}),
        concurrency=stage.concurrency,
    )
    first = min(row.repeat for row in rows)
    answers = [
        Answer(
            canaries[row.question],
            row.repeat - first,
            replace(exchange_of(row), kind=ApiKind(endpoint.kind), transport=Transport(endpoint.transport)),
            unpack(bytes(row.decoded)),
        )
        for row in rows
    ]
    record_run(run, claim, answers, now)
    run.refresh_from_db()
    return run


def _baseline(runs: list[Run], user: User | None, now: datetime) -> Baseline | None:
    useful = [run for run in runs if run.samples_comparable]
    if len(useful) < LEAST_RUNS or useful[0].series is None:
        return None
    name = gettext("Check-up of {date}").format(date=figures.date(useful[0].scheduled_for))
    try:
        return baselines.set_by_hand(
            useful[0].series, useful[0].scheduled_for, useful[-1].scheduled_for, user, now, name=name
        )
    except BaselineError:
        return None
