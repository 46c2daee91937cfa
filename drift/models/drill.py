"""Fire drills: a made-up change on a simulated endpoint, to see the alert arrive."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy

from drift.models.endpoint import Endpoint
from drift.models.team import Team, User


class Drill(models.Model):
    """One drill, asked for by a person and played by a worker."""

    class State(models.TextChoices):
        DUE = "due", gettext_lazy("Waiting")
        RUNNING = "running", gettext_lazy("Running")
        FINISHED = "finished", gettext_lazy("Finished")
        FAILED = "failed", gettext_lazy("Failed")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="drills")
    requested_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    requested_at = models.DateTimeField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.DUE)
    lease_until = models.DateTimeField(null=True)
    endpoint = models.ForeignKey(Endpoint, null=True, on_delete=models.SET_NULL, related_name="drills")
    progress = models.CharField(max_length=200, blank=True, default="")
    finished_at = models.DateTimeField(null=True)
    report = models.JSONField(default=dict)
