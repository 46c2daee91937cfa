"""What people mark on the time axis of the charts."""

from __future__ import annotations

import uuid

from django.db import models

from drift.models.endpoint import Endpoint
from drift.models.team import Team, User


class Annotation(models.Model):
    """A moment with a few words: of one endpoint, or of the whole team and so on every chart."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="annotations")
    endpoint = models.ForeignKey(Endpoint, null=True, blank=True, on_delete=models.CASCADE, related_name="annotations")
    at = models.DateTimeField()
    text = models.CharField(max_length=200)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=~models.Q(text=""), name="annotation_says_something")]
        indexes = [models.Index(fields=["team", "at"], name="annotation_by_time")]

    def __str__(self) -> str:
        return self.text
