"""Every figure is one that plotly takes, in the colours of the theme, without what the security policy refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from dashboard import charts
from drift import history
from drift.answers import Decoded, Outcome
from drift.batch_effect import Ledger, Price, batch_effect
from drift.comparison import compare
from drift.history import Window
from drift.models import Endpoint, Monitor, Run, Team
from drift.overview import overview
from tests.conftest import read_text

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def drawn(monitor: Monitor, record_answers: Callable[..., Run], team: Team) -> dict[str, charts.Chart]:
    Endpoint.objects.update(in_house="fast", name="<b>fast</b>")
    down = Decoded(version=1, outcome=Outcome.TIMEOUT)
    for back, fingerprint in ((9, "old"), (8, "old"), (4, "<i>new</i>"), (1, "<i>new</i>")):
        answers = [read_text(t, fingerprint=fingerprint, batch_sizes=(1, back)) for t in ("a b", "a b", "a c")]
        run = record_answers(monitor, [[*answers, down], [*answers]], at=NOON - back * HOUR)
    series, window = run.series, Window(NOON - 12 * HOUR, NOON)
    assert series
    canaries = list(monitor.suite.canaries.order_by("places__position"))
    points = history.points(series, window)
    lanes = history.lanes(points)
    rows = overview(team, timezone.now()).rows
    gap = [(NOON - 7 * HOUR, NOON - 5 * HOUR, "the <scheduler> was away")]
    found = [
        charts.divergence(
            points, window, charts.new_identities(lanes, window), gap, charts.Datum("baseline “<May>”", 0.3)
        ),
        charts.identities(points, window, lanes),
        charts.outcomes(points, window),
        charts.latencies(points, window),
        charts.heatmap(history.heatmap(history.canary_buckets(series, window), canaries, window), window),
        charts.batches(batch_effect(team, NOON - timedelta(days=2))),
        charts.price(Ledger("m", "x", "", (Price(1, 40, 24), Price(8, 190, 180)), None, None)),
    ]
    compared = compare(rows, {str(monitor.endpoint.public_id): series}, window)
    return {chart.slug: chart for chart in found} | {"comparison": charts.comparison(compared, window)}


def texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in texts(item)]
    if isinstance(value, list | tuple):
        return [text for item in value for text in texts(item)]
    return []


def test_plotly_takes_every_figure(drawn: dict[str, charts.Chart]) -> None:
    for chart in drawn.values():
        charts.validated(chart.figure())


def test_figures_are_plain_json_without_nan(drawn: dict[str, charts.Chart]) -> None:
    for chart in drawn.values():
        json.dumps(chart.figure(), allow_nan=False)


def test_colours_are_tokens(drawn: dict[str, charts.Chart]) -> None:
    for slug, chart in drawn.items():
        assert not [t for t in texts(chart.figure()) if re.match(r"^#[0-9a-f]{3,8}$", t)], slug


def test_no_text_carries_markup_from_outside_or_needs_inline_styles(drawn: dict[str, charts.Chart]) -> None:
    for slug, chart in drawn.items():
        for text in texts(chart.figure()):
            assert not re.search(r"<(?!br>|extra>|/extra>)", text), (slug, text)


def test_the_table_twin_has_a_value_for_each_column(drawn: dict[str, charts.Chart]) -> None:
    for slug, chart in drawn.items():
        assert chart.rows, slug
        assert len(set(chart.columns)) == len(chart.columns), slug
        assert all(len(row) == len(chart.columns) for row in chart.rows), slug
        assert chart.summary, slug


def test_the_line_is_not_joined_across_a_gap(drawn: dict[str, charts.Chart]) -> None:
    traces = drawn["divergence"].figure()["data"]
    line = next(trace for trace in traces if trace["mode"] == "lines+markers")
    assert line["connectgaps"] is False
    assert None in line["y"]
    assert sum(trace.get("fill") == "toself" for trace in traces) == 3, "one band for each unbroken stretch"


def test_a_new_identity_is_a_labelled_event(drawn: dict[str, charts.Chart]) -> None:
    layout = drawn["divergence"].figure()["layout"]
    assert any("new identity" in note["text"] for note in layout["annotations"])
    assert any("away" in note["text"] for note in layout["annotations"])


def test_the_time_axes_are_aligned(drawn: dict[str, charts.Chart]) -> None:
    stacked = [
        drawn[slug].figure()["layout"] for slug in ("divergence", "identities", "canaries", "outcomes", "latency")
    ]
    assert len({tuple(layout["xaxis"]["range"]) for layout in stacked}) == 1
    assert len({(layout["margin"]["l"], layout["margin"]["r"]) for layout in stacked}) == 1


def test_times_are_on_the_persons_clock() -> None:
    with timezone.override("Asia/Tokyo"):
        assert charts.local(NOON) == "2026-11-20 21:00:00"


def test_an_empty_window_is_words() -> None:
    window = Window(NOON - HOUR, NOON)
    chart = charts.divergence([history.Point(NOON - HOUR)], window, [], [])
    assert chart.summary == "Not enough data in this time."
    charts.validated(chart.figure())
    assert charts.identities([history.Point(NOON - HOUR)], window, []).summary == "No identity known."
