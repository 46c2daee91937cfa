"""Every endpoint of the team, worst first, under one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from dashboard.access import may_edit, team_of
from dashboard.links import with_query
from drift.models import Span
from drift.overview import overview
from drift.rows import Row
from drift.states import State

MOST_CARDS = 5
MOST_ROWS = 50  # the worst; the rest are a click away
GROUPINGS = ("provider", "model", "state")
SPAN_WORDS = {Span.HOUR: gettext_lazy("24 hours"), Span.DAY: gettext_lazy("30 days")}


@dataclass(frozen=True, slots=True)
class Filter:
    """What the address asks to see."""

    q: str = ""
    state: str = ""
    group: str = ""
    span: str = ""
    all: bool = False

    @classmethod
    def of(cls, request: HttpRequest) -> Filter:
        wanted = request.GET
        return cls(
            q=wanted.get("q", "").strip(),
            state=wanted.get("state", ""),
            group=wanted["group"] if wanted.get("group") in GROUPINGS else "",
            span=wanted["span"] if wanted.get("span") in Span.values else "",
            all=wanted.get("rows") == "all",
        )

    @property
    def active(self) -> bool:
        return bool(self.q or self.state or self.group)

    def keeps(self, row: Row) -> bool:
        text = " ".join((row.name, row.provider, row.model, *row.tags)).lower()
        return all(word in text for word in self.q.lower().split()) and self.state in ("", row.state.key)


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    rows: Sequence[Row]


def show(request: HttpRequest) -> HttpResponse:
    wanted = Filter.of(request)
    seen = overview(
        team_of(request),
        timezone.now(),
        Span(wanted.span) if wanted.span else None,
        wanted.keeps,
        None if wanted.all else MOST_ROWS,
    )
    context = {
        "overview": seen,
        "groups": grouped(seen.shown, wanted.group),
        "hidden": seen.kept - len(seen.shown),
        "filter": wanted,
        "states": list(State),
        "groupings": GROUPINGS,
        "span_words": SPAN_WORDS[seen.span],
        "links": {
            "hours": with_query(request, span=Span.HOUR),
            "days": with_query(request, span=Span.DAY),
            "all": with_query(request, rows="all"),
        },
        "can_edit": may_edit(request),
        "cards": seen.cards[:MOST_CARDS],
        "any_simulated": any(row.simulated for row in seen.rows),
    }
    part = "live" if request.htmx and seen.rows else "page"  # type: ignore[attr-defined]
    return render(request, f"dashboard/overview/{part}.html", context)


def grouped(rows: Sequence[Row], by: str) -> list[Group]:
    if not by:
        return [Group("", rows)] if rows else []

    nothing = gettext("No provider") if by == "provider" else gettext("No model")

    def name(row: Row) -> str:
        return row.state.word if by == "state" else getattr(row, by) or nothing

    return [Group(key, list(group)) for key, group in groupby(sorted(rows, key=name), key=name)]
