"""The compare page says of each two endpoints whether their answers come from one distribution."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from drift.models import Endpoint, Monitor, Run, User
from tests.dashboard.conftest import signed_in


def address(form: str = "html") -> str:
    return reverse("compare-alike", args=[form])


@pytest.fixture
def three(monitor: Monitor, record_answers: Callable[..., Run]) -> list[Endpoint]:
    """Two endpoints that answer alike and a third that does not, over eight hours."""
    found = [monitor.endpoint]
    for name in ("twin", "stranger"):
        other = Endpoint.objects.create(team=monitor.endpoint.team, name=name, base_url="http://x/v1", model="m")
        Monitor.objects.create(endpoint=other, suite=monitor.suite, next_due_at=timezone.now())
        found.append(other)
    for hours in range(1, 9):
        at = timezone.now() - timedelta(hours=hours)
        for endpoint in found:
            own = Monitor.objects.get(endpoint=endpoint)
            texts = ["c", "c", "d", "c"] if endpoint.name == "stranger" else ["a", "a", "b", "a"]
            record_answers(own, [texts, [f"x{text}" for text in texts]], at=at)
    return found


def test_the_page_fetches_the_matrix_and_the_matrix_names_the_different_ones(
    as_alice: Client, three: list[Endpoint]
) -> None:
    page = as_alice.get(reverse("compare")).content.decode()
    assert f'hx-get="{address()}?' in page
    part = as_alice.get(address()).content.decode()
    assert "2 of 3 pairs do not answer from one distribution." in part
    assert part.count("≠") == 4, "each pair stands twice in the matrix"
    assert part.count("not told apart") == 2
    assert "would have shown" in part
    assert "p = " in part


def test_alike_is_never_said_to_be_the_same(as_alice: Client, three: list[Endpoint]) -> None:
    picks = "&".join(f"endpoint={one.public_id}" for one in three[:2])
    part = as_alice.get(f"{address()}?{picks}").content.decode()
    assert "No two of them could be told apart. That does not prove that they are the same" in part


def test_the_exports_hold_the_same_figures(as_alice: Client, three: list[Endpoint]) -> None:
    rows = as_alice.get(address("json")).json()["rows"]
    assert len(rows) == 3
    told = {frozenset((row["endpoint"], row["other"])): row for row in rows}
    alike = told[frozenset(("gpt-x", "twin"))]
    assert alike["different"] == "false"
    assert alike["would_have_been_seen"] >= alike["effect_high"] > 0
    other = told[frozenset(("gpt-x", "stranger"))]
    assert other["different"] == "true"
    assert other["p"] <= other["p_adjusted"] <= 0.05
    assert other["effect"] > 0.3
    lines = as_alice.get(address("csv")).content.decode().splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("endpoint,other,different,p,p_adjusted,effect")
    report = as_alice.get(reverse("compare-report", args=["json"])).json()
    assert {pair["different"] for pair in report["pairs"]} == {True, False}


def test_a_second_look_costs_no_second_computation(as_alice: Client, three: list[Endpoint]) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            as_alice.get(address())
        return len(seen)

    first, second = queries(), queries()
    assert second < first <= 22


def test_an_outsider_compares_nothing_of_ours(mallory: User, three: list[Endpoint]) -> None:
    client = signed_in(mallory)
    picks = "&".join(f"endpoint={one.public_id}" for one in three)
    for form in ("html", "csv", "json"):
        answer = client.get(f"{address(form)}?{picks}")
        assert answer.status_code == 200
        assert b"gpt-x" not in answer.content
        assert b"twin" not in answer.content


def test_one_endpoint_has_nobody_to_be_compared_with(as_alice: Client, monitor: Monitor, measured: object) -> None:
    assert 'id="alike"' not in as_alice.get(reverse("compare")).content.decode()
    assert "Not enough answers to the same prompts" in as_alice.get(address()).content.decode()
