"""`manage.py redecode`: reads stored answers again after the decoder has learned something."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand

from drift.answers import Decoded, Exchange
from drift.redecode import redecode_run, refresh_series, stale_runs
from workers.probe.caching import mark_cached
from workers.probe.decode import VERSION, decode


def read_run(exchanges: Sequence[Exchange]) -> list[Decoded]:
    """A run's answers as they would be read today."""
    return mark_cached([decode(exchange) for exchange in exchanges], exchanges)


class Command(BaseCommand):
    help = "Reads stored raw answers again with the current decoder. Changes nothing but what a decoder reads."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="also answers that the current decoder has read")
        parser.add_argument("--dry-run", action="store_true", help="only say how many runs would be read again")

    def handle(self, *args: Any, **options: Any) -> None:
        runs = stale_runs(VERSION + 1 if options["all"] else VERSION)
        self.stdout.write(f"{len(runs)} runs hold answers to be read again (decoder version {VERSION}).")
        if options["dry_run"] or not runs:
            return
        changed = 0
        for done, run_id in enumerate(runs, start=1):
            changed += redecode_run(run_id, read_run)
            if done % 50 == 0 or done == len(runs):
                self.stdout.write(f"  {done} of {len(runs)} runs, {changed} answers read differently")
        for series in refresh_series(runs):
            self.stdout.write(f"  figures of {series.endpoint.name} made anew")
