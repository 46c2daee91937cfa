"""Hourly and daily sums that carry the pages. Always rebuildable from samples."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy

from drift.models.series import Series
from drift.models.suite import Canary


class Span(models.TextChoices):
    HOUR = "hour", gettext_lazy("Hour")
    DAY = "day", gettext_lazy("Day")


class CanaryBucket(models.Model):
    """One canary of one series in one hour or UTC day: how often each distinct output came."""

    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="canary_buckets")
    canary = models.ForeignKey(Canary, on_delete=models.CASCADE, related_name="+")
    span = models.CharField(max_length=4, choices=Span.choices)
    starts_at = models.DateTimeField()
    samples = models.PositiveIntegerField(default=0)
    output_counts = models.JSONField(default=dict, help_text="{output id: comparable warm answers}")
    cold_counts = models.JSONField(default=dict, help_text="{output id: comparable first answers}")
    prompt_tokens = models.JSONField(default=dict, help_text="{reported prompt tokens: answers}")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["series", "span", "starts_at", "canary"], name="canary_bucket_unique")
        ]


class SeriesBucket(models.Model):
    """One series in one hour or UTC day: the figures over its canaries, and the sums they came from."""

    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="buckets")
    span = models.CharField(max_length=4, choices=Span.choices)
    starts_at = models.DateTimeField()
    runs = models.PositiveIntegerField(default=0)
    samples = models.PositiveIntegerField(default=0)
    comparable = models.PositiveIntegerField(default=0)
    outcomes = models.JSONField(default=dict, help_text="{outcome: answers}")
    identities = models.JSONField(default=dict, help_text="{identity id: answers}")
    latency = models.JSONField(default=dict, help_text="{log bucket: answers}, see drift.latency")
    completion_tokens = models.PositiveBigIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=8, default=0)

    batch_min = models.PositiveSmallIntegerField(null=True, help_text="Batch sizes that produced the tokens, if said")
    batch_max = models.PositiveSmallIntegerField(null=True)

    groups = models.PositiveIntegerField(default=0, help_text="(run, canary) groups with >= 2 comparable answers")
    groups_identical = models.PositiveIntegerField(default=0)
    distinct_sum = models.PositiveIntegerField(default=0)
    answers_sum = models.PositiveIntegerField(default=0)

    pairs = models.PositiveBigIntegerField(default=0)
    pairs_differing = models.PositiveBigIntegerField(default=0)
    divergence = models.FloatField(null=True)
    divergence_low = models.FloatField(null=True)
    divergence_high = models.FloatField(null=True)
    canaries = models.PositiveSmallIntegerField(default=0, help_text="Canaries with at least one pair")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["series", "span", "starts_at"], name="series_bucket_unique"),
            models.CheckConstraint(
                condition=models.Q(pairs_differing__lte=models.F("pairs")), name="series_bucket_pairs_sane"
            ),
        ]
        indexes = [models.Index(fields=["span", "starts_at", "series"], name="series_bucket_time")]
