"""The time range of a page: in its address, relative (`range=7d`) or absolute (`from=...&to=...`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext, gettext_lazy

from dashboard.links import with_query
from drift.history import Window

CHOICES = (
    ("6h", gettext_lazy("6 hours")),
    ("24h", gettext_lazy("24 hours")),
    ("7d", gettext_lazy("7 days")),
    ("30d", gettext_lazy("30 days")),
    ("90d", gettext_lazy("90 days")),
)
DEFAULT = "24h"
LONGEST = timedelta(days=400)
_RELATIVE = re.compile(r"^(\d{1,4})([hd])$")


@dataclass(frozen=True, slots=True)
class Choice:
    label: str
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class Range:
    """The window asked for, in words and as the address says it."""

    window: Window
    name: str
    words: str

    @property
    def absolute(self) -> bool:
        return not self.name

    @property
    def query(self) -> str:
        """The parameters that ask for this range again."""
        if self.name:
            return f"range={self.name}"
        return f"from={_stamp(self.window.start)}&to={_stamp(self.window.end)}"

    @property
    def fixed_query(self) -> str:
        """The parameters that will show the same stretch of time for ever."""
        return f"from={_stamp(self.window.start)}&to={_stamp(self.window.end)}"


def _stamp(moment: datetime) -> str:
    return moment.astimezone(timezone.get_default_timezone()).strftime("%Y-%m-%dT%H:%MZ")


def range_of(request: HttpRequest, now: datetime, default: str = DEFAULT) -> Range:
    """What the address asks for; what cannot be read is as if it were not there."""
    start, end = _moment(request.GET.get("from", "")), _moment(request.GET.get("to", ""))
    if start and (end is None or end > start):
        end = min(end or now, now + timedelta(days=1))
        if start < end:
            start = max(start, end - LONGEST)
            return Range(Window(start, end), "", gettext("the chosen time"))
    name = request.GET.get("range", default)
    length = _length(name)
    if length is None:
        name, length = default, _length(default) or timedelta(days=1)
    return Range(Window(now - length, now), name, gettext("the last {span}").format(span=dict(CHOICES).get(name, name)))


def choices(request: HttpRequest, chosen: Range) -> list[Choice]:
    clean = {"from": None, "to": None}
    return [
        Choice(str(label), with_query(request, range=name, **clean), chosen.name == name) for name, label in CHOICES
    ]


def kept(request: HttpRequest) -> list[tuple[str, str]]:
    """The parameters that a form for another range must send again."""
    return [
        (name, value) for name, values in request.GET.lists() if name not in ("range", "from", "to") for value in values
    ]


def _length(name: str) -> timedelta | None:
    match = _RELATIVE.match(name)
    if not match or int(match[1]) == 0:
        return None
    length = timedelta(hours=int(match[1])) if match[2] == "h" else timedelta(days=int(match[1]))
    return min(length, LONGEST)


def _moment(text: str) -> datetime | None:
    try:
        moment = parse_datetime(text.strip().replace(" ", "+") if "T" in text else "")
    except ValueError:
        return None
    if moment is None:
        return None
    return timezone.make_aware(moment) if timezone.is_naive(moment) else moment
