"""`manage.py compare`: endpoints beside each other over days or weeks, as text, HTML, CSV or JSON."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from drift import figures
from drift.comparison import MOST, compare_rows, measured
from drift.history import Window
from drift.management.teams import add_team, team_named
from drift.rows import Row
from drift.weeks import html, tables
from drift.weeks.report import Weeks, report

LONGEST_DAYS = 400


class Command(BaseCommand):
    help = (
        "Compares endpoints over the last days or weeks: every figure with its interval, what changed, what it cost, "
        "and an order only as far as intervals allow one."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("endpoint", nargs="*", help=f"names or ids, at most {MOST} (the first {MOST} with figures)")
        parser.add_argument("--days", type=int, default=28, help="how far back (28)")
        parser.add_argument("--html", type=Path, metavar="FILE", help="write a page that stands alone")
        parser.add_argument("--csv", type=Path, metavar="FILE", help="write one line per endpoint")
        parser.add_argument("--json", action="store_true", help="print every figure as JSON")
        add_team(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["days"] <= LONGEST_DAYS:
            raise CommandError(f"--days takes 1 to {LONGEST_DAYS}.")
        now = timezone.now()
        rows = _picked(measured(team_named(options["team"]), now), options["endpoint"])
        window = Window(now - timedelta(days=options["days"]), now)
        made = report(compare_rows(rows, window), window, now)
        for form, write in (("html", html.render), ("csv", tables.as_csv)):
            if file := options[form]:
                file.write_text(write(made), encoding="utf-8")
                self.stderr.write(f"Written: {file}")
        if options["json"]:
            self.stdout.write(tables.as_json(made))
            return
        self.stdout.write(made.sentence)
        for one in made.endpoints:
            self.stdout.write(f"  {_line(one)}")


def _picked(rows: list[Row], wanted: list[str]) -> list[Row]:
    """Those named, in the order of the overview. Raises CommandError for a name that has no figures."""
    if len(wanted) > MOST:
        raise CommandError(f"At most {MOST} endpoints fit beside each other.")
    known = {name for row in rows for name in (row.name, str(row.public_id))}
    if missing := sorted(set(wanted) - known):
        raise CommandError(f"No figures yet of: {', '.join(missing)}. With figures: {', '.join(r.name for r in rows)}.")
    return [row for row in rows if not wanted or row.name in wanted or str(row.public_id) in wanted][:MOST]


def _line(one: Weeks) -> str:
    if one.divergence is None:
        return f"{one.name}: not enough data"
    d = one.divergence
    place = "" if one.rank is None else f"place {'–'.join(dict.fromkeys(map(str, one.rank)))}, "
    ends = f"{figures.percent(d.low)} – {figures.percent(d.high)}"
    changes = figures.plural(one.changes_in_all, "change")
    return f"{one.name}: {place}{figures.percent(d.value)} ({ends}) of pairs differ, {changes}"
