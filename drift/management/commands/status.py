"""The overview in a terminal: `python manage.py status [--json] [--team NAME]`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from drift import figures
from drift.models import Reading, Team
from drift.overview import Overview, overview
from drift.rows import Row

COLUMNS = (
    "state",
    "endpoint",
    "identity",
    "divergence",
    "interval",
    "distinct",
    "repeats to",
    "latency",
    "asked",
    "next",
)


class Command(BaseCommand):
    help = "Print the state of every endpoint, worst first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="figures as JSON instead of words")
        parser.add_argument("--team", help="only this team")

    def handle(self, *args: Any, **options: Any) -> None:
        teams = Team.objects.order_by("id")
        if options["team"]:
            teams = teams.filter(name=options["team"])
            if not teams:
                raise CommandError(f"There is no team called {options['team']!r}.")
        now = timezone.now()
        seen = [(team, overview(team, now)) for team in teams]
        if options["json"]:
            self.stdout.write(json.dumps([as_json(team, each) for team, each in seen], indent=2))
            return
        for team, each in seen:
            self.stdout.write(self.style.MIGRATE_HEADING(team.name))
            self.stdout.write(as_text(each, now))


def as_text(seen: Overview, now: datetime) -> str:
    """The sentence, then a table with one line an endpoint."""
    said = " ".join(part for part in (seen.verdict.headline, seen.verdict.consequence, seen.verdict.detail) if part)
    if not seen.rows:
        return f"{said}\n"
    lines = [COLUMNS, *(as_line(row, now) for row in seen.rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    table = ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([said, "", *table, ""])


def as_line(row: Row, now: datetime) -> tuple[str, ...]:
    reading = row.reading
    known = reading is not None and reading.divergence is not None
    words = figures.NONE
    if reading is not None and known:
        words = (
            figures.interval(reading.divergence_low, reading.divergence_high)
            if reading.pairs_differing
            else f"0 of {figures.plural(reading.pairs, 'pair')}"
        )
    return (
        row.state.word,
        row.name + (" (simulated)" if row.simulated else ""),
        row.identity.labels[0] if row.identity.labels else "not known yet",
        figures.percent(reading.divergence) if reading is not None and known else "not enough data",
        words,
        distinct(reading),
        repeats_to(reading),
        figures.milliseconds(reading.latency_p50_ms if reading else None),
        figures.ago(row.last_finished_at, now) if row.last_finished_at else figures.NONE,
        figures.ahead(row.next_due_at, now) if row.next_due_at else figures.NONE,
    )


def distinct(reading: Reading | None) -> str:
    if reading is None or reading.distinct_mean is None:
        return figures.NONE
    return f"{figures.mean(reading.distinct_mean)} of {figures.mean(reading.answers_mean)}"


def repeats_to(reading: Reading | None) -> str:
    if reading is None or reading.horizon is None:
        return figures.NONE
    if not reading.horizon_limit_seen:
        return "no limit seen"
    return f"{reading.horizon} {figures.token_word(reading.horizon, reading.tokens_known)}"


def as_json(team: Team, seen: Overview) -> dict[str, Any]:
    """Figures as they are; null is unknown."""
    return {
        "team": team.name,
        "taken_at": seen.taken_at.isoformat(),
        "verdict": {
            "headline": seen.verdict.headline,
            "consequence": seen.verdict.consequence,
            "detail": seen.verdict.detail,
        },
        "endpoints": [row_as_json(row) for row in seen.rows],
    }


FIGURES = (
    "divergence", "divergence_low", "divergence_high", "pairs", "pairs_differing", "canaries", "canaries_diverging",
    "distinct_mean", "answers_mean", "total_agreement", "first_divergence", "horizon", "horizon_limit_seen",
    "tokens_known", "latency_p50_ms", "latency_p95_ms", "batch_min", "batch_max", "samples", "comparable",
)  # fmt: skip


def row_as_json(row: Row) -> dict[str, Any]:
    return {
        "id": str(row.public_id),
        "name": row.name,
        "provider": row.provider,
        "model": row.model,
        "simulated": row.simulated,
        "state": row.state.value,
        "reason": row.reason,
        "identities": list(row.identity.labels),
        "last_finished_at": row.last_finished_at.isoformat() if row.last_finished_at else None,
        "next_due_at": row.next_due_at.isoformat() if row.next_due_at else None,
        **{name: getattr(row.reading, name) if row.reading else None for name in FIGURES},
    }
