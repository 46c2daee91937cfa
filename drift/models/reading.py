"""The current figures of a series: what the overview shows."""

from __future__ import annotations

from django.db import models

from drift.models.series import Series


class Reading(models.Model):
    """One row per series, refreshed with every finished run, over the last 24 hours."""

    series = models.OneToOneField(Series, on_delete=models.CASCADE, primary_key=True, related_name="reading")
    taken_at = models.DateTimeField()
    samples = models.PositiveIntegerField(default=0)
    comparable = models.PositiveIntegerField(default=0)
    divergence = models.FloatField(null=True)
    divergence_low = models.FloatField(null=True)
    divergence_high = models.FloatField(null=True)
    pairs = models.PositiveBigIntegerField(default=0)
    pairs_differing = models.PositiveBigIntegerField(default=0)
    canaries = models.PositiveSmallIntegerField(default=0)
    canaries_diverging = models.PositiveSmallIntegerField(default=0)
    distinct_mean = models.FloatField(null=True, help_text="Mean distinct answers per canary and run")
    answers_mean = models.FloatField(null=True, help_text="Mean comparable answers per canary and run")
    total_agreement = models.FloatField(null=True, help_text="Share of (run, canary) groups all equal: TARr@N")
    first_divergence = models.PositiveIntegerField(null=True, help_text="Median over differing pairs, token index")
    horizon = models.PositiveIntegerField(null=True, help_text="Tokens; null: not enough data")
    horizon_low = models.PositiveIntegerField(null=True)
    horizon_high = models.PositiveIntegerField(null=True)
    horizon_limit_seen = models.BooleanField(default=False, help_text="False: agreed as far as answers went")
    tokens_known = models.BooleanField(default=False, help_text="Positions are real tokens, not an approximate split")
    latency_p50_ms = models.FloatField(null=True)
    latency_p95_ms = models.FloatField(null=True)
    batch_min = models.PositiveSmallIntegerField(null=True)
    batch_max = models.PositiveSmallIntegerField(null=True)
