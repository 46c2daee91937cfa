"""The language switch in a real browser, under the page's own content policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from drift.models import User

pytestmark = pytest.mark.browser


def test_the_switch_changes_the_page_and_is_remembered(visit: Callable[..., Any]) -> None:
    page = visit("/about/")
    assert page.inner_text("h1") == "How these numbers are made"
    page.click(".languages button[value=zh-hans]")
    page.wait_for_selector("html[lang=zh-hans]")
    assert page.url.endswith("/about/")
    assert page.inner_text("h1") == "这些数字从何而来"
    assert User.objects.get(username="ada").language == "zh-hans"
    assert page.get_attribute(".theme-button", "aria-label") in ("切换到深色", "切换到浅色"), "scripts speak it too"
    page.goto(page.url.replace("/about/", "/"))
    page.wait_for_selector("[data-updated]:has-text('更新')")
    page.click(".languages button[value=en]")
    page.wait_for_selector("html[lang=en]")
    assert page.inner_text("[data-updated]").startswith("Updated ")


def test_a_stranger_switches_at_the_door(visit: Callable[..., Any]) -> None:
    page = visit("/login", sign_in=False)
    page.click(".languages button[value=zh-hans]")
    page.wait_for_selector("html[lang=zh-hans]")
    assert page.url.endswith("/login")


def test_chinese_pages_do_not_scroll_sideways(visit: Callable[..., Any], site: Any) -> None:
    User.objects.filter(username="ada").update(language="zh-hans")
    fast = site.endpoints["smollm2 · fast"]
    page = visit("/", width=320)
    for path in (
        "/",
        f"/endpoints/{fast.public_id}/",
        "/incidents/",
        "/channels/",
        "/suites/",
        "/evals/",
        "/about/",
        "/you/",
    ):
        page.goto(site.url + path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
