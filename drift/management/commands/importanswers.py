"""`manage.py importanswers FILE`: answers recorded elsewhere in, reports and their comparison out."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from drift.checkup import side_by_side, standalone, store, terminal
from drift.checkup.errors import CheckupError
from drift.checkup.plain import to_plain
from drift.checkup.recorded import bring_in
from drift.models import Team
from drift.provision import ensure_admin


class Command(BaseCommand):
    help = (
        "Reads repeated answers from JSONL or CSV, also .gz: model, item, run, text; optional tokens, logprobs, "
        "fingerprint, time. Each model becomes a report, as a check-up would have made it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--team", help="name of the team that keeps them (the first one)")
        parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
        parser.add_argument("--html", type=Path, help="write the comparison to this file")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        try:
            made = bring_in(_team(options["team"]), None, file.name, file.read_bytes())
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        except CheckupError as error:
            raise CommandError(str(error)) from error
        reports = [report for one in made if (report := store.report_of(one)) is not None]
        view = side_by_side.side_by_side(reports)
        if options["json"]:
            self.stdout.write(json.dumps(to_plain(view), indent=2, ensure_ascii=False))
        else:
            for report in reports:
                self.stdout.write("\n".join(terminal.lines(report)))
            self.stdout.write(f"\n{view.sentence}")
        if options["html"]:
            options["html"].write_text(standalone.page("Side by side", side_by_side.whole(view)))
            self.stderr.write(f"Written: {options['html']}")


def _team(name: str | None) -> Team:
    if name is None:
        return Team.objects.order_by("id").first() or ensure_admin().user.teams.order_by("id")[0]
    team = Team.objects.filter(name=name).first()
    if team is None:
        raise CommandError(f"There is no team called {name}.")
    return team
