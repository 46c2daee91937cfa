from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from drift import figures

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (None, "–"),
        (0, "0"),
        (0.0004, "< 0.1 %"),
        (0.312, "31.2 %"),
        (0.9999, "> 99.9 %"),
        (1, "100 %"),
        (0.9949, "99.5 %"),
    ],
)
def test_a_share_never_pretends_to_be_nothing_or_all(share: float | None, words: str) -> None:
    assert figures.percent(share) == words


def test_an_interval_shows_both_ends() -> None:
    assert figures.interval(0.27, 0.3564) == "27.0 – 35.6 %"
    assert figures.interval(0, 1) == "0 – 100 %"
    assert figures.interval(None, 0.2) == "–"


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "–"), (0.2, "< 1 ms"), (340.4, "340 ms"), (999.7, "1.0 s"), (1400, "1.4 s"), (75_000, "75 s")],
)
def test_latency(value: float | None, words: str) -> None:
    assert figures.milliseconds(value) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-3, "just now"),
        (3, "just now"),
        (40, "40 s ago"),
        (3_599, "59 min ago"),
        (7_300, "2 h ago"),
        (1_700_000, "19 d ago"),
    ],
)
def test_ago(seconds: int, words: str) -> None:
    assert figures.ago(NOW - timedelta(seconds=seconds), NOW) == words


def test_ahead_is_now_when_due() -> None:
    assert figures.ahead(NOW - timedelta(seconds=30), NOW) == "now"
    assert figures.ahead(NOW + timedelta(seconds=90), NOW) == "in 1 min"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (60, "every minute"),
        (120, "every 2 minutes"),
        (3600, "every hour"),
        (172_800, "every 2 days"),
        (90, "every 90 seconds"),
    ],
)
def test_cadence(seconds: int, words: str) -> None:
    assert figures.cadence(seconds) == words


def test_tokens_that_are_not_the_models_own_are_called_approximate() -> None:
    assert figures.token_word(1, known=True) == "token"
    assert figures.token_word(24, known=False) == "approximate tokens"


@pytest.mark.parametrize(
    ("margin", "words"),
    [
        (None, "no log probabilities"),
        (float("nan"), "no log probabilities"),
        (0.0, "exactly as likely"),
        (0.004, "1.004 times"),
        (0.25, "1.28 times"),
        (5.0, "148 times"),
        (1e9, "times as likely"),
    ],
)
def test_how_close_the_two_best_tokens_were(margin: float | None, words: str) -> None:
    assert words in figures.likeliness(margin)


def test_counts_and_money() -> None:
    assert figures.plural(1, "identity", "identities") == "1 identity"
    assert figures.plural(1204, "endpoint") == "1,204 endpoints"
    assert figures.mean(3.0) == "3"
    assert figures.mean(3.44) == "3.4"
    assert figures.mean(None) == "–"
    assert figures.money(None) == "–"
    assert figures.money(0.001) == "< $ 0.01"
    assert figures.money(4.1) == "$ 4.10"
