"""Fire drills: a made-up change on a simulated endpoint, to see the alert arrive."""

from __future__ import annotations

import uuid
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy

from drift.models.endpoint import Endpoint
from drift.models.team import Team, User
from drift.said import SaidField, from_facts


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
    progress = SaidField(blank=True, default="")
    finished_at = models.DateTimeField(null=True)
    report = models.JSONField(default=dict)

    @property
    def told(self) -> dict[str, Any]:
        """The report with its sentences in the language that is active."""
        channels = [
            {**row, "state": from_facts(row["state"]), "problem": from_facts(row["problem"])}
            for row in self.report.get("channels", ())
        ]
        return {**self.report, "channels": channels, "problem": from_facts(self.report.get("problem", ""))}
