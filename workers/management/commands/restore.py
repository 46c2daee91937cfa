"""`manage.py restore FILE [--into URL] [--replace]`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from workers.backup import BackupError, own_url, restore


class Command(BaseCommand):
    help = "Fill a database from a backup: an empty one, or with --replace one that is emptied first."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--into", metavar="URL", help="postgresql://..., instead of DATABASE_URL")
        parser.add_argument("--replace", action="store_true", help="empty the database first")

    def handle(self, *args: Any, **options: Any) -> None:
        url = options["into"] or own_url()
        connections.close_all()
        try:
            restore(options["file"], url, replace=options["replace"])
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write("Restored. Start the services; `manage.py migrate` brings an older backup up to date.")
