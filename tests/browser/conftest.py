"""A live server with a team's endpoints behind it, and Chromium before it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.test.utils import override_settings
from django.utils import timezone

from drift.models import Endpoint, Membership, Role, Team, User
from tests.browser import scenery
from tests.browser.chromium import chromium, launch

PASSWORD = "low tide at noon"


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Chromium for this package alone: playwright's loop counts as running until it is stopped."""
    if chromium() is None:
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail("REQUIRE_BROWSER=1, but there is no Chromium: set CHROMIUM to its path.")
        pytest.skip("no Chromium on this machine: page tests in a browser are left out (set CHROMIUM to its path)")
    from playwright.sync_api import sync_playwright

    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")  # that loop runs in this thread; our queries do not use it
        browser = launch(playwright)
        yield browser
        browser.close()


@dataclass(frozen=True, slots=True)
class Site:
    """The address, and the endpoints by name."""

    url: str
    endpoints: dict[str, Endpoint]
    team: Team


@pytest.fixture
def site(request: pytest.FixtureRequest, transactional_db: None) -> Iterator[Site]:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        STORAGES={"staticfiles": plain}, PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]
    ):
        server = request.getfixturevalue("live_server")
        team = Team.objects.create(name="Eval team")
        ada = User.objects.create_user("ada", "ada@example.org", PASSWORD)
        Membership.objects.create(team=team, user=ada, role=Role.OWNER)
        made = scenery.build(team, timezone.now(), hours=3)
        yield Site(server.url, made, team)


@pytest.fixture
def visit(browser: Any, site: Site) -> Iterator[Callable[..., Any]]:
    """Opens a page as Ada; collects what the console complains of, and fails the test for it."""
    contexts: list[Any] = []
    complaints: list[str] = []

    def open_page(path: str = "/", *, width: int = 1280, theme: str = "light", sign_in: bool = True) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, timezone_id="Europe/Berlin"
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        if sign_in:
            page.goto(f"{site.url}/login")
            page.fill("#id_login", "ada")
            page.fill("#id_password", PASSWORD)
            page.click("main button")
        page.goto(site.url + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints, f"the browser's console: {complaints}"
