"""In-house, compare, health, definitions, and what holds for every page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from importlib.resources import files
from pathlib import Path

import pytest
from django.template.loader import get_template
from django.test import Client
from django.test.utils import override_settings
from django.urls import reverse
from django.utils import timezone

from drift.models import Endpoint, Heartbeat, Monitor, Run, Series
from tests.conftest import read_text

TEMPLATES = Path(__file__).parents[2] / "dashboard" / "templates"


@pytest.fixture
def in_house(monitor: Monitor, record_answers: Callable[..., Run]) -> Monitor:
    """`fast`: alone it repeats itself; in batches of 4 it does not."""
    Endpoint.objects.update(in_house="fast", name="smollm2 fast")
    alone = [read_text("the tide is out", batch_sizes=(1, 1, 1, 1))] * 4
    busy = [read_text(text, batch_sizes=(2, 4, 4, 1)) for text in ("the tide is out", "the tide was in") * 3]
    record_answers(monitor, [alone, alone], at=timezone.now() - timedelta(minutes=9))
    record_answers(monitor, [busy, busy], at=timezone.now())
    return monitor


def test_divergence_by_batch(as_alice: Client, in_house: Monitor) -> None:
    page = as_alice.get("/in-house/").content.decode()
    assert "Only the batch differs" in page
    assert "smollm2" not in page.split("<main")[0]
    rows = as_alice.get("/in-house/batches.json").json()["rows"]
    assert [(row["largest batch"], row["divergence"], row["pairs"]) for row in rows] == [
        ("1", 0.0, 6),
        ("3–4", pytest.approx(0.6), 20),
    ]


def test_no_worker_and_no_benchmark_are_said_in_words(as_alice: Client, tmp_path: Path) -> None:
    with override_settings(BASE_DIR=tmp_path):
        page = as_alice.get("/in-house/").content.decode()
    assert "Your team does not watch either" in page
    assert "Not measured on this machine yet" in page


def test_the_price_is_read_from_the_benchmark(as_alice: Client, tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "benchmarks"
    folder.mkdir(parents=True)
    stored = {
        "machine": {"cpu": "Some Processor", "cores": 2},
        "model": "smollm2",
        "threads": 1,
        "entries": [
            {"dtype": dtype, "system": system, "batch": 1, "tokens_per_cpu_s": speed}
            for dtype, system, speed in (("bf16", "fast", 40), ("bf16", "invariant", 24), ("fp32", "fast", 9))
        ],
    }
    (folder / "worker.json").write_text(json.dumps(stored))
    with override_settings(BASE_DIR=tmp_path):
        assert "2 cores of Some Processor" in as_alice.get("/in-house/").content.decode()
        assert as_alice.get("/in-house/price.json").json()["rows"][0]["invariant / fast"] == 0.6
        (folder / "worker.json").write_text("{broken")
        assert "Not measured" in as_alice.get("/in-house/").content.decode()
        assert as_alice.get("/in-house/price.json").status_code == 404


def test_comparing(as_alice: Client, measured: Series, monitor: Monitor, record_answers: Callable[..., Run]) -> None:
    other = Endpoint.objects.create(team=monitor.endpoint.team, name="steady", base_url="http://x/v1", model="m")
    more = Monitor.objects.create(endpoint=other, suite=monitor.suite, next_due_at=timezone.now())
    record_answers(more, [["same"] * 5, ["same"] * 5], at=timezone.now())
    page = as_alice.get("/compare/").content.decode()
    assert "2 endpoints over the last 7 days" in page
    assert "33.3 %" in page
    assert "0 of 12 pairs" in page
    only = as_alice.get(f"/compare/?endpoint={other.public_id}&range=24h").content.decode()
    assert "33.3 %" not in only
    csv = as_alice.get("/compare/divergence.csv").content.decode()
    assert csv.splitlines()[0] == "from,gpt-x,steady"


def test_comparing_with_nothing_or_nonsense(as_alice: Client) -> None:
    assert "no endpoint has answered" in as_alice.get("/compare/").content.decode()
    assert as_alice.get("/compare/?endpoint=x&range=z").status_code == 200
    assert as_alice.get("/compare/divergence.json").json()["rows"]


def test_alive_without_a_login() -> None:
    answer = Client().get("/healthz")
    assert answer.status_code == 200
    assert answer.content == b"ok"


def test_ready_says_what_is_late(db: None) -> None:
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["tick"] == "has not ticked yet"
    for part in ("tick", "broker", "run"):
        Heartbeat.objects.create(part=part, beat_at=timezone.now())
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["ready"] is True


def test_every_link_to_a_definition_has_one(as_alice: Client) -> None:
    page = as_alice.get("/about/").content.decode()
    anchors = set(re.findall(r'id="([a-z]+)"', page))
    linked = set()
    for template in TEMPLATES.rglob("*.html"):
        linked |= set(re.findall(r"url 'about' %}#([a-z]+)", template.read_text()))
    charts = (
        (TEMPLATES.parent / "charts").rglob("*.py")
        if (TEMPLATES.parent / "charts").is_dir()
        else [TEMPLATES.parent / "charts.py"]
    )
    for module in charts:
        linked |= set(re.findall(r'about="([a-z]+)"', module.read_text()))
    assert linked
    assert linked <= anchors


def pages(client: Client, series: Series, monitor: Monitor) -> Iterator[str]:
    canary = monitor.suite.canaries.first()
    endpoint = monitor.endpoint.public_id
    for address in (
        "/", "/?group=provider", "/compare/", "/suites/", "/in-house/", "/about/", "/endpoints/new",
        reverse("endpoint", args=[endpoint]), reverse("endpoint-edit", args=[endpoint]), reverse("endpoint-check", args=[endpoint]),
        reverse("canary", args=[endpoint, canary.public_id]), reverse("canary-pair", args=[endpoint, canary.public_id]),
        reverse("monitor-edit", args=[monitor.public_id]),
    ):  # fmt: skip
        yield client.get(address).content.decode()


def test_no_page_carries_inline_script_or_style_or_leaves_the_site(
    as_alice: Client, measured: Series, monitor: Monitor
) -> None:
    for page in pages(as_alice, measured, monitor):
        assert not re.search(r"<script(?![^>]*\bsrc=)", page)
        assert not re.search(r"\sstyle=|<style|\son[a-z]+=\"", page)
        assert not re.search(r'(?:src|href)="(?:https?:)?//', page)


def test_first_paint_stays_under_100_kilobytes(as_alice: Client, measured: Series) -> None:
    page = as_alice.get("/").content.decode()
    static = re.findall(r'(?:href|src)="/?static/([^"]+)"', page)
    from django.contrib.staticfiles import finders

    sizes = {name: Path(str(finders.find(name))).stat().st_size for name in static}
    scripts = sum(p.stat().st_size for p in (TEMPLATES.parent / "static/dashboard/js").glob("*.js"))
    assert not any("plotly" in name for name in static)
    assert len(page.encode()) + sum(sizes.values()) + scripts < 100_000, sizes


def test_the_content_security_policy_is_strict(as_alice: Client) -> None:
    policy = as_alice.get("/")["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    assert "unsafe" not in policy


def test_plotly_still_looks_for_the_two_elements_we_give_it() -> None:
    bundle = (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    sheets = get_template("dashboard/parts/plotly_sheets.html").render()
    for wanted in re.findall(r'id="([^"]+)"', sheets):
        assert wanted in bundle or wanted.removesuffix("global") in bundle, f"plotly no longer looks for {wanted}"


def test_times_are_shown_in_the_browsers_zone(as_alice: Client, measured: Series) -> None:
    as_alice.cookies["tz"] = "Asia%2FTokyo"
    assert "Asia/Tokyo (UTC+9)" in as_alice.get("/").content.decode()
    as_alice.cookies["tz"] = "../../etc/passwd"
    assert "Times in UTC" in as_alice.get("/").content.decode()


def test_an_unknown_address_says_so(as_alice: Client) -> None:
    answer = as_alice.get("/nowhere")
    assert answer.status_code == 404
    assert "There is nothing here." in answer.content.decode()
