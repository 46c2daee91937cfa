"""The database or Redis goes away and comes back. Nothing that was acknowledged is lost, and answers say what to do.

`OUTAGE_SECONDS=60` makes the outages as long as the promise; the rules do not depend on how long they are.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from tests.stack import ROOT, answering_server
from workers.embedded import Postgres, Redis, stop
from workers.up.places import free_port

pytestmark = pytest.mark.timeout(600)
OUTAGE_S = float(os.environ.get("OUTAGE_SECONDS", "8"))
BATCH = 20
FURNISH = """
import json, os
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from drift import monitors, tokens
from drift.models import Endpoint, EndpointCheck, Team
from drift.provision import make_suite
from django.utils import timezone
team = Team.objects.create(name="Outage")
endpoint = Endpoint.objects.create(team=team, name="watched", base_url=os.environ["ASKED_URL"], model="steady-1")
now = timezone.now()
EndpointCheck.objects.create(endpoint=endpoint, requested_at=now, finished_at=now, state="passed")
suite = make_suite(team, "One question", (("Q", "What is 2 + 2?", 8),))
monitors.create(endpoint=endpoint, suite=suite, cadence_s=30, repeats=2, concurrency=1)
print(tokens.issue(team=team, user=None, name="outage", scope="write")[1])
"""

RUN_NOW = """
import django
django.setup()
from drift import monitors
from drift.models import Monitor
monitors.run_now(Monitor.objects.get(), None)
"""


@dataclass
class Service:
    """The service over a PostgreSQL and a Redis of its own, each of which can be taken away and brought back."""

    folder: Path
    asked_url: str
    children: list[subprocess.Popen[bytes]] = field(default_factory=list)
    port: int = 0
    token: str = ""

    def __post_init__(self) -> None:
        self.postgres, self.redis = Postgres(self.folder / "postgres"), Redis(self.folder / "redis")
        for server in (self.postgres, self.redis):
            server.prepare()
        self.bring_back_database()
        self.bring_back_redis()
        self.environment = {
            **os.environ,
            "DATABASE_URL": self.postgres.url,
            "REDIS_URL": self.redis.url,
            "DJANGO_SETTINGS_MODULE": "drift.settings",
            "TICK_SECONDS": "1",
            "RUN_LEASE_SECONDS": "5",
            "REPUBLISH_SECONDS": "3",
            "DATABASE_WAIT_SECONDS": "2",
            "ASKED_URL": self.asked_url,
            "BEAT_SCHEDULE_FILE": str(self.folder / "beat"),
        }
        self.token = self.run(FURNISH).strip().splitlines()[-1]

    def run(self, code: str) -> str:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, check=True, capture_output=True, text=True)
        return done.stdout

    def bring_back_database(self) -> None:
        self.database = self.postgres.start()
        self.postgres.wait_ready(self.database)

    def take_database_away(self) -> None:
        stop(self.database, signal.SIGQUIT)  # at once, as in a crash: connections are cut, nothing is tidied up

    def bring_back_redis(self) -> None:
        self.broker = self.redis.start()
        self.redis.wait_ready(self.broker)

    def take_redis_away(self) -> None:
        stop(self.broker, signal.SIGKILL)

    def start(self, *command: str) -> None:
        with (self.folder / "children.log").open("ab") as log:
            self.children.append(
                subprocess.Popen(
                    [sys.executable, "-m", *command],
                    cwd=ROOT,
                    env=self.environment,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def web(self) -> None:
        self.port = free_port()
        bind = ("--bind", f"127.0.0.1:{self.port}", "--workers", "1", "--threads", "4", "--no-control-socket")
        self.start("gunicorn", "dashboard.wsgi:application", *bind)
        deadline = time.monotonic() + 60
        while self.get("/healthz")[0] != 200:
            assert time.monotonic() < deadline, (self.folder / "children.log").read_text()[-2000:]
            time.sleep(0.2)

    def get(self, path: str) -> tuple[int, dict[str, str], str]:
        """Status 0: nobody answered."""
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            # a session is looked up, so the page needs the database however little is on it
            connection.request("GET", path, headers={"Cookie": f"sessionid={'x' * 32}"})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        except OSError:
            return 0, {}, ""

    def post(self, body: str, key: str) -> tuple[int, dict[str, str], str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }
        connection.request("POST", "/api/v1/observations", body, headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()

    def one(self, query: str) -> int:
        with psycopg.connect(self.postgres.url) as connection:
            row = connection.execute(query).fetchone()
        assert row is not None
        return int(row[0] or 0)

    def stop(self) -> None:
        for child in self.children:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            child.wait()
        stop(self.broker)
        stop(self.database, signal.SIGINT)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with answering_server() as (url, _):
        made = Service(tmp_path, url)
        try:
            yield made
        finally:
            made.stop()


def test_what_was_acknowledged_before_during_and_after_an_outage_of_the_database_is_there(service: Service) -> None:
    service.web()
    acknowledged: list[int] = []
    refusals: list[tuple[int, dict[str, str], str]] = []
    over = threading.Event()

    def sender() -> None:
        """As the quick start tells a program to: on 503 wait and send the same again, with the same key."""
        while not over.is_set():
            key = uuid4().hex
            body = json.dumps({"observations": [{"endpoint": "watched", "fingerprint": "fp_1"}] * BATCH})
            while True:
                status, headers, text = service.post(body, key)
                if status == 202:
                    acknowledged.append(json.loads(text)["accepted"])
                    break
                refusals.append((status, headers, text))
                time.sleep(min(1.0, float(headers.get("Retry-After", 1))))

    threads = [threading.Thread(target=sender) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(3)
    before = len(acknowledged)
    service.take_database_away()
    time.sleep(OUTAGE_S)
    during = len(acknowledged)
    page = service.get("/")
    service.bring_back_database()
    deadline = time.monotonic() + 60
    while len(acknowledged) < during + 10 and time.monotonic() < deadline:
        time.sleep(0.2)
    over.set()
    for thread in threads:
        thread.join()

    assert before > 0
    assert len(acknowledged) >= during + 10, "it took nothing more once the database was back"
    assert service.one("SELECT sum(answers) FROM drift_observedbucket") == sum(acknowledged)
    away = [one for one in refusals if one[0] == 503]
    assert away, Counter(status for status, _, _ in refusals)
    for _, headers, text in away:
        assert headers["Retry-After"].isdecimal()
        assert headers["Content-Type"] == "application/problem+json"
        assert "send it again" in json.loads(text)["detail"]
    others = Counter(status for status, _, _ in refusals) - Counter({503: len(away)})
    assert set(others) <= {409}, "409: the first request with this key may still be going on"
    assert (page[0], "Retry-After" in page[1]) == (503, True)
    assert "cannot be reached just now" in page[2]


def test_slots_go_on_after_an_outage_of_redis(service: Service) -> None:
    common = ("celery", "-A", "workers.celery:app", "worker", "--without-gossip", "--without-mingle")
    service.start(*common, "-Q", "probe", "-c", "1", "-n", "probe@%h")
    service.start(*common, "-Q", "schedule", "-P", "solo", "-B", "-n", "schedule@%h")
    finished = "SELECT count(*) FROM drift_run WHERE state = 'finished' AND samples_stored = 2"
    deadline = time.monotonic() + 90
    while not service.one(finished):
        assert time.monotonic() < deadline, (service.folder / "children.log").read_text()[-3000:]
        time.sleep(0.5)
    service.take_redis_away()
    service.run(RUN_NOW)  # a person asks for a run while the broker is away
    time.sleep(OUTAGE_S)
    service.bring_back_redis()
    deadline = time.monotonic() + 120
    while service.one("SELECT count(*) FROM drift_run WHERE origin = 'person' AND state <> 'finished'"):
        assert time.monotonic() < deadline, (service.folder / "children.log").read_text()[-3000:]
        time.sleep(0.5)
    assert service.one("SELECT count(*) FROM drift_run WHERE state = 'finished' AND samples_stored <> 2") == 0
