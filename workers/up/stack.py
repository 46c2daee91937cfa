"""All services of one machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

from workers.embedded import Postgres, Redis, stop
from workers.up.leftovers import note_children
from workers.up.places import DATA, HOST, PIDS, StartError, free_port, port_is_free
from workers.up.say import Step, say
from workers.up.service import Service, end_group, manage, wait_for
from workers.up.settings_file import read_settings, write_settings

MODES = ("fast", "invariant")
RESTARTS_IN_A_ROW = 5
DEMO_DAYS = 60


class Stack:
    """All services of one machine. Started in order, stopped in reverse."""

    def __init__(self, port: int, demo: bool = False) -> None:
        self.port = port
        self.demo = demo
        self.servers: list[tuple[str, subprocess.Popen[bytes], int]] = []
        self.services: list[Service] = []
        self.stopping = False

    def start(self) -> str | None:
        """Starts everything; the administrator's password if it was made just now."""
        settings = read_settings()
        ports = {mode: self._inference_port(settings, mode) for mode in MODES}
        for mode in MODES:
            self._add(self._inference(mode, ports[mode]))
        urls = self._databases()
        write_settings(
            **urls,
            ALLOWED_HOSTS="127.0.0.1,localhost",
            **{f"INFERENCE_{mode.upper()}_PORT": str(ports[mode]) for mode in MODES},
        )
        with Step("Bringing the database up to date"):
            manage("migrate", "--noinput")
        with Step("Collecting static files"):
            manage("collectstatic", "--noinput")
        for service in self.services[: len(MODES)]:
            with Step(f"Loading the model: {service.name} (it verifies itself first)"):
                wait_for(f"http://{HOST}:{ports[service.name.split('-')[1]]}/health", service, 180)
        with Step("Setting up team, suite and monitors"):
            bases = [f"--{mode}=http://{HOST}:{ports[mode]}/v1" for mode in MODES]
            admin = json.loads(manage("provision", *bases).strip().splitlines()[-1])
        for service in self._django():
            self._add(service)
        with Step("Starting workers, scheduler and web server"):
            wait_for(f"http://{HOST}:{self.port}/readyz", self.services[-1], 120)
        if self.demo:
            self._start_demo()
        password: str | None = admin["password"]
        return password

    def _start_demo(self) -> None:
        """The simulator, and the history of its endpoints, which grows in the background."""
        settings = read_settings()
        known = int(settings.get("DEMO_PORT", 0))
        port = known if known and port_is_free(known) else free_port()
        begin = settings.get("DEMO_BEGIN") or (datetime.now(UTC) - timedelta(days=DEMO_DAYS)).isoformat(
            timespec="seconds"
        )
        write_settings(DEMO_PORT=str(port), DEMO_BEGIN=begin)
        simulate = [sys.executable, "-m", "workers.simulate.demo", "--port", str(port), "--begin", begin]
        self._add(Service("simulator", simulate))
        history = [sys.executable, "manage.py", "demo", "--url", f"http://{HOST}:{port}", "--begin", begin]
        self._add(Service("history", history, once=True))
        say("  Sixty simulated days are being measured in the background; watch: tail -f .data/logs/history.log")

    def _inference_port(self, settings: dict[str, str], mode: str) -> int:
        known = int(settings.get(f"INFERENCE_{mode.upper()}_PORT", 0))
        return known if known and port_is_free(known) else free_port()

    def _inference(self, mode: str, port: int) -> Service:
        command = [sys.executable, "-m", "workers.inference", "--model", "bundled", "--mode", mode, "--dtype", "bf16"]
        command += ["--port", str(port), "--max-batch", "16", "--threads", "1"]
        return Service(f"inference-{mode}", command, environment={"OMP_NUM_THREADS": "1"})

    def _databases(self) -> dict[str, str]:
        """Starts what the environment does not name already; the settings that point at it."""
        urls: dict[str, str] = {}
        if "DATABASE_URL" not in os.environ:
            postgres = Postgres(DATA / "postgres")
            with Step("Starting PostgreSQL"):
                postgres.prepare()
                child = postgres.start()
                self.servers.append(("PostgreSQL", child, signal.SIGINT))
                note_children(self._processes())
                postgres.wait_ready(child)
            urls["DATABASE_URL"] = postgres.url
        if "REDIS_URL" not in os.environ:
            redis = Redis(DATA / "redis")
            with Step("Starting Redis"):
                redis.prepare()
                child = redis.start()
                self.servers.append(("Redis", child, signal.SIGTERM))
                note_children(self._processes())
                redis.wait_ready(child)
            urls["REDIS_URL"] = redis.url
        return urls

    def _django(self) -> list[Service]:
        celery = [sys.executable, "-m", "celery", "-A", "workers.celery:app"]
        quiet = ["--without-gossip", "--without-mingle", "--loglevel", "INFO"]
        beat_file = {"BEAT_SCHEDULE_FILE": str(DATA / "celerybeat-schedule")}
        return [
            Service(
                "worker",
                [*celery, "worker", "-Q", "probe", "-c", "6", "-n", "probe@%h", *quiet],
                stop_signal=signal.SIGTERM,
            ),
            Service("notifier", [*celery, "worker", "-Q", "notify", "-c", "2", "-n", "notify@%h", *quiet]),
            Service("scheduler", [*celery, "worker", "-Q", "schedule", "-P", "solo", "-n", "schedule@%h", *quiet]),
            Service("beat", [*celery, "beat", "--loglevel", "WARNING", "--pidfile="], environment=beat_file),
            Service(
                "web",
                [
                    sys.executable, "-m", "gunicorn", "dashboard.wsgi:application",
                    "--bind", f"{HOST}:{self.port}", "--workers", "1", "--threads", "8",
                    "--access-logfile", "-", "--no-control-socket",
                ],
            ),
        ]  # fmt: skip

    def _add(self, service: Service) -> None:
        service.start()
        self.services.append(service)
        note_children(self._processes())

    def _processes(self) -> list[subprocess.Popen[bytes]]:
        own = [service.process for service in self.services if service.process is not None]
        return [process for _, process, _ in self.servers] + own

    def watch(self) -> None:
        """Until told to stop: starts again what ended by itself, more slowly each time."""
        while not self.stopping:
            for name, process, _ in self.servers:
                if process.poll() is not None:
                    raise StartError(f"{name} ended by itself. See its log in {DATA}.")
            for service in self.services:
                status = service.process.poll() if service.process is not None else None
                if status is not None and not (service.once and status == 0):
                    self._restart(service)
            time.sleep(0.5)

    def _restart(self, service: Service) -> None:
        service.failures = 1 if time.monotonic() - service.started > 60 else service.failures + 1
        if service.failures > RESTARTS_IN_A_ROW:
            raise StartError(f"{service.name} keeps ending: {service.last_line()}")
        say(f"  {service.name} ended ({service.last_line()}); starting it again")
        time.sleep(min(10, 2 ** (service.failures - 1)))
        if not self.stopping:
            service.start()
            note_children(self._processes())

    def stop(self) -> None:
        """Stops every child, the last started first, and waits for each."""
        self.stopping = True
        for service in reversed(self.services):
            if service.process is not None and service.process.poll() is None:
                service.process.send_signal(service.stop_signal)
        deadline = time.monotonic() + 2.0  # a run in progress is taken over after the next start
        for service in self.services:
            if service.process is not None:
                end_group(service.process, max(0.1, deadline - time.monotonic()))
        for _, process, how in reversed(self.servers):
            stop(process, how)
        PIDS.unlink(missing_ok=True)
