"""Plays a fire drill: a simulated endpoint changes, and the real road from answer to alert is timed."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_noop

from drift import alerts, drills, endpoints, feed, incidents
from drift.models import Delivery, Drill, Endpoint, Event, Incident, Monitor, Run, Sample, Suite, Team
from drift.provision import make_suite
from drift.said import cut, in_facts, said
from workers.notify import deliver
from workers.probe import run as probe
from workers.simulate.scenario import Phase, Scenario, Version
from workers.simulate.server import Simulator

NAME = "Fire drill"
LEARNING_RUNS = 20
MOST_CHANGED_RUNS = 4
WAITS = timedelta(seconds=90)
LOOPBACK = "127.0.0.1/32"
CHANGE_AT_S = 1e6
SCENARIO = Scenario(
    name="drill",
    phases=(
        Phase(0.0, Version(fingerprints=(("fp_before_drill", 1.0),))),
        Phase(CHANGE_AT_S, Version(fingerprints=(("fp_after_drill", 1.0),), salt=1)),
    ),
    about="changes fingerprint and answers when told to",
)
CANARIES = (("Tide", "Why does the tide rise twice a day?", 24), ("Harbour", "Name three harbours.", 24))


class DrillError(RuntimeError):
    """The drill could not be played to its end. The message says where it stopped."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one channel did. `seconds` after the first changed answer, None if nothing was sent."""

    name: str
    state: str
    problem: str
    seconds: float | None


def perform(drill_id: int) -> None:
    """Plays the drill if it still waits. A failure is part of its report."""
    drill = drills.claim(drill_id, timezone.now())
    if drill is None:
        return

    def say(text: str) -> None:
        Drill.objects.filter(pk=drill.pk).update(progress=cut(text, 200))

    try:
        report = play(drill, say)
        state = Drill.State.FINISHED
    except Exception as error:
        report, state = (
            {"problem": in_facts(error.args[0] if isinstance(error, DrillError) else str(error))},
            Drill.State.FAILED,
        )
        if not isinstance(error, DrillError):
            _close(drill, state, report)
            raise
    _close(drill, state, report)


def _close(drill: Drill, state: str, report: dict[str, Any]) -> None:
    now = timezone.now()
    Drill.objects.filter(pk=drill.pk).update(state=state, report=report, finished_at=now, lease_until=None)
    text = (
        said(gettext_noop("Fire drill: sent {seconds} s after the change"), seconds=str(report["seconds"]))
        if "seconds" in report
        else said(gettext_noop("Fire drill failed"))
    )
    feed.note_team(drill.team_id, Event.Kind.DRILL, text, now, actor=drill.requested_by)


def play(drill: Drill, say: Callable[[str], None]) -> dict[str, Any]:
    """The whole drill; its report: {seconds, found_s, channels, incident, all_sent}."""
    with simulator() as served, loopback_allowed():
        endpoint, monitor = _furnish(drill.team, served.url())
        Drill.objects.filter(pk=drill.pk).update(endpoint=endpoint)
        begin = timezone.now() - timedelta(minutes=LEARNING_RUNS + 1)
        for number in range(LEARNING_RUNS):
            say(
                said(
                    gettext_noop("Learning what the simulated endpoint is like: run {number} of {learning_runs}."),
                    number=number + 1,
                    learning_runs=LEARNING_RUNS,
                )
            )
            _run(monitor, begin + timedelta(minutes=number))
        served.clock.advance(CHANGE_AT_S)
        say(said(gettext_noop("The fingerprint changed. Waiting for somebody to notice.")))
        incident = _noticed(endpoint, monitor)
    changed_at = _first_changed(endpoint)
    found_at = timezone.now()
    say(said(gettext_noop("Found. The alert is being sent.")))
    alerts.tell_everyone(incident, found_at)
    told = _wait(incident, changed_at)
    endpoints.archive(endpoint)
    incident.refresh_from_db()
    incidents.resolve(
        incident, drill.requested_by, said(gettext_noop("The drill is over.")), timezone.now(), tell=False
    )
    sent = [row.seconds for row in told if row.seconds is not None]
    return {
        "seconds": max(sent) if sent else None,
        "found_s": round((found_at - changed_at).total_seconds(), 1),
        "channels": [
            {"name": row.name, "state": in_facts(row.state), "problem": in_facts(row.problem), "seconds": row.seconds}
            for row in told
        ],
        "all_sent": bool(told) and len(sent) == len(told),
        "incident": str(incident.public_id),
    }


@contextmanager
def simulator() -> Iterator[Simulator]:
    """The scenario served on loopback, in a thread of its own."""
    loop = asyncio.new_event_loop()
    served = Simulator(SCENARIO)
    served.keeps_requests = False
    ready = threading.Event()

    async def serve() -> None:
        async with served:
            ready.set()
            await served.serve_forever()

    def main() -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(serve())
        except asyncio.CancelledError:
            pass
        finally:
            loop.close()

    thread = threading.Thread(target=main, daemon=True, name="drill-simulator")
    thread.start()
    if not ready.wait(10):
        raise DrillError(said(gettext_noop("The simulator did not start.")))
    try:
        yield served
    finally:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
        thread.join(5)


@contextmanager
def loopback_allowed() -> Iterator[None]:
    """Lets this process probe its own simulator. Over before anything is sent to an address that people entered."""
    before = settings.ALLOW_PRIVATE_TARGETS
    settings.ALLOW_PRIVATE_TARGETS = [*before, LOOPBACK]
    try:
        yield
    finally:
        settings.ALLOW_PRIVATE_TARGETS = before


def _furnish(team: Team, base_url: str) -> tuple[Endpoint, Monitor]:
    """A fresh endpoint, marked as simulated, whose monitor only this drill runs."""
    now = timezone.now()
    for old in Endpoint.objects.filter(team=team, name=NAME, simulated=True, archived_at=None):
        endpoints.archive(old)
    suite = Suite.objects.filter(team=team, name=NAME).order_by("-version").first() or make_suite(team, NAME, CANARIES)
    endpoint = Endpoint.objects.create(
        team=team,
        name=NAME,
        provider=NAME,
        base_url=base_url,
        model=SCENARIO.model,
        parameters={"temperature": 0, "seed": 1, "logprobs": True, "top_logprobs": 2},
        wished_parameters={},
        simulated=True,
    )
    monitor = Monitor.objects.create(
        endpoint=endpoint,
        suite=suite,
        cadence_s=300,
        repeats=4,
        concurrency=4,
        active=False,
        paused_at=now,
        paused_reason=said(gettext_noop("only the fire drill runs it")),
        next_due_at=now,
    )
    return endpoint, monitor


def _run(monitor: Monitor, slot: datetime) -> Run:
    """One run, performed here and now."""
    run = Run.objects.create(
        monitor=monitor,
        scheduled_for=slot,
        origin=Run.Origin.PERSON,
        repeats=monitor.repeats,
        concurrency=monitor.concurrency,
        published_at=timezone.now(),
    )
    probe.perform(run.pk)
    run.refresh_from_db()
    if run.state != Run.State.FINISHED or not run.samples_comparable:
        raise DrillError(
            said(gettext_noop("A run of the drill did not finish: {problem}."), problem=run.problem or run.state)
        )
    return run


def _noticed(endpoint: Endpoint, monitor: Monitor) -> Incident:
    for _ in range(MOST_CHANGED_RUNS):
        _run(monitor, timezone.now())
        incident = endpoint.incidents.order_by("-opened_at").first()
        if incident is not None:
            return incident
    raise DrillError(
        said(
            gettext_noop("Nobody noticed the change in {most_changed_runs} runs."), most_changed_runs=MOST_CHANGED_RUNS
        )
    )


def _first_changed(endpoint: Endpoint) -> datetime:
    first = Sample.objects.filter(
        series__endpoint=endpoint, identity__fingerprint=SCENARIO.phases[1].version.fingerprints[0][0]
    )
    return min(started for started in first.values_list("started_at", flat=True))


def _wait(incident: Incident, changed_at: datetime) -> list[Told]:
    """Sends what falls due, beside the notifier if one runs, until every message is out or the patience is over."""
    until = timezone.now() + WAITS
    rows = Delivery.objects.filter(incident=incident, kind=Delivery.Kind.ALERT)
    while timezone.now() < until:
        for pk in rows.filter(state=Delivery.State.DUE, due_at__lte=timezone.now()).values_list("pk", flat=True):
            deliver.perform(pk)
        soon = rows.filter(state__in=[Delivery.State.DUE, Delivery.State.SENDING], due_at__lt=until)
        if not soon.exists():
            break
        time.sleep(0.5)
    return [_told(delivery, changed_at) for delivery in rows.select_related("channel").order_by("pk")]


def _told(delivery: Delivery, changed_at: datetime) -> Told:
    seconds = round((delivery.sent_at - changed_at).total_seconds(), 1) if delivery.sent_at else None
    problem = delivery.problem
    if delivery.state == Delivery.State.DUE and not problem:
        problem = said(gettext_noop("held back by quiet hours"))
    return Told(delivery.channel.name, said(delivery.get_state_display()), problem, seconds)  # workers speak English
