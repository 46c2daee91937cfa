"""What a browser fetches before it can show the overview: small, even with fifty rows, and without the chart library."""

from __future__ import annotations

import gzip
import re
from datetime import timedelta
from pathlib import Path
from urllib.parse import urljoin

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.utils import timezone

from drift.endpoints import series_of
from drift.models import Endpoint, Identity, Monitor, Reading, SeriesBucket, Span, Suite, Team
from drift.rollups import start_of

MOST_BYTES = 100_000
ROWS = 50


@pytest.fixture
def fifty(team: Team, suite: Suite) -> None:
    """Fifty endpoints, each with everything that a row can show."""
    now = timezone.now()
    for number in range(ROWS):
        endpoint = Endpoint.objects.create(
            team=team, name=f"endpoint number {number}", provider=f"provider {number % 7}", model=f"model-{number}",
            base_url="https://api.example.com/v1", tags=["production", "evals"], simulated=number % 5 == 0,
            parameters={"temperature": 0},
        )  # fmt: skip
        Monitor.objects.create(endpoint=endpoint, suite=suite, next_due_at=now)
        series = series_of(endpoint, suite)
        Identity.objects.create(
            endpoint=endpoint, digest=b"x", fingerprint_state="value", fingerprint=f"fp_{number:010x}",
            first_seen=now - timedelta(days=9), last_seen=now, samples_count=1,
        )  # fmt: skip
        Reading.objects.create(
            series=series, taken_at=now, samples=560, comparable=560, divergence=0.2 + number / 100,
            divergence_low=0.1, divergence_high=0.9, pairs=4000, pairs_differing=800, canaries=8, distinct_mean=1.4,
            answers_mean=5.0, first_divergence=24, horizon=18, horizon_limit_seen=True, latency_p50_ms=900,
            latency_p95_ms=2100, batch_min=1, batch_max=16,
        )  # fmt: skip
        SeriesBucket.objects.bulk_create(
            SeriesBucket(
                series=series, span=Span.DAY, starts_at=start_of(Span.DAY, now) - timedelta(days=back), samples=500,
                comparable=500, divergence=(share := 0.05 + ((back * 7 + number * 13) % 50) / 100),
                divergence_low=share / 2, divergence_high=share * 1.3, cost=1,
            )
            for back in range(30)
        )  # fmt: skip


def transferred(text: bytes) -> int:
    return len(gzip.compress(text, 6))


def test_the_overview_with_fifty_rows_is_shown_after_a_hundred_kilobytes(as_alice: Client, fifty: None) -> None:
    answer = as_alice.get("/", headers={"Accept-Encoding": "gzip"})
    assert answer["Content-Encoding"] == "gzip"
    page = gzip.decompress(answer.content).decode()
    assert page.count("data-row-link") == ROWS
    files = files_of(page)
    assert any(name.endswith(".css") for name in files)
    assert any("htmx" in name for name in files)
    assert not any("plotly" in name and name.endswith(".js") for name in files)
    sizes = {"page": len(answer.content), **{name: transferred(content) for name, content in files.items()}}
    assert sum(sizes.values()) <= MOST_BYTES, sizes


def files_of(page: str) -> dict[str, bytes]:
    """Every sheet and script that the page names, and the modules that those import, by address."""
    wanted = re.findall(r'<link rel="(?:stylesheet|icon)" href="(/static/[^"]+)"', page)
    wanted += re.findall(r'<script[^>]* src="(/static/[^"]+)"', page)
    found: dict[str, bytes] = {}
    while wanted:
        address = wanted.pop()
        if address in found:
            continue
        path = finders.find(address.removeprefix("/static/"))
        assert isinstance(path, str), f"{address} is not there"
        found[address] = Path(path).read_bytes()
        if address.endswith(".js"):
            text = found[address].decode()
            wanted += [urljoin(address, name) for name in re.findall(r'^import[^"]*"(\./[^"]+)"', text, re.MULTILINE)]
    return found
