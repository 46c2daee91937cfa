"""`manage.py provision`: what `make up` calls before it starts the services."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from drift.provision import ensure_admin, ensure_default_suite, ensure_in_house


class Command(BaseCommand):
    help = "Makes the first team, its administrator, the default suite and the in-house endpoints. Safe to repeat."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--fast", metavar="URL", help="base URL of the in-house worker in fast mode")
        parser.add_argument("--invariant", metavar="URL", help="base URL of the in-house worker in invariant mode")
        parser.add_argument("--model", default="smollm2-135m-instruct")

    def handle(self, *args: Any, **options: Any) -> None:
        admin = ensure_admin()
        team = admin.user.memberships.select_related("team").order_by("id")[0].team
        ensure_default_suite(team)
        for mode in ("fast", "invariant"):
            if options[mode]:
                ensure_in_house(team, mode, options[mode], options["model"])
        self.stdout.write(json.dumps({"user": admin.user.username, "password": admin.password}))
