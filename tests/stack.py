"""Our own processes, run for real against the test database: Celery workers, beat, and small servers to ask."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psutil
from django.conf import settings
from django.db import connection

ROOT = Path(__file__).resolve().parent.parent


def child_environment(**extra: str) -> dict[str, str]:
    """The environment of a child that shall see the test database."""
    parts = urlsplit(os.environ["DATABASE_URL"])
    url = urlunsplit(parts._replace(path="/" + settings.DATABASES["default"]["NAME"]))
    return {
        **os.environ,
        "DATABASE_URL": url,
        "DJANGO_SETTINGS_MODULE": "drift.settings",
        "TICK_SECONDS": "1",
        "RUN_LEASE_SECONDS": "4",
        "REPUBLISH_SECONDS": "3",
        "OMP_NUM_THREADS": "1",
        **extra,
    }


class Processes:
    """Children by name; all of them are gone when the test is over."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *command: str, **extra: str) -> subprocess.Popen[bytes]:
        with (self.logs / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *command],
                cwd=ROOT,
                env=child_environment(**extra),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.running[name] = process
        return process

    def worker(self, name: str = "worker", queues: str = "probe", concurrency: int = 2) -> subprocess.Popen[bytes]:
        return self.start(
            name,
            *("-m", "celery", "-A", "workers.celery:app", "worker", "-Q", queues, "-c", str(concurrency)),
            *("-n", f"{name}@%h", "--without-gossip", "--without-mingle", "--loglevel", "INFO"),
        )

    def scheduler(self, name: str = "scheduler") -> subprocess.Popen[bytes]:
        """A worker for ticks with its own beat."""
        return self.start(
            name,
            *("-m", "celery", "-A", "workers.celery:app", "worker", "-Q", "schedule", "-P", "solo", "-B"),
            *("-n", f"{name}@%h", "--without-gossip", "--without-mingle", "--loglevel", "INFO"),
            BEAT_SCHEDULE_FILE=str(self.logs / f"{name}-beat"),
        )

    def log(self, name: str) -> str:
        return (self.logs / f"{name}.log").read_text(errors="replace")

    def stop_all(self) -> None:
        for process in self.running.values():
            group = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
            with_suppressed_kill(process.pid)
            for child in group:
                try:
                    child.kill()
                except psutil.NoSuchProcess:
                    continue
            process.wait()


def with_suppressed_kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Polls until the condition holds; fails with what was awaited."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:.0f} s in vain for: {what}")
        time.sleep(0.1)
        connection.close_if_unusable_or_obsolete()


@contextmanager
def answering_server(delay_s: float = 0.0, model: str = "steady-1") -> Iterator[tuple[str, list[str]]]:
    """A loopback chat server that always answers the same after `delay_s`; its base URL and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append(body["messages"][-1]["content"])
            number = len(asked)
            time.sleep(delay_s)
            answer = {
                "id": f"chatcmpl-{number}",
                "object": "chat.completion",
                "created": int(time.time()),
                "model": model,
                "system_fingerprint": "fp_steady",
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "stop",
                        "message": {"role": "assistant", "content": f"You asked: {body['messages'][-1]['content']}"},
                    }
                ],
                "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
            }
            payload = json.dumps(answer).encode()
            try:
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)
            except (BrokenPipeError, ConnectionResetError):
                return

        def log_message(self, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
