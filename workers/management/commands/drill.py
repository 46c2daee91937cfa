"""`manage.py drill`: a fire drill at the terminal."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from drift import drills
from drift.models import Drill, Team
from workers.drill import perform


class Command(BaseCommand):
    """Exits 0 if the alert arrived on every channel, 1 otherwise."""

    help = "A simulated endpoint changes; see the alert arrive on every channel, and how long it took."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", help="name or id of the team, where there are several")

    def handle(self, *args: Any, **options: Any) -> None:
        drill = drills.ask(_team(options["team"]), None, timezone.now())
        self.stdout.write("A simulated endpoint is learned, then changed. This takes about half a minute.")
        perform(drill.pk)
        drill.refresh_from_db()
        report = drill.told
        if drill.state != Drill.State.FINISHED:
            raise CommandError(report.get("problem") or "Another process is playing this drill: see the page Channels.")
        self.stdout.write(f"found {report['found_s']} s after the first changed answer")
        for row in report["channels"]:
            after = f"{row['seconds']} s" if row["seconds"] is not None else "-"
            self.stdout.write(f"{row['name']:24} {row['state']:10} {after:>8}  {row['problem']}")
        if not report["channels"]:
            raise CommandError("No channel is set up: nobody was told. Add one on the page Channels.")
        if not report["all_sent"]:
            raise CommandError("The alert did not arrive everywhere.")


def _team(wanted: str | None) -> Team:
    rows = [row for row in Team.objects.order_by("pk") if wanted in (None, row.name, str(row.public_id))]
    if not rows:
        raise CommandError(f"There is no team '{wanted}'." if wanted else "There is no team yet: manage.py provision")
    if len(rows) > 1:
        raise CommandError("There are several teams: choose one with --team.")
    return rows[0]
