"""What is seen without an account: status page, badge, metrics."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.conf import LazySettings
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from drift import tokens
from drift.models import Endpoint, Monitor, Run, StatusLink, Team, User
from drift.public import badge_signature, status_signature


@pytest.fixture
def measured(monitor: Monitor, record_answers: Callable[..., Run]) -> Monitor:
    record_answers(monitor, [["a b", "a b", "a c"], ["x", "x", "x"]])
    return monitor


@pytest.fixture
def link(measured: Monitor, alice: User) -> StatusLink:
    return StatusLink.objects.create(team=measured.endpoint.team, name="Customers", created_by=alice)


def test_a_status_link_shows_states_and_nothing_else(link: StatusLink) -> None:
    answer = Client().get(f"/status/{status_signature(link)}")
    page = answer.content.decode()
    assert "gpt-x" in page
    assert "Two questions" not in page
    assert "http://127.0.0.1:1" not in page
    assert answer["X-Robots-Tag"] == "noindex"


def test_a_revoked_or_forged_link_shows_nothing(link: StatusLink, alice: User) -> None:
    address = f"/status/{status_signature(link)}"
    assert Client().get(address[:-1] + ("x" if address[-1] != "x" else "y")).status_code == 404
    client = Client()
    client.force_login(alice)
    client.post(f"/team/links/{link.public_id}/revoke")
    assert Client().get(address).status_code == 404


def test_a_badge_is_for_its_endpoint_alone(measured: Monitor) -> None:
    answer = Client().get(f"/badges/{badge_signature(measured.endpoint)}.svg")
    assert answer["Content-Type"] == "image/svg+xml"
    assert "gpt-x" in answer.content.decode()
    assert Client().get(f"/badges/{measured.endpoint.public_id}:forged.svg").status_code == 404
    status = status_signature(StatusLink(public_id=measured.endpoint.public_id))
    assert Client().get(f"/badges/{status}.svg").status_code == 404, "one kind of signature does not open another door"


def test_metrics_need_a_token_and_tell_of_its_team_only(
    measured: Monitor, mallory: User, settings: LazySettings
) -> None:
    assert Client().get("/metrics").status_code == 401
    theirs = tokens.issue(team=mallory.teams.get(), user=mallory, name="prometheus")[1]
    ours = tokens.issue(team=measured.endpoint.team, user=None, name="prometheus")[1]
    assert b"gpt-x" not in Client().get("/metrics", headers={"Authorization": f"Bearer {theirs}"}).content
    text = Client().get("/metrics", headers={"Authorization": f"Bearer {ours}"}).content.decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert families["tidegauge_divergence_ratio"].samples[0].value == 0.5
    assert families["tidegauge_divergence_ratio"].samples[0].labels["endpoint"] == "gpt-x"
    settings.METRICS_TOKEN = "for all teams"
    assert b"gpt-x" in Client().get("/metrics", headers={"Authorization": "Bearer for all teams"}).content


def test_metrics_cost_the_same_however_many_endpoints(
    measured: Monitor, team: Team, django_assert_max_num_queries: Callable[..., object]
) -> None:
    Endpoint.objects.bulk_create(
        Endpoint(team=team, name=f"e{i}", base_url="https://api.example.com/v1", model="m") for i in range(50)
    )
    ours = tokens.issue(team=team, user=None, name="prometheus")[1]
    with django_assert_max_num_queries(20):  # type: ignore[attr-defined]
        Client().get("/metrics", headers={"Authorization": f"Bearer {ours}"})
