"""One scheduled slot of a monitor."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy

from drift.models.series import Monitor, Series
from drift.models.team import User
from drift.said import SaidField


class Run(models.Model):
    """One slot, unique by (monitor, scheduled_for).

    due -> running -> finished | failed; running -> due again when its lease runs out. A gap of missed slots is one
    row in state `skipped` that begins at the first of them.
    """

    class State(models.TextChoices):
        DUE = "due", gettext_lazy("Waiting")
        RUNNING = "running", gettext_lazy("Running")
        FINISHED = "finished", gettext_lazy("Finished")
        FAILED = "failed", gettext_lazy("Failed")
        SKIPPED = "skipped", gettext_lazy("Skipped")

    class Origin(models.TextChoices):
        SCHEDULE = "schedule", gettext_lazy("Schedule")
        PERSON = "person", gettext_lazy("Run now")
        EXTRA = "extra", gettext_lazy("Extra samples")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    monitor = models.ForeignKey(Monitor, on_delete=models.CASCADE, related_name="runs")
    series = models.ForeignKey(Series, null=True, on_delete=models.CASCADE, related_name="runs")
    scheduled_for = models.DateTimeField()
    origin = models.CharField(max_length=8, choices=Origin.choices, default=Origin.SCHEDULE)
    requested_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(max_length=8, choices=State.choices, default=State.DUE)
    repeats = models.PositiveSmallIntegerField()
    concurrency = models.PositiveSmallIntegerField()
    missed_slots = models.PositiveIntegerField(default=0, help_text="Slots in a skipped gap")

    attempts = models.PositiveSmallIntegerField(default=0)
    claim = models.UUIDField(null=True, help_text="Token of the worker that holds it")
    lease_until = models.DateTimeField(null=True)
    published_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    problem = SaidField(default="", blank=True)

    samples_stored = models.PositiveIntegerField(default=0)
    samples_comparable = models.PositiveIntegerField(default=0)
    samples_done = models.PositiveIntegerField(default=0, help_text="Progress while running")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["monitor", "scheduled_for"], name="one_run_per_slot"),
            models.CheckConstraint(
                condition=~models.Q(state="running")
                | (models.Q(claim__isnull=False) & models.Q(lease_until__isnull=False)),
                name="running_run_is_claimed",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=["finished", "failed"]) | models.Q(finished_at__isnull=False),
                name="ended_run_has_a_time",
            ),
            models.CheckConstraint(
                condition=~models.Q(state="finished") | models.Q(series__isnull=False),
                name="finished_run_has_a_series",
            ),
        ]
        indexes = [
            models.Index(fields=["scheduled_for"], name="run_open", condition=models.Q(state__in=["due", "running"])),
            models.Index(fields=["monitor", "-finished_at"], name="run_latest"),
        ]
