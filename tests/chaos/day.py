"""A scripted day of two simulated endpoints, played on real processes of which one is killed every few seconds.

    python -m tests.chaos.day --seed 7 --kills 20

prints what became of it as one line of JSON. Needs DATABASE_URL and REDIS_URL unset: it starts servers of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from workers.embedded import Postgres, Redis

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
SLOTS = 22
CHANGE_A, CHANGE_B = 14, 17
SETTLES_S = 75.0


class Part:
    """One process of the service that can be killed and started again."""

    def __init__(self, name: str, start: Callable[[], subprocess.Popen[bytes]], ready: Callable[[], None]) -> None:
        self.name, self._start, self._ready = name, start, ready
        self.process = start()
        ready()

    def kill(self) -> None:
        """kill -9 of the process and its children, and a new one in its place."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        time.sleep(0.2)
        self.process = self._start()
        self._ready()

    def end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Service:
    """Servers, workers, notifier, scheduler and beat, each in a process group of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        postgres, redis = Postgres(folder / "postgres"), Redis(folder / "redis")
        postgres.prepare()
        redis.prepare()
        self.parts: list[Part] = []
        self._add("postgres", postgres.start, lambda: postgres.wait_ready(self._process("postgres")))
        self._add("redis", redis.start, lambda: redis.wait_ready(self._process("redis")))
        os.environ["DATABASE_URL"], os.environ["REDIS_URL"] = postgres.url, redis.url
        subprocess.run([sys.executable, "-W", "ignore", "manage.py", "migrate", "-v0"], cwd=ROOT, check=True)
        celery = [sys.executable, "-m", "celery", "-A", "workers.celery:app"]
        quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "ERROR"]
        worker = [*celery, "worker", *quiet]
        self._celery("worker", [*worker, "-Q", "probe", "-c", "2", "-n", "probe@%h"])
        self._celery("notifier", [*worker, "-Q", "notify", "-c", "1", "-n", "notify@%h"])
        self._celery("scheduler", [*worker, "-Q", "schedule", "-P", "solo", "-n", "schedule@%h"])
        self._celery("beat", [*celery, "beat", "--loglevel", "ERROR", "--pidfile=", "-s", str(folder / "beat")])

    def _process(self, name: str) -> Any:
        return self._starting

    def _add(self, name: str, start: Callable[[], subprocess.Popen[bytes]], ready: Callable[[], None]) -> None:
        def begin() -> subprocess.Popen[bytes]:
            self._starting = start()
            return self._starting

        self.parts.append(Part(name, begin, ready))

    def _celery(self, name: str, command: list[str]) -> None:
        log = (self.folder / f"{name}.log").open("ab")

        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)

        self.parts.append(Part(name, start, lambda: None))

    def end(self) -> None:
        for part in reversed(self.parts):
            part.end()


def patient(act: Callable[[], T], seconds: float = 30.0) -> T:
    """Does it again while the database is being killed under it."""
    from django.db import InterfaceError, OperationalError, close_old_connections, connections

    deadline = time.monotonic() + seconds
    while True:
        try:
            return act()
        except (OperationalError, InterfaceError):
            if time.monotonic() > deadline:
                raise
            connections.close_all()
            close_old_connections()
            time.sleep(0.3)


@contextmanager
def simulated() -> Iterator[Any]:
    """Two endpoints: `a` changes its fingerprint and answers, `b` its answers alone. Each when told to."""
    import asyncio

    from workers.simulate.scenario import Phase, Scenario, Version
    from workers.simulate.server import Simulator

    before, after = (("fp_before", 1.0),), (("fp_after", 1.0),)
    server = Simulator(
        Scenario("a", phases=(Phase(0, Version(before)), Phase(1e6, Version(after, salt=1)))),
        Scenario("b", phases=(Phase(0, Version(before)), Phase(2e6, Version(before, salt=1)))),
    )
    server.keeps_requests = False
    loop, ready = asyncio.new_event_loop(), threading.Event()

    async def serve() -> None:
        async with server:
            ready.set()
            await server.serve_forever()

    threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True).start()
    ready.wait(10)
    yield server


def furnish(server: Any, hook: str, mail: bool) -> list[Any]:
    from django.utils import timezone

    from drift.models import Channel, Endpoint, EndpointCheck, Monitor, Team
    from drift.provision import make_suite

    team = Team.objects.create(name="Chaos")
    suite = make_suite(team, "Two", (("One", "Why does the tide rise?", 24), ("Two", "Name three harbours.", 24)))
    now = timezone.now()
    made = []
    for name in "ab":
        endpoint = Endpoint.objects.create(
            team=team,
            name=name,
            provider=f"provider {name}",
            base_url=server.url(name),
            model="simulated-small",
            parameters={"temperature": 0, "logprobs": True, "top_logprobs": 2},
            simulated=True,
        )
        EndpointCheck.objects.create(endpoint=endpoint, requested_at=now, finished_at=now, state="passed")
        made.append(
            Monitor.objects.create(
                endpoint=endpoint,
                suite=suite,
                cadence_s=86_400,
                repeats=4,
                concurrency=2,
                next_due_at=now.replace(year=2100),
            )
        )
    Channel.objects.create(
        team=team,
        kind="webhook",
        name="hook",
        address=hook,
        address_hint="hook",
        signing_secret="s",
        least_severity="low",
    )
    if mail:
        Channel.objects.create(
            team=team, kind="email", name="mail", address="a@example.org", address_hint="mail", least_severity="low"
        )
    return made


def play(seed: int, kills: int) -> dict[str, Any]:
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="tg-chaos-") as name:
        service = Service(Path(name))
        try:
            return _day(service, dice, kills)
        finally:
            if os.environ.get("CHAOS_LOGS"):
                for log in Path(name).glob("*.log"):
                    print(f"== {log.name}\n{log.read_text()[-3000:]}", file=sys.stderr)
            service.end()


def _day(service: Service, dice: random.Random, kills: int) -> dict[str, Any]:
    import django

    from tests.workers.notify.receivers import Mailbox, Receiver

    mailbox = Mailbox()
    mailbox.controller.start()
    os.environ |= {"EMAIL_HOST": "127.0.0.1", "EMAIL_PORT": str(mailbox.port)}
    for part in service.parts:  # the notifier must know the mail server
        if part.name == "notifier":
            part.kill()
    django.setup()
    from django.utils import timezone

    from drift.models import Delivery, Finding, Incident, Run

    began = time.monotonic()
    killed: list[str] = []
    with simulated() as server, Receiver() as receiver:
        monitors = furnish(server, receiver.url, mail=True)
        # the first two of each part, then whichever comes up: 20 points anywhere in the day
        points = sorted(dice.uniform(0, SLOTS) for _ in range(kills))
        order = [part.name for part in service.parts] * (kills // len(service.parts) + 1)
        dice.shuffle(order)
        for slot in range(SLOTS):
            if slot in (CHANGE_A, CHANGE_B):
                server.clock.advance(1e6)
            for monitor in monitors:
                patient(partial(_slot, monitor, slot))
            while points and points[0] < slot + 1:
                points.pop(0)
                victim = order.pop()
                time.sleep(dice.uniform(0, 0.8))
                next(part for part in service.parts if part.name == victim).kill()
                killed.append(victim)
            patient(lambda: _until_done(Run, 12.0))
        deadline = time.monotonic() + SETTLES_S
        while time.monotonic() < deadline and patient(lambda: _unsettled(Run, Delivery)):
            time.sleep(0.5)
        received = [got.headers["idempotency-key"] for got in receiver.got]
        received += [str(mail["X-Tidegauge-Delivery"]) for mail in mailbox.mails]
        mailbox.controller.stop()
        keys = {str(key) for key in patient(lambda: list(Delivery.objects.values_list("public_id", flat=True)))}
        return {
            "seconds": round(time.monotonic() - began, 1),
            "killed": killed,
            "incidents": patient(lambda: sorted(Incident.objects.values_list("title", flat=True))),
            "findings": patient(
                lambda: sorted(Finding.objects.filter(voids=True).values_list("endpoint__name", "kind"))
            ),
            "runs": patient(lambda: _counts(Run)),
            "deliveries": patient(lambda: _counts(Delivery)),
            "sent_twice": len(received) - len(set(received)),
            "lost": sorted(keys - set(received)),
            "unknown": sorted(set(received) - keys),
            "stuck": patient(lambda: _unsettled(Run, Delivery)),
            "now": timezone.now().isoformat(),
        }


def _slot(monitor: Any, slot: int) -> None:
    """One slot of the day, due now; made once, however often the database is killed meanwhile."""
    from drift.models import Run

    Run.objects.get_or_create(
        monitor=monitor,
        scheduled_for=monitor.created_at + timedelta(seconds=slot),
        defaults={"repeats": monitor.repeats, "concurrency": monitor.concurrency},
    )


def _until_done(run: Any, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and run.objects.filter(state__in=["due", "running"]).exists():
        time.sleep(0.2)


def _unsettled(run: Any, delivery: Any) -> int:
    open_runs = run.objects.filter(state__in=["due", "running"]).count()
    return int(open_runs + delivery.objects.filter(state__in=["due", "sending"]).count())


def _counts(model: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for state in model.objects.values_list("state", flat=True):
        counts[state] = counts.get(state, 0) + 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.day")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--kills", type=int, default=20)
    options = parser.parse_args()
    os.environ |= {
        "TICK_SECONDS": "1",
        "RUN_LEASE_SECONDS": "4",
        "REPUBLISH_SECONDS": "3",
        "DELIVERY_LEASE_SECONDS": "5",
        "ALLOW_PRIVATE_TARGETS": "127.0.0.1/32",
        "DJANGO_SETTINGS_MODULE": "drift.settings",
        "LOG_LEVEL": "ERROR",
    }
    print(json.dumps(play(options.seed, options.kills)))
    sys.stdout.flush()
    os._exit(0)  # the simulator's thread has no end of its own


if __name__ == "__main__":
    main()
