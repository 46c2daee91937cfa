"""`manage.py checkup` as a person runs it, against a simulated endpoint: cost first, progress, caps, taken up again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import connection

from drift.models import Checkup, CheckupAnswer, Endpoint, Team
from tests.stack import ROOT, child_environment
from workers.up.places import free_port

pytestmark = pytest.mark.timeout(400)
KEY = "sk-never-to-be-shown-0123456789"
SMALL = ("--repeats", "3", "--concurrency", "1,4", "--max-tokens", "12")


@pytest.fixture
def simulated(tmp_path: Path) -> Iterator[str]:
    """The address of an endpoint whose near-ties flip in 30 % of answers."""
    port = free_port()
    command = [sys.executable, "-m", "workers.simulate", "--scenario", "near-ties", "--port", str(port), "--seed", "7"]
    with (tmp_path / "simulator.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=2)
                break
            except urllib.error.HTTPError:
                break
            except OSError:
                assert time.monotonic() < deadline, (tmp_path / "simulator.log").read_text()
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.kill()
        server.wait()


@pytest.fixture
def begin(transactional_db: None, team: Team, simulated: str) -> Callable[..., subprocess.Popen[str]]:
    """Starts the command with the key in its environment; every run belongs to one team."""

    def start(*options: str, url: str = "") -> subprocess.Popen[str]:
        command = [
            sys.executable,
            "manage.py",
            "checkup",
            url or simulated,
            "simulated-small",
            "--team",
            team.name,
            *options,
        ]
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=child_environment(TIDEGAUGE_API_KEY=KEY, RUN_LEASE_SECONDS="3"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, said = process.communicate(timeout=300)
    assert KEY not in out + said
    return process.returncode, out, said


def answered() -> int:
    connection.close_if_unusable_or_obsolete()
    return CheckupAnswer.objects.count()


def test_the_cost_comes_first_then_progress_then_the_report_in_every_form(
    begin: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    status, out, said = ended(begin(*SMALL, "--estimate"))
    assert (status, out, Checkup.objects.count()) == (0, "", 0)
    assert "requests, at most" in said
    assert "price not known" in said

    file = tmp_path / "report.html"
    status, out, said = ended(begin(*SMALL, "--price-in", "1", "--price-out", "2", "--json", "--html", str(file)))
    assert status == 0, said
    checkup = Checkup.objects.get()
    cost, bar = said.index("at most $"), said.index("[")
    assert cost < bar, "the cost is said before anything is asked"
    assert f"{checkup.wanted} of {checkup.wanted}" in said
    report = json.loads(out)["report"]
    assert report["quiet"]["pairs_differing"] > 0
    assert [one["label"] for one in report["loads"]] == ["4 in flight"]
    page = file.read_text()
    assert page.startswith("<!doctype html>")
    assert KEY not in page
    assert KEY not in json.dumps(Endpoint.objects.values_list("api_key_hint", flat=True)[0])
    assert answered() == checkup.answered == checkup.wanted


def test_a_cap_is_never_passed_and_what_is_there_is_reported(begin: Callable[..., subprocess.Popen[str]]) -> None:
    status, out, said = ended(begin(*SMALL, "--cap-tokens", "1500"))
    checkup = Checkup.objects.get()
    assert status == 0, said
    assert checkup.state == "stopped"
    assert 0 < checkup.tokens <= 1500
    assert checkup.answered < checkup.wanted
    assert "Ended early" in said
    assert "of pairs differ" in out


def test_killed_half_way_the_same_command_goes_on_where_it_was(begin: Callable[..., subprocess.Popen[str]]) -> None:
    first = begin(*SMALL)
    deadline = time.monotonic() + 120
    while answered() < 20:
        assert first.poll() is None, first.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    there = answered()
    kept = set(CheckupAnswer.objects.values_list("pk", flat=True))
    assert there < Checkup.objects.get().wanted, "it was over before it was killed"
    status, out, said = ended(begin(*SMALL))
    assert status == 0, said
    assert "going on where it was" in said
    checkup = Checkup.objects.get()
    assert checkup.state == "finished"
    assert answered() == checkup.wanted
    assert kept <= set(CheckupAnswer.objects.values_list("pk", flat=True)), "what was answered is not asked again"
    assert "of pairs differ" in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--concurrency", "1,many"), "whole numbers"),
        (("--repeats", "1"), "2"),
        (("--max-cost", "1"), "prices"),
        (("--suite", "Nobody's"), "no suite called"),
        (("--max-cost", "much"), "amount in dollars"),
    ],
)
def test_a_wish_that_makes_no_sense_ends_with_1_and_says_why(
    begin: Callable[..., subprocess.Popen[str]], options: tuple[str, ...], words: str
) -> None:
    status, out, said = ended(begin(*SMALL, *options))
    assert (status, out, Checkup.objects.count()) == (1, "", 0)
    assert words in said
    assert "Traceback" not in said


def test_an_endpoint_that_is_not_there_ends_with_1_and_says_so(begin: Callable[..., subprocess.Popen[str]]) -> None:
    status, out, said = ended(begin(*SMALL, url=f"http://127.0.0.1:{free_port()}/v1"))
    assert (status, out) == (1, "")
    assert "127.0.0.1" in said
    assert "Traceback" not in said
