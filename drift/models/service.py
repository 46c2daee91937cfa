"""Signs of life of our own processes."""

from __future__ import annotations

from django.db import models


class Heartbeat(models.Model):
    """When a named part last did its work: `tick`, `run`, `reap`."""

    part = models.CharField(max_length=40, primary_key=True)
    beat_at = models.DateTimeField()
    detail = models.JSONField(default=dict)
