"""Who gets in: nobody without a login, nobody into another team, no viewer into a change.

`test_every_route` walks whatever route there is; here the pages are also looked into.
"""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import URLPattern, reverse

from dashboard.urls import urlpatterns
from drift.models import Canary, Endpoint, Monitor, Sample, Series, User

OURS = (
    "overview", "monitors-pause", "endpoint-add", "endpoint", "endpoint-edit", "endpoint-check", "endpoint-archive",
    "endpoint-restore", "monitor-add", "chart", "canary", "canary-pair", "monitor-edit", "monitor-pause", "monitor-resume",
    "monitor-run", "sample", "sample-raw", "suites", "suite", "compare", "compare-chart", "inhouse", "inhouse-chart",
    "about", "login", "logout", "password", "healthz", "readyz",
)  # fmt: skip
OPEN = {"login", "healthz", "readyz"}
OF_NOBODY = {
    "overview",
    "suites",
    "compare",
    "compare-chart",
    "inhouse",
    "inhouse-chart",
    "about",
    "password",
    "logout",
}


@pytest.fixture
def addresses(monitor: Monitor, measured: Series, canary: Canary, sample: Sample) -> dict[str, str]:
    """One address of each of these pages."""
    endpoint = monitor.endpoint.public_id
    keys = {
        "endpoint": endpoint,
        "monitor": monitor.public_id,
        "canary": canary.public_id,
        "sample": sample.public_id,
        "suite": monitor.suite.public_id,
        "chart": "divergence",
        "form": "json",
    }
    converters = {p.name: p.pattern.converters for p in urlpatterns if isinstance(p, URLPattern)}
    found = {name: reverse(name, kwargs={key: keys[key] for key in converters[name]}) for name in OURS}
    found["chart"] += f"?series={measured.public_id}"
    found["inhouse-chart"] = reverse("inhouse-chart", args=["batches", "json"])
    return found


CHANGES = {
    "monitors-pause", "endpoint-add", "endpoint-edit", "endpoint-check", "endpoint-archive", "endpoint-restore",
    "monitor-add", "monitor-edit", "monitor-pause", "monitor-resume", "monitor-run",
}  # fmt: skip
POST_ONLY = {
    "monitors-pause",
    "endpoint-archive",
    "endpoint-restore",
    "monitor-pause",
    "monitor-resume",
    "monitor-run",
    "logout",
}


def test_every_page_but_the_open_ones_asks_for_a_login(addresses: dict[str, str]) -> None:
    for name, address in addresses.items():
        answer = Client().get(address)
        if name in OPEN:
            assert answer.status_code in (200, 503), name
        else:
            assert answer.status_code == 302, name
            assert answer["Location"].startswith("/login"), name


def test_the_team_sees_every_page(addresses: dict[str, str], as_alice: Client) -> None:
    for name, address in addresses.items():
        if name not in POST_ONLY | OPEN:
            assert as_alice.get(address).status_code == 200, name


def test_mallory_finds_none_of_the_teams_pages(addresses: dict[str, str], as_mallory: Client) -> None:
    for name, address in addresses.items():
        if name in OPEN | OF_NOBODY | {"endpoint-add", "monitors-pause"}:
            continue
        method = as_mallory.post if name in POST_ONLY else as_mallory.get
        assert method(address).status_code == 404, name


def test_mallory_sees_nothing_of_the_team_on_shared_pages(addresses: dict[str, str], as_mallory: Client) -> None:
    for name in ("overview", "suites", "compare", "inhouse"):
        page = as_mallory.get(addresses[name]).content.decode()
        assert "gpt-x" not in page, name
        assert "Two questions" not in page, name


def test_mallory_changes_nothing(addresses: dict[str, str], as_mallory: Client, monitor: Monitor) -> None:
    for name in CHANGES - {"endpoint-add", "monitors-pause"}:
        assert as_mallory.post(addresses[name], {"name": "stolen"}).status_code == 404, name
    as_mallory.post(addresses["monitors-pause"], {"endpoint": [str(monitor.endpoint.public_id)]})
    monitor.refresh_from_db()
    assert monitor.active
    assert Endpoint.objects.get().name == "gpt-x"


def test_a_viewer_looks_but_does_not_change(addresses: dict[str, str], as_vera: Client, monitor: Monitor) -> None:
    for name in CHANGES:
        assert as_vera.post(addresses[name], {"name": "changed"}).status_code == 403, name
    assert as_vera.get(addresses["endpoint"]).status_code == 200
    monitor.refresh_from_db()
    assert monitor.active
    assert Endpoint.objects.get().archived_at is None


def test_a_viewer_is_shown_no_buttons_that_change(addresses: dict[str, str], as_vera: Client) -> None:
    page = as_vera.get(addresses["endpoint"]).content.decode()
    assert "Run now" not in page
    assert "Archive" not in page
    assert "Add an endpoint" not in as_vera.get("/").content.decode()


def test_a_person_without_a_team_is_told_what_to_do(db: None) -> None:
    lonely = User.objects.create_user("lonely", "lonely@example.org", "low tide at noon")
    client = Client()
    client.force_login(lonely)
    answer = client.get("/")
    assert answer.status_code == 404
    assert "not in a team" in answer.content.decode()


def test_changes_need_a_token(alice: User, monitor: Monitor) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    assert client.post(reverse("monitor-pause", args=[monitor.public_id])).status_code == 403


def test_signing_in_leads_to_the_page_asked_for(alice: User) -> None:
    client = Client()
    form = {"login": "alice", "password": "low tide at noon", "next": "/suites/"}
    assert client.post("/login", form)["Location"] == "/suites/"


def test_a_wrong_password_says_so(alice: User) -> None:
    answer = Client().post("/login", {"login": "alice", "password": "high tide"})
    assert answer.status_code == 200
    assert "correct username and password" in answer.content.decode()
