"""Canaries and the suites that hold them."""

from __future__ import annotations

import uuid

from django.db import models

from drift.models.team import Team


class Canary(models.Model):
    """One prompt with its cap. Never edited (a trigger refuses it), only superseded."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="canaries")
    name = models.CharField(max_length=80)
    messages = models.JSONField(help_text="Chat messages: [{role, content}, ...]")
    max_tokens = models.PositiveIntegerField()
    supersedes = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="superseded_by")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "canaries"
        constraints = [models.CheckConstraint(condition=models.Q(max_tokens__gte=1), name="canary_cap_positive")]

    def __str__(self) -> str:
        return self.name

    @property
    def prompt(self) -> str:
        """The last user message, as the short form shown on pages."""
        texts = [m.get("content", "") for m in self.messages if m.get("role") == "user"]
        return str(texts[-1]) if texts else ""


class Suite(models.Model):
    """A named, versioned set of canaries. Its members are fixed; a change makes the next version."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="suites")
    name = models.CharField(max_length=80)
    version = models.PositiveIntegerField(default=1)
    canaries = models.ManyToManyField(Canary, through="SuiteCanary", related_name="suites")
    retention_days = models.PositiveIntegerField(default=400, help_text="Samples older than this may be deleted")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "name", "version"], name="suite_version_unique"),
            models.CheckConstraint(condition=models.Q(version__gte=1), name="suite_version_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class SuiteCanary(models.Model):
    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="places")
    canary = models.ForeignKey(Canary, on_delete=models.PROTECT, related_name="places")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["suite", "position"], name="suite_position_unique"),
            models.UniqueConstraint(fields=["suite", "canary"], name="canary_once_per_suite"),
        ]
