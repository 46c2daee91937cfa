from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from drift import monitors
from drift.models import Capability, Endpoint, EndpointCheck, Monitor, Run, Series


@pytest.fixture
def address(endpoint: Endpoint) -> str:
    return reverse("endpoint", args=[endpoint.public_id])


def test_the_facts_carry_what_they_rest_on(as_alice: Client, measured: Series, address: str) -> None:
    page = as_alice.get(address).content.decode()
    assert "33.3 %" in page
    assert "4 of 12 pairs differ" in page
    assert "over 2 canaries" in page
    assert "first answers" in page.lower()


def test_before_any_answer_it_says_so_and_shows_no_chart(as_alice: Client, monitor: Monitor, address: str) -> None:
    page = as_alice.get(address).content.decode()
    assert "no answers yet" in page
    assert "data-chart" not in page
    assert "Nothing was sent yet" in page


def test_each_chart_has_its_table_its_exports_and_a_summary(as_alice: Client, measured: Series, address: str) -> None:
    page = as_alice.get(address).content.decode()
    for chart in ("divergence", "identities", "canaries", "outcomes", "latency"):
        assert f'id="chart-{chart}"' in page
        assert f"{chart}.csv" in page
        assert f"{chart}.json" in page
    assert page.count("<caption") >= 5
    assert 'role="img" aria-label="Divergence went from 33.3 % to 33.3 %' in page


def test_approximate_tokens_are_called_so(
    as_alice: Client, monitor: Monitor, record_answers: Callable[..., Run], address: str
) -> None:
    from tests.conftest import read_text

    texts = ["the tide is out", "the tide was in"]
    record_answers(monitor, [[read_text(text, tokens=False) for text in texts * 3], ["x"]], at=timezone.now())
    page = as_alice.get(address).content.decode()
    assert "approximate token" in page


def test_capabilities_are_shown_with_their_evidence(
    as_alice: Client, measured: Series, address: str, endpoint: Endpoint
) -> None:
    Capability.objects.create(
        endpoint=endpoint, name="seed", state="ignored", evidence="differs as often", checked_at=timezone.now()
    )
    page = as_alice.get(address).content.decode()
    assert "differs as often" in page
    assert "ignored" in page


def test_the_request_is_shown_and_the_key_is_not(
    as_alice: Client, measured: Series, address: str, endpoint: Endpoint
) -> None:
    endpoint.api_key, endpoint.api_key_hint = "sk-very-secret-9876", "9876"
    endpoint.extra_headers = {"x-secret": "hush"}
    endpoint.save()
    page = as_alice.get(address).content.decode()
    assert "&quot;gpt-x&quot;" in page
    assert "Bearer ••••9876" in page
    assert "very-secret" not in page
    assert "hush" not in page


def test_runs_that_were_skipped_or_failed_say_why(
    as_alice: Client, measured: Series, monitor: Monitor, address: str
) -> None:
    now = timezone.now()
    Run.objects.create(
        monitor=monitor,
        scheduled_for=now - timedelta(hours=2),
        state="skipped",
        missed_slots=7,
        repeats=5,
        concurrency=1,
        problem="the scheduler was away",
    )
    Run.objects.create(
        monitor=monitor,
        scheduled_for=now - timedelta(hours=1),
        state="failed",
        finished_at=now,
        repeats=5,
        concurrency=1,
        problem="its worker ended",
    )
    page = as_alice.get(address).content.decode()
    assert "the scheduler was away" in page
    assert "× 7" in page
    assert "its worker ended" in page


def test_a_running_run_renews_its_progress(as_alice: Client, measured: Series, monitor: Monitor, address: str) -> None:
    monitors.run_now(monitor, None)
    page = as_alice.get(address).content.decode()
    assert 'data-live="2"' in page
    assert "waits for a worker" in page
    Run.objects.filter(state="due").update(state="skipped")
    part = as_alice.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "The run has ended" in part
    assert "<html" not in part
    assert "data-live" not in part


def test_a_failed_check_is_shown_with_what_to_do(
    as_alice: Client, measured: Series, endpoint: Endpoint, address: str
) -> None:
    EndpointCheck.objects.create(
        endpoint=endpoint,
        requested_at=timezone.now(),
        finished_at=timezone.now(),
        state="failed",
        problem="The key was refused. Enter another.",
    )
    assert "The key was refused. Enter another." in as_alice.get(address).content.decode()


def test_an_earlier_series_can_be_looked_at(
    as_alice: Client, measured: Series, endpoint: Endpoint, address: str
) -> None:
    older = Series.objects.create(
        endpoint=endpoint, suite=measured.suite, transport="whole", parameters={"parameters": {}}, digest=b"x"
    )
    page = as_alice.get(f"{address}?series={older.public_id}").content.decode()
    assert "Not enough data in this time." in page
    assert str(measured.public_id) in page


@pytest.mark.parametrize(
    "query", ["range=7d", "range=0h", "range=nonsense", "range=9999d", "from=2026-11-01T00:00Z&to=2026-11-02T00:00Z",
              "from=2026-11-02T00:00Z&to=2026-11-01T00:00Z", "from=x&to=y", "from=9999-12-31T00:00Z", "series=nonsense"],
)  # fmt: skip
def test_any_range_in_the_address_gives_a_page(as_alice: Client, measured: Series, address: str, query: str) -> None:
    assert as_alice.get(f"{address}?{query}").status_code == 200


def test_a_link_to_this_time_shows_the_same_stretch_again(as_alice: Client, measured: Series, address: str) -> None:
    page = as_alice.get(f"{address}?from=2026-11-01T06:00Z&to=2026-11-01T12:00Z").content.decode()
    assert "from=2026-11-01T06:00Z&amp;to=2026-11-01T12:00Z" in page


def test_at_most_twenty_queries_however_many_samples(
    as_alice: Client, monitor: Monitor, measured: Series, record_answers: Callable[..., Run], address: str
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert as_alice.get(address).status_code == 200
        return len(seen)

    few = queries()
    for back in range(1, 6):
        record_answers(monitor, [["a", "b", "c"] * 4, ["d", "d", "e"] * 4], at=timezone.now() - timedelta(hours=back))
    assert queries() == few
    assert few <= 20


def test_charts_come_as_figure_csv_and_json(as_alice: Client, measured: Series, address: str) -> None:
    base, query = f"{address}chart/divergence", f"?series={measured.public_id}&range=24h"
    figure = as_alice.get(f"{base}.figure{query}").json()
    assert figure["data"]
    assert figure["layout"]["xaxis"]["range"]
    rows = as_alice.get(f"{base}.json{query}").json()["rows"]
    assert len(rows) in (24, 25)
    assert rows[0]["divergence"] is None, "an hour without data is null and not 0"
    assert rows[-1]["divergence"] == pytest.approx(1 / 3)
    lines = as_alice.get(f"{base}.csv{query}").content.decode().splitlines()
    assert lines[0].startswith("from,divergence,low,high,pairs")
    assert len(lines) == len(rows) + 1


def test_an_unknown_chart_or_form_or_series_is_not_here(as_alice: Client, measured: Series, address: str) -> None:
    series = f"?series={measured.public_id}"
    for rest in (
        f"chart/nothing.json{series}",
        f"chart/divergence.xlsx{series}",
        "chart/divergence.json",
        f"chart/divergence.json?series={uuid4()}",
        "chart/divergence.json?series=x",
    ):
        assert as_alice.get(address + rest).status_code == 404, rest
