"""The datum of a series: frozen answers and the identity set they came from."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy, gettext_noop

from drift.models.series import Series
from drift.models.team import User
from drift.said import Dated, SaidField, said


class Baseline(models.Model):
    """collecting -> valid -> invalidated -> superseded, each step with its time; one valid baseline per series.

    The frozen samples are kept as counts per canary and output (outputs are stored for good), so that a baseline
    outlives the retention of its samples.
    """

    class State(models.TextChoices):
        COLLECTING = "collecting", gettext_lazy("Being taken")
        VALID = "valid", gettext_lazy("Valid")
        INVALIDATED = "invalidated", gettext_lazy("Void")
        SUPERSEDED = "superseded", gettext_lazy("Replaced")

    class Origin(models.TextChoices):
        FIRST = "first", gettext_lazy("First answers")
        AFTER_CHANGE = "change", gettext_lazy("After a change")
        PERSON = "person", gettext_lazy("Set by hand")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="baselines")
    name = models.CharField(max_length=80, blank=True, default="")
    state = models.CharField(max_length=12, choices=State.choices, default=State.COLLECTING)
    origin = models.CharField(max_length=8, choices=Origin.choices, default=Origin.FIRST)
    pinned = models.BooleanField(default=False, help_text="Kept as the datum until something voids it")
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    since = models.DateTimeField(help_text="Slot of its first run")
    until = models.DateTimeField(null=True, help_text="Slot of its last run")
    wanted_runs = models.PositiveSmallIntegerField()
    runs_count = models.PositiveIntegerField(default=0)
    answers_count = models.PositiveIntegerField(default=0)

    created_at = models.DateTimeField(auto_now_add=True)
    valid_at = models.DateTimeField(null=True)
    invalidated_at = models.DateTimeField(null=True)
    superseded_at = models.DateTimeField(null=True)
    reason = SaidField(blank=True, default="", help_text="Why it no longer holds, in a sentence")
    evidence = models.JSONField(default=dict, blank=True)

    reference = models.JSONField(default=dict, help_text="{canary: {output: warm comparable answers}}")
    normalised = models.JSONField(default=dict, help_text="{canary: {whitespace digest: answers}}")
    first_tokens = models.JSONField(default=dict, help_text="{canary: [{token: logprob}, ...]}")
    identities = models.JSONField(default=dict, help_text="{name: answers}, see drift.findings.names")
    prompt_tokens = models.JSONField(default=dict, help_text="{canary: the one value reported}")
    divergence = models.FloatField(null=True)
    divergence_low = models.FloatField(null=True)
    divergence_high = models.FloatField(null=True)
    first_divergence = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["series"], condition=models.Q(state="valid"), name="one_valid_baseline_per_series"
            ),
            models.UniqueConstraint(
                fields=["series"], condition=models.Q(state="collecting"), name="one_baseline_taken_at_a_time"
            ),
            models.CheckConstraint(
                condition=~models.Q(state="valid") | models.Q(valid_at__isnull=False), name="valid_baseline_has_a_time"
            ),
            models.CheckConstraint(
                condition=~models.Q(state="invalidated")
                | (models.Q(invalidated_at__isnull=False) & ~models.Q(reason="")),
                name="void_baseline_has_time_and_reason",
            ),
            models.CheckConstraint(
                condition=~models.Q(state="superseded") | models.Q(superseded_at__isnull=False),
                name="replaced_baseline_has_a_time",
            ),
        ]
        indexes = [models.Index(fields=["series", "-since"], name="baseline_history")]

    def __str__(self) -> str:
        return self.called

    @property
    def called(self) -> str:
        """Its name, or 'of 29 Nov 2026 14:05 UTC' in the reader's language."""
        return self.name or said(gettext_noop("of {date}"), date=Dated(self.since))


class SeriesWatch(models.Model):
    """Everything the rules remember of one series; written in the transaction of each of its runs."""

    series = models.OneToOneField(Series, on_delete=models.CASCADE, primary_key=True, related_name="watch")
    state = models.JSONField(default=dict)
    watching = models.CharField(max_length=300, blank=True, default="", help_text="What may be changing, in words")
    updated_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "series watches"
