"""How figures are written, for pages, the terminal and messages alike. Unknown is a word, never 0 and never blank."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext, ngettext_lazy, pgettext

UNKNOWN = gettext_lazy("not known")
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
    return gettext("{number} %").format(number=_per_cent(share))


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
    return gettext("{low} – {high} %").format(low=_end(low), high=_end(high))


def _end(share: float) -> str:
    value = share * 100
    return f"{value:.0f}" if value in (0, 100) else f"{value:.1f}"


def span(low: float, high: float) -> str:
    """What an axis spans: '20 % to 60 %', of shares."""
    return gettext("{low} % to {high} %").format(low=f"{low * 100:.0f}", high=f"{high * 100:.0f}")


def milliseconds(value: float | None) -> str:
    """A latency: '340 ms', '1.4 s', '75 s'."""
    if value is None:
        return NONE
    if value < 0.95:
        return gettext("< 1 ms")
    if value < 999.5:
        return gettext("{number} ms").format(number=f"{value:.0f}")
    return gettext("{number} s").format(number=f"{value / 1000:.{1 if value < 9950 else 0}f}")


_UNITS = (
    (86_400, gettext_lazy("{number} d")),
    (3_600, gettext_lazy("{number} h")),
    (60, gettext_lazy("{number} min")),
    (1, gettext_lazy("{number} s")),
)


def duration(span: timedelta) -> str:
    """The largest unit that fits, rounded down: '19 d', '3 h', '40 s'."""
    seconds = max(0, int(span.total_seconds()))
    for size, unit in _UNITS:
        if seconds >= size:
            return str(unit).format(number=seconds // size)
    return gettext("{number} s").format(number=0)


def ago(moment: datetime, now: datetime) -> str:
    """'40 s ago'; 'just now' under five seconds and for clocks that disagree."""
    if now - moment < timedelta(seconds=5):
        return gettext("just now")
    return gettext("{duration} ago").format(duration=duration(now - moment))


def ahead(moment: datetime, now: datetime) -> str:
    """'in 40 s'; 'now' for what is due already."""
    if moment - now < timedelta(seconds=1):
        return gettext("now")
    return gettext("in {duration}").format(duration=duration(moment - now))


_CADENCES = (
    (86_400, gettext_lazy("every day"), gettext_lazy("every {number} days")),
    (3_600, gettext_lazy("every hour"), gettext_lazy("every {number} hours")),
    (60, gettext_lazy("every minute"), gettext_lazy("every {number} minutes")),
)


def cadence(seconds: int) -> str:
    """'every 2 minutes', 'every hour', 'every 90 seconds'."""
    for size, one, several in _CADENCES:
        if seconds % size == 0:
            return str(one if seconds == size else several).format(number=seconds // size)
    return gettext("every {number} seconds").format(number=seconds)


def plural(number: int, word: str, words: str = "") -> str:
    """'1 endpoint', '1,204 endpoints'. The words must be among `COUNTED`, or they stay English."""
    said = ngettext(f"{{number}} {word}", f"{{number}} {words or word + 's'}", number)
    return said.format(number=count(number))


COUNTED = (
    ngettext_lazy("{number} answer", "{number} answers", 1),
    ngettext_lazy("{number} arm", "{number} arms", 1),
    ngettext_lazy("{number} baseline", "{number} baselines", 1),
    ngettext_lazy("{number} byte", "{number} bytes", 1),
    ngettext_lazy("{number} canary", "{number} canaries", 1),
    ngettext_lazy("{number} case", "{number} cases", 1),
    ngettext_lazy("{number} more case", "{number} more cases", 1),
    ngettext_lazy("{number} comparison", "{number} comparisons", 1),
    ngettext_lazy("{number} endpoint", "{number} endpoints", 1),
    ngettext_lazy("{number} identity", "{number} identities", 1),
    ngettext_lazy("{number} incident", "{number} incidents", 1),
    ngettext_lazy("{number} pair", "{number} pairs", 1),
    ngettext_lazy("{number} repeat", "{number} repeats", 1),
    ngettext_lazy("{number} request", "{number} requests", 1),
    ngettext_lazy("{number} run", "{number} runs", 1),
    ngettext_lazy("{number} verdict", "{number} verdicts", 1),
)


def listed(items: Iterable[object]) -> str:
    """'a, b, c'."""
    return pgettext("between items of a list", ", ").join(str(item) for item in items)


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


def words(name: str) -> str:
    """A stored name as words: 'http_error' -> 'http error'. Those of `NAMES` are translated."""
    said = name.replace("_", " ")
    return gettext(said) if said else ""


NAMES = (
    # outcomes of a request
    gettext_noop("text"),
    gettext_noop("tool calls"),
    gettext_noop("empty"),
    gettext_noop("reasoning only"),
    gettext_noop("filtered"),
    gettext_noop("cached"),
    gettext_noop("fallback"),
    gettext_noop("failed"),
    gettext_noop("truncated stream"),
    gettext_noop("error body"),
    gettext_noop("empty body"),
    gettext_noop("not json"),
    gettext_noop("unreadable"),
    gettext_noop("bad encoding"),
    gettext_noop("too large"),
    gettext_noop("throttled"),
    gettext_noop("http error"),
    gettext_noop("timeout"),
    gettext_noop("unreachable"),
    gettext_noop("refused address"),
    # what became of a message
    gettext_noop("due"),
    gettext_noop("sending"),
    gettext_noop("sent"),
    # how an answer ended
    gettext_noop("stop"),
    gettext_noop("length"),
    gettext_noop("filter"),
    gettext_noop("tool"),
    gettext_noop("error"),
    gettext_noop("unknown"),
    # what a parameter did
    gettext_noop("refused"),
    gettext_noop("ignored"),
    gettext_noop("honoured"),
    gettext_noop("lowers"),
    gettext_noop("repeats"),
    gettext_noop("no effect"),
    gettext_noop("greedy"),
    gettext_noop("close calls"),
    gettext_noop("samples"),
    # how a name behaves
    gettext_noop("absent"),
    gettext_noop("constant"),
    gettext_noop("stable set"),
    gettext_noop("churning"),
    # why an endpoint rests
    gettext_noop("down"),
    gettext_noop("up"),
    # a mode of our own worker
    gettext_noop("fast"),
    gettext_noop("invariant"),
    # a span of time
    gettext_noop("hour"),
    gettext_noop("day"),
)


def token_word(number: int, known: bool) -> str:
    """'token' counts the model's own tokens; 'approximate token' our split of the text. Not the same axis."""
    if known:
        return ngettext("token", "tokens", number)
    return ngettext("approximate token", "approximate tokens", number)


def likeliness(margin: float | None) -> str:
    """How close the two best tokens were, from the difference of their logprobs in nats."""
    if margin is None or math.isnan(margin):
        return gettext("the provider gave no log probabilities here")
    if margin < 5e-4:
        return gettext("the two best tokens were exactly as likely")
    ratio = math.exp(min(margin, 50))
    digits = 3 if ratio < 1.01 else 2 if ratio < 2 else 0
    return gettext("the best token was {number} times as likely as the second").format(number=f"{ratio:,.{digits}f}")


MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def day(moment: datetime) -> str:
    """'29 Nov', on the clock that the moment bears; so all below."""
    return _written(pgettext("date", "{day} {month}"), moment)


def date(moment: datetime) -> str:
    """'29 Nov 2026'."""
    return _written(pgettext("date", "{day} {month} {year}"), moment)


def day_time(moment: datetime) -> str:
    """'29 Nov 23:14'."""
    return _written(pgettext("date", "{day} {month} {time}"), moment)


def day_time_padded(moment: datetime) -> str:
    """'05 Nov 23:14'."""
    return _written(pgettext("date", "{day:02} {month} {time}"), moment)


def day_time_seconds(moment: datetime) -> str:
    """'29 Nov 23:14:05'."""
    return _written(pgettext("date", "{day} {month} {seconds}"), moment)


def date_time(moment: datetime) -> str:
    """'29 Nov 2026 23:14'."""
    return _written(pgettext("date", "{day} {month} {year} {time}"), moment)


def date_time_comma(moment: datetime) -> str:
    """'29 Nov 2026, 23:14'."""
    return _written(pgettext("date", "{day} {month} {year}, {time}"), moment)


def date_time_seconds(moment: datetime) -> str:
    """'29 Nov 2026, 23:14:05'."""
    return _written(pgettext("date", "{day} {month} {year}, {seconds}"), moment)


def weekday(moment: datetime) -> str:
    """'Tuesday'."""
    return str(WEEKDAYS[moment.weekday()])


def _written(pattern: str, moment: datetime) -> str:
    return pattern.format(
        day=moment.day,
        month=MONTHS[moment.month - 1],
        number=moment.month,
        year=moment.year,
        time=f"{moment.hour:02}:{moment.minute:02}",
        seconds=f"{moment.hour:02}:{moment.minute:02}:{moment.second:02}",
    )
