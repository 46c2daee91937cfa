"""A child process: how it is started, waited for and ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from dataclasses import dataclass, field

from workers.embedded import die_with_parent
from workers.up.places import LOGS, ROOT, SETTINGS, StartError


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
    once: bool = False  # ends by itself when its work is done
    environment: dict[str, str] = field(default_factory=dict)

    def start(self) -> None:
        LOGS.mkdir(parents=True, exist_ok=True)
        with (LOGS / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=ROOT,
                env={**own_environment(), **self.environment},
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


def own_environment() -> dict[str, str]:
    """This process's environment, with the settings file of this machine's data."""
    return {**os.environ, "TIDEGAUGE_ENV_FILE": str(SETTINGS)}


def manage(*arguments: str) -> str:
    """Runs a management command; its output. Raises StartError with its last line."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=own_environment(),
        capture_output=True,
        text=True,
        check=False,
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


def end_group(process: subprocess.Popen[bytes], patience_s: float) -> None:
    """Waits for a child that was told to end; then kills it and whatever it started."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(patience_s)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
