"""What only a real browser can tell."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from drift.models import Canary, Monitor, Run
from tests.browser.conftest import Site

pytestmark = pytest.mark.browser


def addresses(site: Site) -> dict[str, str]:
    fast = site.endpoints["smollm2 · fast"]
    feynman = Canary.objects.get(name="Short fact")
    return {
        "overview": "/",
        "endpoint": reverse("endpoint", args=[fast.public_id]),
        "errors": reverse("endpoint", args=[site.endpoints["mistral-medium"].public_id]),
        "canary": reverse("canary", args=[fast.public_id, feynman.public_id]),
        "pair": reverse("canary-pair", args=[fast.public_id, feynman.public_id]),
        "sample": reverse("sample", args=[feynman.samples.first().public_id]),
        "add": reverse("endpoint-add"),
        "check": reverse("endpoint-check", args=[site.endpoints["local-vllm"].public_id]),
        "monitor": reverse("monitor-edit", args=[fast.monitors.get().public_id]),
        "suites": reverse("suites"),
        "suite": reverse("suite", args=[fast.monitors.get().suite.public_id]),
        "in-house": reverse("inhouse"),
        "compare": reverse("compare"),
        "about": reverse("about"),
    }


def draw_all(page: Any) -> None:
    for plot in page.query_selector_all("[data-chart]"):
        plot.scroll_into_view_if_needed()
    until(page, "[...document.querySelectorAll('[data-chart]')].every(p => p.querySelector('.main-svg'))")


def until(page: Any, expression: str, seconds: float = 20) -> None:
    """Waits in here: playwright's own `wait_for_function` needs the `eval` that our security policy refuses."""
    for _ in range(int(seconds * 20)):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"still not so after {seconds} s: {expression}")


def test_from_the_door_to_the_marked_token(visit: Callable[..., Any], site: Site) -> None:
    page = visit("/")
    assert "smollm2 · fast" in page.inner_text("main")
    assert "smollm2 · invariant" in page.inner_text("main")
    page.click("td a >> text=smollm2 · fast")
    page.click("main >> text=Short fact")
    assert re.search(r"\d+ answers to one prompt, \d+ different ones", page.inner_text("h1"))
    assert page.inner_text("mark >> nth=0").strip() in {"New", "Queens"}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit: Callable[..., Any], site: Site, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = visit("/", theme=theme)
    found = []
    for name, address in {**addresses(site), "login": "/login"}.items():
        page.goto(site.url + address)
        if page.query_selector("[data-chart]"):
            draw_all(page)
        for problem in Axe().run(page).response["violations"]:
            if problem["impact"] in ("serious", "critical"):
                found.append((name, problem["id"], [node["html"][:160] for node in problem["nodes"][:3]]))
    assert not found


def test_nothing_scrolls_sideways_on_a_small_phone(visit: Callable[..., Any], site: Site) -> None:
    page = visit("/", width=320)
    for name, address in addresses(site).items():
        page.goto(site.url + address)
        if page.query_selector("[data-chart]"):
            draw_all(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, name


def test_targets_are_large_enough_to_hit(visit: Callable[..., Any], site: Site) -> None:
    page = visit("/", width=320)
    for address in ("/", addresses(site)["endpoint"]):
        page.goto(site.url + address)
        small = page.evaluate(
            """[...document.querySelectorAll('button, .button, summary, nav a, select, input')]
            .filter(e => e.offsetParent && getComputedStyle(e).clipPath === 'none')
            .map(e => [e.getBoundingClientRect().height, e.outerHTML.slice(0, 90)]).filter(([h]) => h > 0 && h < 24)"""
        )
        assert not small


def test_with_the_keyboard_alone_from_overview_to_canary(visit: Callable[..., Any], site: Site) -> None:
    page = visit("/")
    page.keyboard.press("?")
    assert page.is_visible("dialog[open]")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("smollm2 fast")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=smollm2+fast")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.textContent") == "smollm2 · fast"
    page.keyboard.press("Enter")
    page.wait_for_selector("h1 >> text=smollm2 · fast")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1 >> text=answers to one prompt")
    page.keyboard.press("g")
    page.keyboard.press("o")
    page.wait_for_selector("h1 >> text=endpoints")


def test_typing_in_a_field_is_typing(visit: Callable[..., Any]) -> None:
    page = visit("/endpoints/new")
    page.click("#id_name")
    page.keyboard.type("jk/?go")
    assert page.input_value("#id_name") == "jk/?go"


def test_the_skip_link_is_first_and_leads_to_the_content(visit: Callable[..., Any]) -> None:
    page = visit("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_the_overview_renews_itself_and_keeps_focus_and_scroll(visit: Callable[..., Any], site: Site) -> None:
    page = visit("/", width=700)
    links = page.query_selector_all("[data-row-link]")
    links[4].focus()
    page.evaluate("scrollTo(0, 300)")
    name = links[4].inner_text()
    Monitor.objects.filter(endpoint__name="claude-sonnet").update(paused_reason="gone fishing")
    page.evaluate("htmx.trigger('#overview', 'renew')")
    page.wait_for_selector("text=gone fishing")
    assert page.evaluate("document.activeElement.textContent") == name
    assert page.evaluate("scrollY") == 300


def test_it_says_when_figures_are_no_longer_renewed(visit: Callable[..., Any], site: Site) -> None:
    page = visit("/")
    assert not page.is_visible("[data-stale]")
    page.route("**/*", lambda route: route.fulfill(status=204, body=""))
    page.evaluate(
        "for (let i = 0; i < 4; i++) document.querySelector('#overview').dispatchEvent(new CustomEvent('htmx:error'))"
    )
    page.wait_for_selector("[data-stale]:visible")


def test_the_theme_follows_the_system_until_chosen_and_is_kept(visit: Callable[..., Any], site: Site) -> None:
    page = visit("/", theme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    page.click("[data-theme-toggle]")
    light = page.evaluate(paper)
    assert light != dark
    page.reload()
    assert page.evaluate(paper) == light


def test_a_chart_is_fetched_when_it_is_seen_and_redrawn_in_the_other_theme(
    visit: Callable[..., Any], site: Site
) -> None:
    page = visit(addresses(site)["endpoint"])
    page.wait_for_selector("#chart-divergence .main-svg")
    assert page.query_selector("#chart-latency .main-svg") is None, "it is far below and not drawn yet"
    colour = "getComputedStyle(document.querySelector('#chart-divergence .scatterlayer .trace:last-child path.js-line')).stroke"
    before = page.evaluate(colour)
    page.click("[data-theme-toggle]")
    until(page, f"{colour} !== '{before}'")
    draw_all(page)
    assert page.query_selector(".modebar") is None, "no upload button"


def test_a_chart_that_cannot_be_had_says_where_its_figures_are(
    visit: Callable[..., Any], site: Site, request: pytest.FixtureRequest
) -> None:
    page = visit("/")
    page.route("**/*.figure*", lambda route: route.fulfill(status=200, body="not json"))
    page.goto(site.url + addresses(site)["endpoint"])
    page.wait_for_selector("text=The table below has its figures")
    page.click("#chart-divergence summary")
    assert page.is_visible("#chart-divergence table")


def test_run_now_shows_its_progress(visit: Callable[..., Any], site: Site) -> None:
    page = visit(addresses(site)["endpoint"])
    page.click("text=Run now")
    page.wait_for_selector("text=A run waits for a worker")
    run = Run.objects.get(state="due")
    Run.objects.filter(pk=run.pk).update(
        state="running", claim=run.public_id, lease_until="2030-01-01T00:00Z", samples_done=12
    )
    page.wait_for_selector("text=Asking now: 12 of 40 answers.")
    Run.objects.filter(pk=run.pk).update(state="skipped", claim=None, lease_until=None)
    page.wait_for_selector("text=The run has ended.")


def test_a_check_is_watched_live(visit: Callable[..., Any], site: Site) -> None:
    page = visit("/endpoints/new")
    page.fill("#id_name", "a new one")
    page.fill("#id_base_url", "https://api.example.com/v1")
    page.fill("#id_model", "m-1")
    page.click("text=Check it")
    page.wait_for_selector("text=Waiting for a worker")
    from django.utils import timezone

    from drift.models import EndpointCheck

    EndpointCheck.objects.filter(state="due").update(
        state="failed", finished_at=timezone.now(), problem="It answers, but not under /v1. Add /v1 to the address."
    )
    page.wait_for_selector("text=Add /v1 to the address.")
    page.wait_for_selector("text=Change the endpoint")


def test_pausing_and_undoing(visit: Callable[..., Any], site: Site) -> None:
    page = visit(addresses(site)["endpoint"])
    page.click("main >> text=Pause")
    page.click("text=Undo")
    page.wait_for_selector("text=is watched again")
    assert Monitor.objects.get(endpoint__name="smollm2 · fast").active


def test_picking_rows_enables_the_buttons(visit: Callable[..., Any], site: Site) -> None:
    page = visit("/")
    assert page.is_disabled("text=Pause picked")
    page.check("[aria-label='Pick tide-sim']")
    page.click("text=Pause picked")
    page.wait_for_selector("text=1 monitor paused.")
    assert not Monitor.objects.get(endpoint__name="tide-sim").active


def test_times_are_in_the_browsers_zone_from_the_second_page_on(visit: Callable[..., Any]) -> None:
    assert "Europe/Berlin" in visit("/").inner_text("footer")
