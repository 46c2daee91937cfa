"""`manage.py export`: a team's set-up as YAML, without secrets."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from drift.configuration.current import current
from drift.configuration.write import write
from drift.management.teams import add_team, team_named


class Command(BaseCommand):
    help = "Write a team's endpoints, suites, monitors, channels and rules as YAML. Secrets become references."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_team(parser)
        parser.add_argument("--output", metavar="FILE", help="instead of standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        text = write(current(team_named(options["team"])).document)
        if options["output"]:
            Path(options["output"]).write_text(text)
        else:
            self.stdout.write(text, ending="")
