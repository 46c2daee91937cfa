"""The comparison over weeks: figures, changes, a ranking only where it can be told, three forms."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from drift import monitors
from drift.checkup.side_by_side import open_ranks
from drift.models import Endpoint, EndpointCheck, Finding, Monitor, Run, Suite, Team, User
from drift.provision import make_suite

QUESTIONS = tuple((f"Question {i}", f"What is {i}?", 16) for i in range(8))


@pytest.fixture
def questions(team: Team) -> Suite:
    return make_suite(team, "Eight questions", QUESTIONS)


@pytest.fixture
def watched(team: Team, questions: Suite, record_answers: Callable[..., Run]) -> Callable[..., Monitor]:
    """An endpoint with two days of runs; `loose`: of how many questions the answers differ."""

    def make(name: str, loose: int, suite: Suite | None = None, **fields: object) -> Monitor:
        endpoint = Endpoint.objects.create(
            team=team, name=name, provider=f"P {name}", base_url="http://127.0.0.1:1/v1", model="gpt-x", **fields
        )
        now = timezone.now()
        EndpointCheck.objects.create(
            endpoint=endpoint, requested_at=now, finished_at=now, state=EndpointCheck.State.PASSED
        )
        monitor = monitors.create(endpoint=endpoint, suite=suite or questions, repeats=5, run_at_once=False)
        for hour in range(6):
            record_answers(monitor, answers(loose), at=now - timedelta(hours=6 * hour + 1))
        return monitor

    return make


def answers(loose: int) -> Sequence[Sequence[str]]:
    return [[f"{i} is a number {n % 3 if i < loose else 0}" for n in range(5)] for i in range(len(QUESTIONS))]


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def get(user: User, form: str, monitors_: Sequence[Monitor]) -> str:
    picks = "&".join(f"endpoint={one.endpoint.public_id}" for one in monitors_)
    answer = client_of(user).get(f"{reverse('compare-report', args=[form])}?{picks}&range=30d")
    assert answer.status_code == 200
    assert answer["Content-Disposition"].startswith("attachment")
    return answer.content.decode()


def test_endpoints_that_differ_are_ranked_and_equal_ones_are_not(watched, alice: User) -> None:
    exact, loose, alike = watched("exact", 0), watched("loose", 8), watched("alike", 0)
    made = json.loads(get(alice, "json", [exact, loose, alike]))
    ranks = {one["name"]: one["rank"] for one in made["endpoints"]}
    assert ranks == {"exact": [1, 2], "loose": [3, 3], "alike": [1, 2]}
    assert made["comparable"]
    assert made["sentence"].startswith("loose repeats least")
    figures = {one["name"]: one["pairs_differing"] for one in made["endpoints"]}
    assert figures["exact"] == 0 < figures["loose"]


def test_different_suites_give_no_order(watched, team: Team, alice: User) -> None:
    other = make_suite(team, "Others", tuple((f"Q {i}", f"Why {i}?", 16) for i in range(8)))
    made = json.loads(get(alice, "json", [watched("a", 0), watched("b", 8, other)]))
    assert not made["comparable"]
    assert {tuple(one["rank"] or ()) for one in made["endpoints"]} == {()}
    assert "no common scale" in made["sentence"]


def test_the_file_stands_alone_and_tells_what_changed(watched, alice: User) -> None:
    one, two = watched("<i>one</i>", 2), watched("two", 3)
    now = timezone.now()
    Finding.objects.create(
        team=one.endpoint.team, endpoint=one.endpoint, kind="new_identity", severity="high", began_at=now, found_at=now,
        facts={"new": ['["gpt-x","value","fp_new",""]'], "answers": 10, "answers_new": 4},
    )  # fmt: skip
    page = get(alice, "html", [one, two])
    assert "<script" not in page
    assert "http" not in page
    assert "<i>one" not in page
    assert "fp_new" in page
    assert "No change was found" in page


def test_the_csv_has_a_line_each_and_no_formula(watched, alice: User) -> None:
    rows = list(csv.DictReader(io.StringIO(get(alice, "csv", [watched("=1+1", 2), watched("two", 3)]))))
    assert {row["endpoint"] for row in rows} == {"'=1+1", "two"}
    assert all(0 < float(row["divergence"]) < 1 for row in rows)
    assert all(row["cost"] == "" for row in rows)


def test_the_command_says_the_same_and_writes_files(
    watched, team: Team, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    watched("exact", 0), watched("loose", 8), watched("alike", 0)
    page, lines = tmp_path / "weeks.html", tmp_path / "weeks.csv"
    call_command("compare", "exact", "loose", "--team", team.name, "--html", str(page), "--csv", str(lines))
    said = capsys.readouterr().out
    assert "loose: place 2, " in said
    assert "alike" not in said
    assert page.read_text().startswith("<!doctype html>")
    assert [row["endpoint"] for row in csv.DictReader(lines.open())] == ["loose", "exact"]
    call_command("compare", "--team", team.name, "--days", "7", "--json")
    assert len(json.loads(capsys.readouterr().out)["endpoints"]) == 3
    with pytest.raises(CommandError, match="No figures yet of: nobody"):
        call_command("compare", "nobody", "--team", team.name)


def test_mallory_gets_an_empty_report(watched, mallory: User) -> None:
    monitor = watched("secret name", 2)
    answer = client_of(mallory).get(f"{reverse('compare-report', args=['html'])}?endpoint={monitor.endpoint.public_id}")
    assert "secret name" not in answer.content.decode()
    assert client_of(mallory).get(reverse("compare-report", args=["pdf"])).status_code == 404


def test_places_stay_open_where_differences_are_not_sure() -> None:
    flat = {str(i): 0.2 + 0.01 * (i % 3) for i in range(8)}
    noisy = {str(i): 0.2 + 0.05 * (-1) ** i for i in range(8)}
    high = {str(i): 0.9 - 0.01 * (i % 2) for i in range(8)}
    assert open_ranks([flat, noisy, high, {}]) == [(1, 2), (1, 2), (3, 3), None]
    assert open_ranks([flat]) == [(1, 1)]
    assert open_ranks([]) == []
