"""Monitors (what is probed, how often) and series (what is comparable with what)."""

from __future__ import annotations

import uuid

from django.db import models

from drift.answers import Transport
from drift.models.endpoint import Endpoint
from drift.models.suite import Suite
from drift.said import SaidField


class Series(models.Model):
    """Endpoint + parameter set + suite version + transport mode. Figures are comparable only inside a series."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="series")
    suite = models.ForeignKey(Suite, on_delete=models.PROTECT, related_name="series")
    transport = models.CharField(max_length=8, choices=[(t.value, t.value) for t in Transport])
    parameters = models.JSONField()
    digest = models.BinaryField(max_length=32, help_text="SHA-256 over kind, model, transport, cap name, parameters")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "series"
        constraints = [models.UniqueConstraint(fields=["endpoint", "suite", "digest"], name="series_unique")]


class Monitor(models.Model):
    """Endpoint x suite x cadence x repeats x concurrency, with a budget."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="monitors")
    suite = models.ForeignKey(Suite, on_delete=models.PROTECT, related_name="monitors")
    cadence_s = models.PositiveIntegerField(default=300)
    repeats = models.PositiveSmallIntegerField(default=5)
    concurrency = models.PositiveSmallIntegerField(default=4, help_text="Requests in flight at once")
    tokens_per_day = models.PositiveBigIntegerField(null=True, blank=True, help_text="Budget; empty: no limit")
    active = models.BooleanField(default=True)
    paused_reason = SaidField(default="", blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    next_due_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "suite"], name="one_monitor_per_endpoint_and_suite"),
            models.CheckConstraint(
                condition=models.Q(cadence_s__gte=30) & models.Q(cadence_s__lte=7 * 86_400),
                name="monitor_cadence_30s_to_a_week",
            ),
            models.CheckConstraint(
                condition=models.Q(repeats__gte=1) & models.Q(repeats__lte=100),
                name="monitor_repeats_1_to_100",
            ),
            models.CheckConstraint(
                condition=models.Q(concurrency__gte=1) & models.Q(concurrency__lte=64),
                name="monitor_concurrency_1_to_64",
            ),
            models.CheckConstraint(
                condition=models.Q(active=True) | models.Q(paused_at__isnull=False),
                name="monitor_pause_has_a_time",
            ),
        ]
        indexes = [models.Index(fields=["next_due_at"], name="monitor_due", condition=models.Q(active=True))]

    def __str__(self) -> str:
        return f"{self.endpoint} × {self.suite}"
