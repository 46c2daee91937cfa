"""`manage.py verify-bundle FILE`, see `drift.fit.verify_bundle`."""  # noqa: N999  the name people type

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from drift.fit import verify_bundle


class Command(BaseCommand):
    help = "Checks every byte of an evidence bundle against its signature and its manifest."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        verify_bundle.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if verify_bundle.perform(options["file"], options["key"]):
            raise SystemExit(1)
