"""`manage.py prune`: what the workers do once a day by themselves."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from drift.retention import prune


class Command(BaseCommand):
    help = "Delete samples beyond their suite's retention, and other rows that are only kept for a while."

    def handle(self, *args: Any, **options: Any) -> None:
        for what, count in prune(timezone.now()).items():
            self.stdout.write(f"{count} {what}")
