"""Keys with which programs act for a team."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy

from drift.models.team import Team, User


class ApiToken(models.Model):
    """One key: read-only (`tgr_...`) or read and write (`tgw_...`). Only its hash is kept; it is shown once."""

    class Scope(models.TextChoices):
        READ = "read", gettext_lazy("Read")
        WRITE = "write", gettext_lazy("Read and write")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    scope = models.CharField(max_length=5, choices=Scope.choices, default=Scope.READ)
    start = models.CharField(max_length=12, unique=True, help_text="Its first characters, to find and to show it by")
    digest = models.BinaryField(max_length=32, help_text="SHA-256 of the whole key")
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = gettext_lazy("token")

    def __str__(self) -> str:
        return f"{self.name} ({self.start}…)"


class IdempotentAnswer(models.Model):
    """What a request with an `Idempotency-Key` was answered, so that a repeat is answered the same."""

    token = models.ForeignKey(ApiToken, on_delete=models.CASCADE, related_name="answers")
    key = models.CharField(max_length=200)
    request_digest = models.BinaryField(max_length=32, help_text="SHA-256 of method, path and body")
    status = models.PositiveSmallIntegerField(null=True, help_text="null: still being answered")
    content_type = models.CharField(max_length=80, default="")
    body = models.BinaryField(default=b"")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["token", "key"], name="idempotency_key_once_per_token")]
        indexes = [models.Index(fields=["created_at"], name="idempotent_answer_age")]
