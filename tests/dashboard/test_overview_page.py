from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from drift import monitors
from drift.models import Endpoint, Monitor, Run, Series


def test_without_endpoints_it_teaches(as_alice: Client) -> None:
    page = as_alice.get("/").content.decode()
    assert "No endpoint is watched yet." in page
    assert "Temperature 0 is not reproducibility" in page


def test_the_sentence_comes_first_and_the_row_has_its_figures(as_alice: Client, measured: Series) -> None:
    page = as_alice.get("/").content.decode()
    assert "gpt-x gives different answers to the same prompt at temperature 0." in page
    assert "gpt-x" in page
    assert '<span class="identity" translate="no">fp_one</span>' in page
    # 2 of 4 warm answers to the first canary differ from the other two: 4 of 6 pairs; the second agrees
    assert "33.3 %" in page
    assert "token 3" not in page


def test_too_little_data_is_words_and_no_number(
    as_alice: Client, monitor: Monitor, record_answers: Callable[..., Run]
) -> None:
    record_answers(monitor, [["alone"], []], at=timezone.now())
    page = as_alice.get("/").content.decode()
    assert "Not enough data: 1 of 4 comparable answers" in page
    assert "0 %" not in page


def test_a_running_run_shows_its_progress(as_alice: Client, measured: Series, monitor: Monitor, alice: object) -> None:
    run = monitors.run_now(monitor, None)
    Run.objects.filter(pk=run.pk).update(
        state="running", claim=run.public_id, lease_until=timezone.now() + timedelta(minutes=1), samples_done=4
    )
    assert "asking: 4 of 10" in as_alice.get("/").content.decode()


def test_htmx_gets_the_part_that_renews_itself(as_alice: Client, measured: Series) -> None:
    part = as_alice.get("/", headers={"HX-Request": "true"}).content.decode()
    assert part.startswith('<div id="overview"')
    assert "<html" not in part


def test_filtering_keeps_the_rows_that_fit(as_alice: Client, measured: Series, endpoint: Endpoint) -> None:
    endpoint.__class__.objects.create(
        team=endpoint.team, name="other", base_url="http://x/v1", model="m", provider="Else"
    )
    assert "gpt-x</a>" in as_alice.get("/?q=GPT").content.decode()
    page = as_alice.get("/?q=else").content.decode()
    assert "other</a>" in page
    assert "gpt-x</a>" not in page
    assert "No endpoint fits" in as_alice.get("/?q=nothing").content.decode()
    assert "gpt-x</a>" not in as_alice.get("/?state=paused").content.decode()


def test_grouping_names_the_groups(as_alice: Client, measured: Series) -> None:
    assert 'scope="rowgroup">Example' in as_alice.get("/?group=provider").content.decode()


@pytest.mark.parametrize("address", ["/?span=week", "/?group=password", "/?state=%00", "/?q=" + "x" * 5000])
def test_odd_addresses_are_no_errors(as_alice: Client, measured: Series, address: str) -> None:
    assert as_alice.get(address).status_code == 200


def test_a_simulated_endpoint_says_so(as_alice: Client, measured: Series, endpoint: Endpoint) -> None:
    Endpoint.objects.update(simulated=True)
    assert "simulated" in as_alice.get("/").content.decode()


def test_an_archived_endpoint_is_gone(as_alice: Client, measured: Series) -> None:
    Endpoint.objects.update(archived_at=timezone.now())
    assert "gpt-x" not in as_alice.get("/").content.decode()


def test_names_cannot_carry_markup(as_alice: Client, measured: Series) -> None:
    Endpoint.objects.update(name="<script>alert(1)</script>", provider='"><img src=x>')
    page = as_alice.get("/").content.decode()
    assert "<script>alert" not in page
    assert "<img" not in page


def test_picked_endpoints_are_paused_and_resumed_together(as_alice: Client, monitor: Monitor) -> None:
    picked = {"endpoint": [str(monitor.endpoint.public_id), "not-an-id"], "back": "/?group=provider"}
    answer = as_alice.post("/monitors/pause", {**picked, "action": "pause"})
    assert answer["Location"] == "/?group=provider"
    monitor.refresh_from_db()
    assert not monitor.active
    assert monitor.paused_reason == "paused by alice"
    as_alice.post("/monitors/pause", {**picked, "action": "resume"})
    monitor.refresh_from_db()
    assert monitor.active


def test_a_form_never_sends_people_to_another_site(as_alice: Client, monitor: Monitor) -> None:
    answer = as_alice.post("/monitors/pause", {"endpoint": [], "back": "https://evil.example/"})
    assert answer["Location"] == "/"


def test_at_most_ten_queries_however_much_there_is(
    as_alice: Client, monitor: Monitor, measured: Series, record_answers: Callable[..., Run]
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as seen:
            assert as_alice.get("/").status_code == 200
        return len(seen)

    few = queries()
    for back in range(1, 6):
        record_answers(monitor, [["a", "b", "c"], ["d", "d", "e"]], at=timezone.now() - timedelta(hours=back))
    for number in range(8):
        other = Endpoint.objects.create(
            team=monitor.endpoint.team, name=f"e{number}", base_url="http://x/v1", model="m"
        )
        more = Monitor.objects.create(endpoint=other, suite=monitor.suite, next_due_at=timezone.now())
        record_answers(more, [["a", "b"], ["c", "c"]], at=timezone.now())
    assert queries() == few
    assert few <= 10


def test_the_worst_fifty_come_first_and_the_rest_are_a_click_away(as_alice: Client, team: object) -> None:
    Endpoint.objects.bulk_create(
        Endpoint(team=team, name=f"e{number:02}", base_url="http://x/v1", model="m") for number in range(60)
    )
    page = as_alice.get("/").content.decode()
    assert page.count("data-row>") == 50
    assert "Show 10 more" in page
    assert as_alice.get("/?rows=all").content.decode().count("data-row>") == 60
    assert "e59</a>" in as_alice.get("/?q=e59").content.decode()
