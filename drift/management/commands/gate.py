"""`manage.py gate ENDPOINT`: exits 0 only if the endpoint's baseline is valid now."""

from __future__ import annotations

import json
import sys
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from drift.gate import gate
from drift.models import Endpoint


class Command(BaseCommand):
    """Exit status: 0 the baseline is valid, 3 it is void, 4 there is not enough data, 1 or 2 the question is wrong."""

    help = "Ask whether an endpoint's baseline is valid: exit 0 valid, 3 void, 4 not enough data."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("endpoint", help="name or id of the endpoint")
        parser.add_argument("--team", help="id of the team, where several have an endpoint of that name")
        parser.add_argument("--since", help="when your own reference numbers were taken, ISO 8601")
        parser.add_argument("--json", action="store_true", help="print everything that is known")

    def handle(self, *args: Any, **options: Any) -> None:
        since = None
        if options["since"]:
            since = parse_datetime(options["since"])
            if since is None:
                raise CommandError(f"--since: '{options['since']}' is not a time such as 2026-11-29T14:05:00Z.")
            if timezone.is_naive(since):
                since = timezone.make_aware(since)
        answer = gate(_endpoint(options["endpoint"], options["team"]), timezone.now(), since)
        self.stdout.write(json.dumps(answer.as_json(), indent=2) if options["json"] else answer.why)
        sys.exit(int(answer.answer))


def _endpoint(wanted: str, team: str | None) -> Endpoint:
    rows = Endpoint.objects.filter(archived_at=None)
    if team:
        rows = rows.filter(team__public_id=team)
    try:
        rows = rows.filter(public_id=UUID(wanted))
    except ValueError:
        rows = rows.filter(name=wanted)
    found = list(rows[:2])
    if not found:
        raise CommandError(f"There is no endpoint '{wanted}'.")
    if len(found) > 1:
        raise CommandError(f"Several teams have an endpoint '{wanted}': name one with --team, or give the id.")
    return found[0]
