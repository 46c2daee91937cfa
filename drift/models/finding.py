"""One detected fact."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy

from drift.findings.kinds import Kind, Severity
from drift.models.baseline import Baseline
from drift.models.endpoint import Endpoint
from drift.models.incident import Incident
from drift.models.run import Run
from drift.models.series import Series
from drift.models.team import Team


class Finding(models.Model):
    """What was found, since when, how sure, and what it voids. Never changed once written."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="findings")
    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="findings")
    series = models.ForeignKey(Series, null=True, on_delete=models.CASCADE, related_name="findings")
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="findings")
    baseline = models.ForeignKey(Baseline, null=True, on_delete=models.SET_NULL, related_name="findings")
    incident = models.ForeignKey(Incident, null=True, on_delete=models.SET_NULL, related_name="findings")
    kind = models.CharField(max_length=24, choices=[(k.value, gettext_lazy(k.text)) for k in Kind])
    severity = models.CharField(max_length=8, choices=[(s.value, gettext_lazy(s.text)) for s in Severity])
    began_at = models.DateTimeField(help_text="Since when, as far as it is known")
    found_at = models.DateTimeField()
    voids = models.BooleanField(default=False)
    chance = models.FloatField(null=True, help_text="Chance of this finding although nothing changed, at most")
    facts = models.JSONField(default=dict)

    class Meta:
        indexes = [
            models.Index(fields=["team", "-found_at"], name="finding_by_team"),
            models.Index(fields=["endpoint", "-found_at"], name="finding_by_endpoint"),
        ]
