"""How figures are written, for pages, the terminal and messages alike. Unknown is a word, never 0 and never blank."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

UNKNOWN = "not known"
NONE = "–"


def count(number: int) -> str:
    """1234567 -> '1,234,567'."""
    return f"{number:,}"


def percent(share: float | None) -> str:
    """A share of 1 as per cent with the precision that it deserves: '0', '0.4 %', '31.2 %', '100 %'."""
    if share is None:
        return NONE
    if share == 0:
        return "0"
    number = _per_cent(share)
    return f"{number} %"


def _per_cent(share: float) -> str:
    value = share * 100
    if value >= 99.95:
        return "100" if share >= 1 else "> 99.9"
    if 0 < value < 0.05:
        return "< 0.1"
    return f"{value:.1f}"


def interval(low: float | None, high: float | None) -> str:
    """Both ends of a share's interval in per cent: '27.0 – 35.6 %'."""
    if low is None or high is None:
        return NONE
    return f"{_end(low)} – {_end(high)} %"


def _end(share: float) -> str:
    value = share * 100
    return f"{value:.0f}" if value in (0, 100) else f"{value:.1f}"


def milliseconds(value: float | None) -> str:
    """A latency: '340 ms', '1.4 s', '75 s'."""
    if value is None:
        return NONE
    if value < 0.95:
        return "< 1 ms"
    if value < 999.5:
        return f"{value:.0f} ms"
    return f"{value / 1000:.1f} s" if value < 9950 else f"{value / 1000:.0f} s"


_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def duration(span: timedelta) -> str:
    """The largest unit that fits, rounded down: '19 d', '3 h', '40 s'."""
    seconds = max(0, int(span.total_seconds()))
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return "0 s"


def ago(moment: datetime, now: datetime) -> str:
    """'40 s ago'; 'just now' under five seconds and for clocks that disagree."""
    return "just now" if now - moment < timedelta(seconds=5) else f"{duration(now - moment)} ago"


def ahead(moment: datetime, now: datetime) -> str:
    """'in 40 s'; 'now' for what is due already."""
    return "now" if moment - now < timedelta(seconds=1) else f"in {duration(moment - now)}"


def cadence(seconds: int) -> str:
    """'every 2 minutes', 'every hour', 'every 90 seconds'."""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds % size == 0:
            number = seconds // size
            return f"every {unit}" if number == 1 else f"every {number} {unit}s"
    return f"every {seconds} seconds"


def plural(number: int, word: str, words: str = "") -> str:
    """'1 endpoint', '1,204 endpoints'."""
    return f"{count(number)} {word if number == 1 else words or word + 's'}"


def mean(value: float | None) -> str:
    """A mean of small counts: '3.4'; whole when it is whole."""
    if value is None:
        return NONE
    return f"{value:.0f}" if math.isclose(value, round(value), abs_tol=0.005) else f"{value:.1f}"


def money(value: float | None) -> str:
    """Dollars: '$ 4.10', '< $ 0.01'."""
    if value is None:
        return NONE
    return "< $ 0.01" if 0 < value < 0.005 else f"$ {value:,.2f}"


def token_word(number: int, known: bool) -> str:
    """'token' counts the model's own tokens; 'approximate token' our split of the text. Not the same axis."""
    word = "token" if known else "approximate token"
    return word if number == 1 else f"{word}s"


def likeliness(margin: float | None) -> str:
    """How close the two best tokens were, from the difference of their logprobs in nats."""
    if margin is None or math.isnan(margin):
        return "the provider gave no log probabilities here"
    if margin < 5e-4:
        return "the two best tokens were exactly as likely"
    ratio = math.exp(min(margin, 50))
    if ratio < 2:
        digits = 3 if ratio < 1.01 else 2
        return f"the best token was {ratio:.{digits}f} times as likely as the second"
    return f"the best token was {ratio:,.0f} times as likely as the second"
