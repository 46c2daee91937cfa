"""`manage.py evalimport FILE NAME`: cases of a file as the next version of an eval set."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from drift.evals.cases import mapped, read, recognise
from drift.evals.command import described_grader
from drift.evals.errors import EvalError
from drift.evals.lines import rows_of
from drift.evals.store import save_version
from drift.models import Team


class Command(BaseCommand):
    help = "Makes an eval set, or its next version, of a file: Inspect, promptfoo, OpenAI evals, or any CSV or JSONL."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("name", help="of the set")
        parser.add_argument("--team", help="needed only where there are several")
        parser.add_argument("--grader", help='for cases without their own, as JSON: {"kind": "exact"}')
        parser.add_argument("--template", default="", help="prompt with {{input}} and the cases' variables")
        parser.add_argument("--repeats", type=int, default=None)
        parser.add_argument("--leave-out", action="store_true", help="go on without the cases that are refused")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            teams = list(Team.objects.filter(name=options["team"]) if options["team"] else Team.objects.all()[:2])
            if len(teams) != 1:
                raise EvalError("name the team with --team")
            data, name = options["file"].read_bytes(), options["file"].name
            described = described_grader(options["grader"]) if options["grader"] else None
            kind = recognise(name, data)
            if kind is None:
                columns = mapped.guess(mapped.columns_of([row for _, row in rows_of(name, data)][:20]))
                if not columns.question:
                    raise EvalError("no column looks like the question; name it 'input' or 'question'")
                found = mapped.read(name, data, columns, [described or {"kind": "includes"}])
            else:
                found = read(name, data, kind)
            for problem in found.problems:
                self.stderr.write(f"left out: {problem}")
            if found.problems and not options["leave_out"]:
                raise EvalError("nothing was saved. Correct the file, or pass --leave-out to go on without these")
            version = save_version(
                team=teams[0],
                name=options["name"],
                cases=found.cases,
                grader_descriptions=[described] if described else found.graders,
                template=options["template"] or next(iter(found.templates), ""),
                templates=found.templates,
                repeats=options["repeats"] or found.repeats or 5,
                source=name,
            )
        except (EvalError, OSError) as error:
            self.stderr.write(f"evalimport: {error}")
            sys.exit(2)
        said = {
            "set": options["name"],
            "version": version.number,
            "cases": len(found.cases),
            "id": str(version.public_id),
        }
        self.stdout.write(json.dumps(said))
