"""Upload to report in a real browser, with raw answers of a real model at temperature 0."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test.utils import override_settings

from drift.models import User
from tests.conftest import PASSWORD
from tests.reference.published import MADE, published

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.fixture
def page(browser: Any, live_server: Any, alice: User) -> Iterator[Any]:
    plain = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    with override_settings(STORAGES=plain):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        opened = context.new_page()
        opened.set_default_timeout(60_000)
        problems: list[str] = []
        opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        opened.on("pageerror", lambda error: problems.append(str(error)))
        opened.goto(f"{live_server.url}/login")
        opened.fill("#id_login", alice.username)
        opened.fill("#id_password", PASSWORD)
        opened.click("main button")
        opened.wait_for_url(f"{live_server.url}/")
        yield opened
        context.close()
        assert problems == []


def upload(page: Any, url: str, file: Path) -> None:
    page.goto(f"{url}/evals/upload")
    page.set_input_files("#id_file", str(file))
    page.click("text=Make the report")
    page.wait_for_url("**/columns")
    assert page.input_value("#id_grader") == "choice"
    assert page.input_value("#id_subset") == "task"
    page.click("text=Make the report")
    page.wait_for_selector("h1:has-text('flip')")


def test_upload_to_report_with_the_strict_json_answers(page: Any, live_server: Any) -> None:
    upload(page, live_server.url, published("gpt4o_t0_strict_json.csv"))
    assert "300 of 1,407 cases flip" in page.inner_text("h1")
    page.click("table a:has-text('answers')")
    page.wait_for_selector("text=Flipping cases, the closest first")
    navigate = page.inner_text("tr:has(th:text-is('navigate'))")
    assert "186 187 184 183 191" in navigate
    assert "132 to 232" in navigate
    first = page.locator(".flip details").first
    assert "begin the same" in first.inner_text()
    assert first.locator("mark").count() >= 2


def test_a_small_made_file_goes_the_same_way_and_fits_a_narrow_screen(page: Any, live_server: Any) -> None:
    upload(page, live_server.url, MADE / "answers.csv")
    page.click("table a:has-text('answers')")
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        found = Axe().run(page).response["violations"]
        grave = [f"{one['id']}: {one['nodes'][0]['html']}" for one in found if one["impact"] in ("serious", "critical")]
        assert grave == []
