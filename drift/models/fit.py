"""The thresholds by which a team judges whether an endpoint is fit for a job."""

from __future__ import annotations

from django.db import models

from drift.models.team import Team, User


class FitThresholds(models.Model):
    """What differs from `drift.fit.thresholds.DEFAULTS`."""

    team = models.OneToOneField(Team, on_delete=models.CASCADE, primary_key=True, related_name="fit_thresholds")
    values = models.JSONField(default=dict)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        verbose_name_plural = "fit thresholds"
