"""Every page there is, looked at by axe in both themes. A new page is walked by itself, from the list of addresses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from drift.models import Baseline, Run, StatusLink, User
from drift.public import status_signature
from tests.browser.conftest import Site
from tests.dashboard.rows import rows_of
from tests.dashboard.test_every_route import PAGES

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

NO_PAGE = {"logout", "healthz", "readyz", "metrics"}
QUERIES = {"channel-add": "?kind=email"}
MUST_BE_AMONG = {
    "overview", "endpoint", "endpoint-add", "endpoint-edit", "endpoint-check", "monitor-add", "monitor-edit", "canary",
    "canary-pair", "sample", "trial", "suites", "suite", "suite-add", "suite-edit", "compare", "inhouse",
    "incidents", "incident", "feed", "silences", "annotation-add", "annotation-edit", "channels", "channel", "channel-add",
    "channel-edit", "checkups", "checkup", "checkup-add", "checkup-bring", "fit", "you", "team", "audit",
    "about", "password", "status-page",
}  # fmt: skip


@pytest.fixture
def addresses(site: Site) -> dict[str, str]:
    """Every address that answers Ada with a page, by the route's name."""
    ada = User.objects.get(username="ada")
    run = Run.objects.filter(monitor__endpoint=site.endpoints["smollm2 · fast"], state="finished")[0]
    if not Baseline.objects.filter(series=run.series).exists():
        Baseline.objects.create(series=run.series, since=run.scheduled_for, wanted_runs=3)
    rows = rows_of(run, ada)
    link = StatusLink.objects.create(team=site.team, name="walk", created_by=ada)
    rows["status:signature"] = status_signature(link)
    client = Client()
    client.force_login(ada)
    found = {}
    for route in PAGES:
        if route.name in NO_PAGE:
            continue
        address = route.filled(rows) + QUERIES.get(route.name, "")
        answer = client.get(address)
        shown = answer.headers.get("Content-Type", "").startswith("text/html")
        if answer.status_code == 200 and shown and "Content-Disposition" not in answer.headers:
            found[route.name] = address
    assert sorted(MUST_BE_AMONG - found.keys()) == [], "pages that were not reached"
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_any_page(
    visit: Callable[..., Any], site: Site, addresses: dict[str, str], theme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()
    page = visit("/", theme=theme)
    found = []
    for name, address in addresses.items():
        page.goto(site.url + address)
        for problem in axe.run(page).response["violations"]:
            if problem["impact"] in ("serious", "critical"):
                found.append((name, problem["id"], [node["html"][:160] for node in problem["nodes"][:3]]))
    assert not found


def test_nothing_of_any_page_scrolls_sideways_at_any_width(
    visit: Callable[..., Any], site: Site, addresses: dict[str, str]
) -> None:
    """A small phone, a tablet, and the widths at which tables gain their last columns."""
    page = visit("/", width=320)
    wide = []
    for name, address in addresses.items():
        page.set_viewport_size({"width": 320, "height": 800})
        page.goto(site.url + address)
        for width in (320, 800, 1001, 1249, 1280, 1377):
            page.set_viewport_size({"width": width, "height": 800})
            if page.evaluate("document.documentElement.scrollWidth") > width:
                wide.append((name, width))
    assert not wide
