"""Eval sets: named, versioned cases with their graders. A version is never edited; a change makes the next one."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy

from drift.models.team import Team, User


class EvalSet(models.Model):
    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="eval_sets")
    name = models.CharField(max_length=80)
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = gettext_lazy("eval set")
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name"],
                condition=models.Q(archived_at__isnull=True),
                name="eval_set_name_unique_in_team",
            )
        ]

    def __str__(self) -> str:
        return self.name


class EvalVersion(models.Model):
    """The cases and graders of a set at one time."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    eval_set = models.ForeignKey(EvalSet, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField(default=1)
    template = models.TextField(blank=True, default="", help_text="Prompt of an arm that brings none of its own")
    templates = models.JSONField(default=list, blank=True, help_text="Further prompts that the imported file named")
    graders = models.JSONField(default=list, help_text="For cases without their own, see drift.evals.graders")
    repeats = models.PositiveSmallIntegerField(default=5, help_text="What the run form begins with")
    source = models.CharField(max_length=200, blank=True, default="", help_text="The file it came from")
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = gettext_lazy("version")
        constraints = [models.UniqueConstraint(fields=["eval_set", "number"], name="eval_version_unique")]

    def __str__(self) -> str:
        return f"{self.eval_set} v{self.number}"


class EvalCase(models.Model):
    """One case of one version."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    version = models.ForeignKey(EvalVersion, on_delete=models.CASCADE, related_name="cases")
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=300, help_text="Pairs the case over arms, versions and files")
    messages = models.JSONField(default=list)
    targets = models.JSONField(default=list)
    choices = models.JSONField(default=list)
    variables = models.JSONField(default=dict)
    graders = models.JSONField(default=list)
    threshold = models.FloatField(null=True)
    repeats = models.PositiveSmallIntegerField(null=True, help_text="Instead of the run's")
    cluster = models.CharField(max_length=200, blank=True, default="")
    metadata = models.JSONField(default=dict)

    class Meta:
        verbose_name = gettext_lazy("case")
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "key"], name="eval_case_key_unique"),
            models.UniqueConstraint(fields=["version", "position"], name="eval_case_position_unique"),
            models.CheckConstraint(
                condition=models.Q(repeats__isnull=True) | models.Q(repeats__gte=1) & models.Q(repeats__lte=100),
                name="eval_case_repeats_1_to_100",
            ),
        ]


class EvalUpload(models.Model):
    """A file someone brought: results to report on, or cases to make a set of. The bytes are kept, and read again."""

    class Purpose(models.TextChoices):
        RESULTS = "results", gettext_lazy("Results")
        CASES = "cases", gettext_lazy("Cases")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="eval_uploads")
    purpose = models.CharField(max_length=8, choices=Purpose.choices, default=Purpose.RESULTS)
    name = models.CharField(max_length=200)
    raw = models.BinaryField()
    columns = models.JSONField(null=True, help_text="A person's mapping; null: the format says it")
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = gettext_lazy("upload")

    def __str__(self) -> str:
        return self.name
