"""Findings grouped for people, and the feed of everything that happened."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy

from drift.findings.kinds import Family, Severity
from drift.models.endpoint import Endpoint
from drift.models.team import Team, User
from drift.said import SaidField


class Incident(models.Model):
    """One cause, however many canaries, monitors or endpoints show it. open -> acknowledged -> resolved."""

    class State(models.TextChoices):
        OPEN = "open", gettext_lazy("Open")
        ACKNOWLEDGED = "acknowledged", gettext_lazy("Acknowledged")
        RESOLVED = "resolved", gettext_lazy("Resolved")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="incidents")
    family = models.CharField(max_length=12, choices=[(f.value, f.value) for f in Family])
    provider = models.CharField(max_length=200, help_text="Findings of one provider within minutes are one incident")
    severity = models.CharField(max_length=8, choices=[(s.value, gettext_lazy(s.text)) for s in Severity])
    state = models.CharField(max_length=12, choices=State.choices, default=State.OPEN)
    title = SaidField()
    endpoints = models.ManyToManyField(Endpoint, related_name="incidents")
    simulated = models.BooleanField(default=False)

    began_at = models.DateTimeField(help_text="Since when it is so")
    opened_at = models.DateTimeField()
    last_finding_at = models.DateTimeField()
    alerted_at = models.DateTimeField(null=True, help_text="When its first deliveries were written; null: silenced")
    alerted_scope = models.JSONField(default=dict, help_text="What the last message spoke of")
    reminded_at = models.DateTimeField(null=True)
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    acknowledged_why = models.CharField(max_length=300, blank=True, default="")
    acknowledged_until = models.DateTimeField(null=True)
    resolved_at = models.DateTimeField(null=True)
    resolved_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    resolution = SaidField(blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(state="acknowledged") | models.Q(acknowledged_at__isnull=False),
                name="acknowledged_incident_has_a_time",
            ),
            models.CheckConstraint(
                condition=(models.Q(state="resolved") & models.Q(resolved_at__isnull=False))
                | (~models.Q(state="resolved") & models.Q(resolved_at__isnull=True)),
                name="resolved_incident_has_a_time",
            ),
        ]
        indexes = [
            models.Index(fields=["team", "-opened_at"], name="incident_by_team"),
            models.Index(
                fields=["team", "family"], name="incident_open", condition=models.Q(state__in=["open", "acknowledged"])
            ),
        ]

    def __str__(self) -> str:
        title: str = self.title
        return title


class Event(models.Model):
    """One line of the feed. Written with what it tells of, never changed."""

    class Kind(models.TextChoices):
        FINDING = "finding", gettext_lazy("Found")
        OPENED = "opened", gettext_lazy("Incident opened")
        JOINED = "joined", gettext_lazy("Joined an incident")
        ACKNOWLEDGED = "acknowledged", gettext_lazy("Acknowledged")
        REOPENED = "reopened", gettext_lazy("Opened again")
        RESOLVED = "resolved", gettext_lazy("Resolved")
        NOTE = "note", gettext_lazy("Note")
        MARKED = "marked", gettext_lazy("Marked on the charts")
        UNMARKED = "unmarked", gettext_lazy("Mark taken off the charts")
        ALERTED = "alerted", gettext_lazy("Alert written")
        REMINDED = "reminded", gettext_lazy("Reminder written")
        BASELINE = "baseline", gettext_lazy("Baseline")
        SILENCE = "silence", gettext_lazy("Silence")
        CHANNEL = "channel", gettext_lazy("Channel")
        DRILL = "drill", gettext_lazy("Fire drill")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    kind = models.CharField(max_length=12, choices=Kind.choices)
    text = SaidField()
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    endpoint = models.ForeignKey(Endpoint, null=True, on_delete=models.CASCADE, related_name="events")
    incident = models.ForeignKey(Incident, null=True, on_delete=models.CASCADE, related_name="events")

    class Meta:
        indexes = [
            models.Index(fields=["team", "-at"], name="event_feed"),
            models.Index(fields=["incident", "at"], name="event_of_incident"),
        ]
