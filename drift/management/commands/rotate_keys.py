"""`manage.py rotate_keys`: after a new key was put first in FIELD_ENCRYPTION_KEYS."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from drift.key_rotation import rotate


class Command(BaseCommand):
    help = "Encrypt every stored secret again with the first key of FIELD_ENCRYPTION_KEYS; then drop the older keys."

    def handle(self, *args: Any, **options: Any) -> None:
        for place, count in rotate().items():
            self.stdout.write(f"{place}: {count}")
        self.stdout.write("Every secret uses the first key now. Older keys may be removed once old backups are gone.")
