"""People and the teams that own everything."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy


class User(AbstractUser):
    """A person. May be in several teams."""

    email = models.EmailField(unique=True)
    time_zone = models.CharField(max_length=64, default="", blank=True, help_text="IANA name; empty: the browser's")
    language = models.CharField(max_length=12, default="", blank=True)

    REQUIRED_FIELDS = ["email"]


class Role(models.TextChoices):
    OWNER = "owner", gettext_lazy("Owner")
    EDITOR = "editor", gettext_lazy("Editor")
    VIEWER = "viewer", gettext_lazy("Viewer")


class Team(models.Model):
    """Owner of endpoints, suites and all that follows from them."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=80)
    created_at = models.DateTimeField(auto_now_add=True)
    members = models.ManyToManyField(User, through="Membership", related_name="teams")

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=8, choices=Role.choices, default=Role.VIEWER)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="one_membership_per_team_and_user"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]
