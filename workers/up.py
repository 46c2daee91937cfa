"""`make up`: everything on one machine, started in order, watched, and stopped together.

Data lives under `.data/`. Everything listens on 127.0.0.1 or a unix socket in there.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil

from workers.embedded import EmbeddedError, Postgres, Redis, die_with_parent, stop

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / ".data"
LOGS = DATA / "logs"
SETTINGS = DATA / "settings.env"
PIDS = DATA / "pids.json"
HOST = "127.0.0.1"
MODES = ("fast", "invariant")
RESTARTS_IN_A_ROW = 5


class StartError(RuntimeError):
    """Something needed could not be started; the message says what to do."""


@dataclass(slots=True)
class Service:
    """One child process and how it is stopped."""

    name: str
    command: list[str]
    process: subprocess.Popen[bytes] | None = None
    stop_signal: int = signal.SIGTERM
    patience_s: float = 15.0
    failures: int = 0
    started: float = 0.0
    environment: dict[str, str] = field(default_factory=dict)

    def start(self) -> None:
        LOGS.mkdir(parents=True, exist_ok=True)
        with (LOGS / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=ROOT,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        self.started = time.monotonic()

    def last_line(self) -> str:
        path = LOGS / f"{self.name}.log"
        lines = path.read_text(errors="replace").strip().splitlines() if path.exists() else []
        return lines[-1][:300] if lines else "(its log is empty)"


def say(text: str) -> None:
    print(text, flush=True)


class Step:
    """A line that says what is going on and, when it is over, how long it took."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __enter__(self) -> None:
        self.started = time.monotonic()
        print(f"  {self.text} ...", end="", flush=True)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        print(f" {'failed' if kind else 'done'} ({time.monotonic() - self.started:.1f} s)", flush=True)


def port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def take_lock() -> IO[str]:
    """Holds `.data/up.lock` for as long as this process lives. Raises StartError if another `make up` has it."""
    DATA.mkdir(mode=0o711, exist_ok=True)
    lock = (DATA / "up.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StartError("Tidegauge is already running from this folder. Stop that one first (Ctrl-C).") from error
    return lock


def end_leftovers() -> None:
    """Stops children of an earlier `make up` that was killed before it could stop them."""
    try:
        noted = json.loads(PIDS.read_text())
    except (OSError, ValueError):
        return
    left = []
    for pid, started in noted:
        try:
            process = psutil.Process(pid)
            if abs(process.create_time() - started) < 1:
                left += [process, *process.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, alive = psutil.wait_procs(left, timeout=10)
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(alive, timeout=5)


def note_children(processes: list[subprocess.Popen[bytes]]) -> None:
    noted = []
    for process in processes:
        try:
            noted.append([process.pid, psutil.Process(process.pid).create_time()])
        except psutil.NoSuchProcess:
            continue
    PIDS.write_text(json.dumps(noted))


def read_settings() -> dict[str, str]:
    lines = SETTINGS.read_text().splitlines() if SETTINGS.exists() else []
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def write_settings(**values: str) -> dict[str, str]:
    """Adds to `.data/settings.env` what is missing, makes its secrets once, and returns it whole."""
    from cryptography.fernet import Fernet

    current = read_settings()
    made = {
        "SECRET_KEY": secrets.token_urlsafe(48),
        "FIELD_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        "ALLOW_PRIVATE_TARGETS": "127.0.0.1/32,::1/128",
    }
    merged = {**made, **current, **values}
    if merged != current:
        text = "# Written by `make up`. Keep it secret; without FIELD_ENCRYPTION_KEYS stored API keys are lost.\n"
        SETTINGS.touch(mode=0o600)
        SETTINGS.write_text(text + "".join(f"{name}={value}\n" for name, value in merged.items()))
    return merged


def manage(*arguments: str) -> str:
    """Runs a management command; its output. Raises StartError with its last line."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise StartError(f"manage.py {arguments[0]} failed: {said[-1] if said else 'no message'}")
    return done.stdout


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310  our own address
            return bool(response.status == 200)
    except OSError:
        return False


def wait_for(url: str, service: Service, seconds: float) -> None:
    """Waits until `url` answers 200. Raises StartError when the service ends or the time is up."""
    deadline = time.monotonic() + seconds
    while not answers(url):
        process = service.process
        if process is not None and process.poll() is not None:
            raise StartError(f"{service.name} ended: {service.last_line()}")
        if time.monotonic() > deadline:
            raise StartError(f"{service.name} did not answer within {seconds:.0f} s: {service.last_line()}")
        time.sleep(0.3)


class Stack:
    """All services of one machine. Started in order, stopped in reverse."""

    def __init__(self, port: int) -> None:
        self.port = port
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
        password: str | None = admin["password"]
        return password

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
                if service.process is not None and service.process.poll() is not None:
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


def end_group(process: subprocess.Popen[bytes], patience_s: float) -> None:
    """Waits for a child that was told to end; then kills it and whatever it started."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(patience_s)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def main() -> int:
    port = int(os.environ.get("PORT", "8000"))
    stack = Stack(port)

    def on_signal(number: int, frame: object) -> None:
        if not stack.stopping:
            stack.stopping = True
            raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    say("Tidegauge is starting. Logs: .data/logs/")
    try:
        lock = take_lock()
        end_leftovers()
        if not port_is_free(port):
            raise StartError(f"Port {port} is taken. Choose another: make up PORT={free_port()}")
        password = stack.start()
        greet(port, password)
        stack.watch()
        lock.close()
    except KeyboardInterrupt:
        say("\nStopping ...")
    except (StartError, EmbeddedError) as error:
        say(f"\ntidegauge: {error}")
        return 1
    finally:
        stack.stop()
    say("Stopped. Your data is in .data/")
    return 0


def greet(port: int, password: str | None) -> None:
    say("")
    say(f"  Open      http://{HOST}:{port}/")
    if password is not None:
        say("  Log in as admin")
        say(f"  Password  {password}   (shown once; change it with: .venv/bin/python manage.py changepassword admin)")
    else:
        say("  Log in as admin (forgotten? .venv/bin/python manage.py changepassword admin)")
    say("  The first measured divergence is on the page within three minutes. Ctrl-C stops everything.")
    say("")


if __name__ == "__main__":
    sys.exit(main())
