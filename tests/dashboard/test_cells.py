"""Cells that rows repeat: their markup is markup, and what came from a provider is text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.template import Context, Template
from django.utils import translation

from drift.models import Reading
from drift.rows import IdentityNow
from drift.states import State

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def drawn(tag: str, **context: object) -> str:
    return Template(f"{{% load cells %}}{{% {tag} %}}").render(Context({"now": NOW, **context}))


def known(*labels: str, **more: object) -> IdentityNow:
    return IdentityNow(labels=labels, values_known=len(labels), seen_since=NOW - timedelta(hours=3), **more)


def test_an_identity_is_shown_with_its_age_and_what_was_before() -> None:
    cell = drawn("identity known now", known=known("fp_b", former=("fp_a",), new=True))

    assert '<span class="identity former" translate="no">fp_a</span>' in cell
    assert '<span class="identity" translate="no">fp_b</span>' in cell
    assert '<span class="beside">new for <time datetime="2026-11-30T09:00:00+00:00"' in cell


def test_of_many_identities_two_are_shown_and_all_are_counted() -> None:
    cell = drawn("identity known now", known=known("fp_a", "fp_b", "fp_c"))

    assert cell.count('class="identity"') == 2
    assert cell.endswith("3 h</time>, 3 values now</span>")


def test_an_endpoint_that_gives_no_name_is_told_from_one_that_gives_many() -> None:
    assert '<span class="identity none">none given</span>' in drawn("identity known now", known=known("none given"))
    churning = IdentityNow(labels=("fp_a",), values_known=40, churning=True)
    assert "churning: 40 values in a week" in drawn("identity known now", known=churning)
    assert "not known yet" in drawn("identity known now", known=IdentityNow())


def test_a_name_that_a_provider_made_up_is_never_markup() -> None:
    evil = "<script>alert(1)</script>"
    cell = drawn("identity known now", known=known(evil, former=(evil,), new=True))

    assert "<script>" not in cell
    assert cell.count("&lt;script&gt;") == 2


def test_a_value_in_a_table_beside_a_chart_is_never_markup() -> None:
    table = drawn("twin_rows rows", rows=[("<b>", 0.5, None), ("fp_b", 1_000, "<i>")])

    assert table.startswith('<tr><td><span translate="no">&lt;b&gt;</span></td><td class="number">0.5</td>')
    assert "<b>" not in table
    assert "<i>" not in table
    assert '<td class="number">1,000</td>' in table


def test_divergence_and_horizon_say_how_sure_they_are() -> None:
    reading = Reading(
        divergence=0.2, divergence_low=0.1, divergence_high=0.3, pairs=4000, pairs_differing=800, canaries=8,
        horizon=18, horizon_limit_seen=True, tokens_known=True, first_divergence=24,
    )  # fmt: skip

    assert drawn("divergence reading", reading=reading) == (
        '<span class="divergence">20.0 %</span><span class="beside" '
        'title="95 % interval over 8 canaries; 800 of 4,000 pairs differ">10.0 – 30.0 %</span>'
    )
    assert drawn("horizon reading", reading=reading) == '18 tokens<span class="beside">first differ at 25</span>'
    agreed = Reading(
        divergence=0, pairs=276, pairs_differing=0, horizon=64, horizon_limit_seen=False, tokens_known=True
    )
    assert '<span class="beside">0 of 276 pairs</span>' in drawn("divergence reading", reading=agreed)
    assert drawn("horizon reading", reading=agreed) == 'no limit seen<span class="beside">in 64 tokens</span>'
    assert "not enough data" in drawn("divergence reading", reading=None)


def test_a_state_is_said_in_the_reader_s_words() -> None:
    assert drawn("state_mark state", state=State.DOWN).endswith("</svg>Down</span>")
    with translation.override("zh-hans"):
        assert drawn("state_mark state", state=State.DOWN).endswith("</svg>不可用</span>")
