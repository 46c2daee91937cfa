"""`manage.py apply FILE [--dry-run]`: makes a team's set-up what the file says."""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from drift.audit import acting
from drift.configuration.apply import apply, plan
from drift.configuration.read import ConfigurationError, read
from drift.configuration.references import LocalSecrets
from drift.management.teams import add_team, team_named


class Command(BaseCommand):
    help = "Show what a configuration file changes, then change it. What the file leaves out stays as it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="YAML; - for standard input")
        parser.add_argument("--dry-run", action="store_true", help="show the changes and make none")
        add_team(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        team = team_named(options["team"])
        try:
            text = sys.stdin.read() if options["file"] == "-" else Path(options["file"]).read_text()
            wanted = read(text)
            if options["dry_run"]:
                changes = plan(team, wanted, LocalSecrets())[1]
            else:
                with acting(name=getpass.getuser(), via="command"):
                    changes = apply(team, wanted, LocalSecrets())
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be read: {error}") from error
        except ConfigurationError as error:
            raise CommandError("Nothing was changed:\n" + "\n".join(f"  {line}" for line in error.mistakes)) from error
        for change in changes:
            for line in change.lines():
                self.stdout.write(line)
        done = "would change" if options["dry_run"] else "changed"
        self.stdout.write(f"{len(changes)} {done}." if changes else "Nothing to change.")
