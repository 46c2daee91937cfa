"""`make up` as a person uses it: started, looked at, killed, started again, stopped."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from workers.up.places import ROOT, free_port

pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]
START_S = 400


class Up:
    """One `make up` over a data folder of its own."""

    def __init__(self, data: Path, port: int) -> None:
        self.data, self.port = data, port
        unset = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "FIELD_ENCRYPTION_KEYS", "TIDEGAUGE_ENV_FILE")
        environment = {name: value for name, value in os.environ.items() if name not in unset}
        self.log = data.parent / f"up-{time.monotonic_ns()}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "workers.up"],
                cwd=ROOT,
                env={**environment, "TIDEGAUGE_DATA": str(data), "PORT": str(port)},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_ready(self) -> dict[str, object]:
        """Until it answers and has told the person where."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.said
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as answer:
                    if "Ctrl-C" in self.said:
                        return json.load(answer)
            except OSError:
                pass
            time.sleep(0.5)
        raise AssertionError(f"not ready after {START_S} s:\n{self.said}")

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)


def left_over(data: Path) -> list[str]:
    """Command lines of processes that still work on the data folder, or were started by its `make up`."""
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        line = " ".join(process.info["cmdline"] or [])
        if str(data) in line or (process.info["environ"] or {}).get("TIDEGAUGE_DATA") == str(data):
            found.append(line)
    return found


@pytest.fixture
def up() -> Iterator[Callable[[Path, int], Up]]:
    """Starts a `make up`; whatever is still running when the test ends is told to stop."""
    started: list[Up] = []

    def start(data: Path, port: int) -> Up:
        started.append(Up(data, port))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.terminate()
            each.process.wait(60)


def test_a_machine_starts_survives_a_kill_and_stops_without_leaving_anything(tmp_path, up):
    data, port = tmp_path / "data", free_port()

    first = up(data, port)
    assert first.wait_ready()["database"] == "ok"
    assert f"http://127.0.0.1:{port}/" in first.said
    password = first.said.split("Password")[1].split()[0]
    assert len(password) >= 12

    taken = up(tmp_path / "other", port)
    assert taken.process.wait(60) == 1
    assert f"Port {port} is taken" in taken.said

    orphans = first.children()
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait()
    second = up(data, port)
    second.wait_ready()
    assert "Password" not in second.said  # the account was found again
    assert not [process for process in orphans if process.is_running() and process.status() != "zombie"]

    second.process.send_signal(signal.SIGTERM)
    assert second.process.wait(60) == 0
    assert left_over(data) == []
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
