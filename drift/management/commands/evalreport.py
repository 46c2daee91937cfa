"""`manage.py evalreport FILE`: listed here for `manage.py help`; `manage.py` itself runs it without settings."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from drift.evals.command import add_arguments, perform


class Command(BaseCommand):
    help = "Reports with error bars on results made elsewhere: a table, and a standalone HTML file."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        code = perform(options)
        if code:
            sys.exit(code)
