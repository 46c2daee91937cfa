"""Who changed what."""

from __future__ import annotations

import uuid
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy

from drift.models.team import Team, User
from drift.said import heard


class AuditEntry(models.Model):
    """One change of one row that people decide about. Written by triggers, so that no road around it exists.

    Nothing may change or remove an entry but retention. It outlives what it tells of: its keys bind nothing.
    """

    class Action(models.TextChoices):
        CREATED = "created", gettext_lazy("Made")
        CHANGED = "changed", gettext_lazy("Changed")
        DELETED = "deleted", gettext_lazy("Deleted")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="audit")
    at = models.DateTimeField()
    actor = models.ForeignKey(User, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+")
    actor_name = models.TextField(default="", help_text="Empty: the service itself")
    via = models.TextField(default="", help_text="page, api, command; empty: the service itself")
    request_id = models.TextField(default="")
    action = models.CharField(max_length=8, choices=Action.choices)
    subject = models.TextField(help_text="What kind of thing: endpoint, monitor ...")
    subject_id = models.TextField(default="")
    subject_name = models.TextField(default="")
    changes = models.JSONField(default=dict, help_text="{field: [before, after]}; secrets say only that they changed")

    class Meta:
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["team", "-at", "-id"], name="audit_by_team")]

    @property
    def told(self) -> dict[str, list[Any]]:
        """The changes, sentences among them in the language that is active."""
        return {
            field: [heard(value) if isinstance(value, str) else value for value in values]
            for field, values in self.changes.items()
        }
