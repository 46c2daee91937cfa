"""Times in which nobody wants to be told, and the plain-words budget of false alarms."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy

from drift.models.endpoint import Endpoint
from drift.models.team import Team, User


class Silence(models.Model):
    """No alerts about an endpoint, a provider or a tag, from a start to an end, for a reason. Findings go on.

    A maintenance window is a silence planned ahead; it may come back every week.
    """

    class Kind(models.TextChoices):
        SILENCE = "silence", gettext_lazy("Silence")
        MAINTENANCE = "maintenance", gettext_lazy("Maintenance")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="silences")
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.SILENCE)
    endpoint = models.ForeignKey(Endpoint, null=True, blank=True, on_delete=models.CASCADE, related_name="silences")
    provider = models.CharField(max_length=80, blank=True, default="")
    tag = models.CharField(max_length=40, blank=True, default="")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    every_week = models.BooleanField(default=False)
    reason = models.CharField(max_length=300)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, help_text="When a person ended it early")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(ends_at__gt=models.F("starts_at")), name="silence_ends_later"),
            models.CheckConstraint(condition=~models.Q(reason=""), name="silence_has_a_reason"),
            models.CheckConstraint(
                condition=models.Q(endpoint__isnull=False) | ~models.Q(provider="") | ~models.Q(tag=""),
                name="silence_names_what_it_covers",
            ),
        ]


class AlertRules(models.Model):
    """What a team decided about alerts as a whole."""

    class Period(models.TextChoices):
        WEEK = "week", gettext_lazy("a week")
        MONTH = "month", gettext_lazy("a month")
        QUARTER = "quarter", gettext_lazy("a quarter")
        YEAR = "year", gettext_lazy("a year")

    team = models.OneToOneField(Team, on_delete=models.CASCADE, primary_key=True, related_name="alert_rules")
    false_alarms = models.FloatField(default=1.0, help_text="At most so many false alarms, over all endpoints")
    period = models.CharField(max_length=8, choices=Period.choices, default=Period.QUARTER)
    reminder_hours = models.PositiveSmallIntegerField(default=24, help_text="0: never remind")

    class Meta:
        verbose_name_plural = "alert rules"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(false_alarms__gt=0) & models.Q(false_alarms__lte=1000), name="budget_is_possible"
            )
        ]
