"""Where alerts go, each message before it is sent, and each attempt to send it."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy

from drift.findings.kinds import Severity
from drift.models.incident import Incident
from drift.models.team import Team
from drift.said import SaidField
from drift.secrets import EncryptedField


class Channel(models.Model):
    """One place to send to, and what belongs there."""

    class Kind(models.TextChoices):
        EMAIL = "email", gettext_lazy("E-mail")
        SLACK = "slack", gettext_lazy("Slack")
        WEBHOOK = "webhook", gettext_lazy("Webhook")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="channels")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    name = models.CharField(max_length=80)
    address = EncryptedField(help_text="E-mail address, or the web address, which is a secret")
    address_hint = models.CharField(max_length=200, help_text="What may be shown of it")
    signing_secret = EncryptedField(default="", blank=True)

    least_severity = models.CharField(
        max_length=8, choices=[(s.value, gettext_lazy(s.text)) for s in Severity], default=Severity.MEDIUM
    )
    providers = ArrayField(models.CharField(max_length=80), default=list, blank=True, help_text="Empty: all")
    tags = ArrayField(models.CharField(max_length=40), default=list, blank=True, help_text="Empty: all")
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_to = models.TimeField(null=True, blank=True)
    time_zone = models.CharField(max_length=64, default="UTC")
    severe_breaks_quiet = models.BooleanField(default=True)
    language = models.CharField(max_length=12, choices=settings.LANGUAGES, default="en")
    weekly_summary = models.BooleanField(default=False)

    created_at = models.DateTimeField(auto_now_add=True)
    disabled_at = models.DateTimeField(null=True, blank=True)
    disabled_why = SaidField(blank=True, default="")
    last_sent_at = models.DateTimeField(null=True, blank=True)
    last_error = SaidField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="channel_name_unique_in_team"),
            models.CheckConstraint(
                condition=models.Q(disabled_at__isnull=True) | ~models.Q(disabled_why=""),
                name="disabled_channel_says_why",
            ),
            models.CheckConstraint(
                condition=models.Q(quiet_from__isnull=True, quiet_to__isnull=True)
                | models.Q(quiet_from__isnull=False, quiet_to__isnull=False),
                name="quiet_hours_have_both_ends",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Delivery(models.Model):
    """One message to one channel. A row before it is a message; its public id is the idempotency key."""

    class Kind(models.TextChoices):
        ALERT = "alert", gettext_lazy("Alert")
        UPDATE = "update", gettext_lazy("Update")
        REMINDER = "reminder", gettext_lazy("Reminder")
        RESOLVED = "resolved", gettext_lazy("Resolved")
        SUMMARY = "summary", gettext_lazy("Weekly summary")
        TEST = "test", gettext_lazy("Test")

    class State(models.TextChoices):
        DUE = "due", gettext_lazy("Waiting")
        SENDING = "sending", gettext_lazy("Being sent")
        SENT = "sent", gettext_lazy("Sent")
        FAILED = "failed", gettext_lazy("Not sent")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="deliveries")
    incident = models.ForeignKey(Incident, null=True, on_delete=models.CASCADE, related_name="deliveries")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    ordinal = models.CharField(max_length=60, default="", help_text="Tells repeats of one kind apart")
    state = models.CharField(max_length=8, choices=State.choices, default=State.DUE)
    message = models.JSONField(default=dict, help_text="As first rendered; a repeat sends the same")
    fallback_for = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="fallbacks")

    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True)
    claim = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    attempts_count = models.PositiveSmallIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    problem = SaidField(blank=True, default="")

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(
                fields=["channel", "incident", "kind", "ordinal"],
                nulls_distinct=False,
                name="delivery_raised_once",
            ),
            models.CheckConstraint(
                condition=~models.Q(state="sending")
                | (models.Q(claim__isnull=False) & models.Q(lease_until__isnull=False)),
                name="delivery_being_sent_is_claimed",
            ),
            models.CheckConstraint(
                condition=~models.Q(state="sent") | models.Q(sent_at__isnull=False), name="sent_delivery_has_a_time"
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="delivery_open", condition=models.Q(state__in=["due", "sending"])),
            models.Index(fields=["channel", "-created_at"], name="delivery_by_channel"),
        ]


class DeliveryAttempt(models.Model):
    """One try to send a delivery, and what came of it."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="attempts")
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    ok = models.BooleanField()
    permanent = models.BooleanField(default=False)
    detail = SaidField(blank=True, default="")

    class Meta:
        ordering = ["started_at"]
