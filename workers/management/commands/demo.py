"""`manage.py demo`: simulated endpoints with weeks of history, for trying the pages on the first day."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from drift import monitors
from drift.models import Endpoint, EndpointCheck, Monitor, Team
from drift.provision import ensure_admin, ensure_default_suite
from workers.history import make_history
from workers.simulate.demo import DAYS, STORIES
from workers.simulate.scenario import Scenario

EVERY = timedelta(hours=4)
LIVE_CADENCE_S = 600


class Command(BaseCommand):
    help = "Makes simulated endpoints and their history through the real measuring road. Goes on where it stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--url", default="http://127.0.0.1:8400", help="where the simulator serves the stories")
        parser.add_argument("--begin", help=f"when the stories began, ISO 8601 (default: {DAYS} days ago)")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        begin = datetime.fromisoformat(options["begin"]) if options["begin"] else now - timedelta(days=DAYS)
        team = ensure_admin().user.memberships.select_related("team").order_by("id")[0].team
        pairs = [(story, self._monitor(team, story, options["url"])) for story in STORIES]
        slots = int((now - begin) / EVERY) + 1
        histories = [
            (story, make_history(monitor, story, begin=begin, until=now, every=EVERY)) for story, monitor in pairs
        ]
        # All five grow side by side, so that the pages are worth a look long before the end.
        for done in range(1, slots + 1):
            for _, history in histories:
                next(history, None)
            if done % 12 == 0 or done == slots:
                self.stdout.write(f"  simulated history: day {done * EVERY // timedelta(days=1)} of {DAYS}")
                self.stdout.flush()
        for _, monitor in pairs:
            monitors.resume(monitor)
        self.stdout.write("The simulated endpoints have their history and are probed from now on.")

    def _monitor(self, team: Team, story: Scenario, url: str) -> Monitor:
        """The story's endpoint and its monitor, which rests until the history is whole."""
        now = timezone.now()
        base_url = f"{url}/{story.name}/v1"
        endpoint, made = Endpoint.objects.get_or_create(
            team=team,
            name=story.model.removeprefix("simulated-"),
            archived_at=None,
            defaults={
                "provider": "Simulator",
                "base_url": base_url,
                "model": story.model,
                "simulated": True,
                "parameters": {"temperature": 0, "seed": 42, "logprobs": True, "top_logprobs": 2},
                "wished_parameters": {"temperature": 0, "seed": 42, "logprobs": True, "top_logprobs": 2},
                "price_in": "2.5",
                "price_out": "10",
            },
        )
        if not made and endpoint.base_url != base_url:
            endpoint.base_url = base_url
            endpoint.save(update_fields=["base_url"])
        if made:
            EndpointCheck.objects.create(
                endpoint=endpoint, requested_at=now, finished_at=now, state=EndpointCheck.State.PASSED
            )
        monitor, _ = Monitor.objects.get_or_create(
            endpoint=endpoint,
            suite=ensure_default_suite(team),
            defaults={
                "cadence_s": LIVE_CADENCE_S,
                "repeats": 5,
                "concurrency": 4,
                "active": False,
                "paused_at": now,
                "paused_reason": "its history is being made",
                "next_due_at": now,
            },
        )
        return monitor
