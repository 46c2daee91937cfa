"""`manage.py backup FILE`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from workers.backup import BackupError, backup


class Command(BaseCommand):
    help = "Write the whole database to one file. Stored API keys in it need FIELD_ENCRYPTION_KEYS: keep those apart."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            size = backup(options["file"])
        except (BackupError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{options['file']}: {size / 1e6:.1f} MB. Keep FIELD_ENCRYPTION_KEYS too, somewhere else.")
