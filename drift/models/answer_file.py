"""Files of answers recorded elsewhere, on their way to being check-ups."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy

from drift.models.team import Team, User
from drift.said import SaidField


class AnswerFile(models.Model):
    """due -> running -> finished | failed; running -> due when its worker is gone. Its bytes are kept until it is over.

    The check-ups made of it bear `group`. Each is stored whole, so that going on means making those that are missing.
    """

    class State(models.TextChoices):
        DUE = "due", gettext_lazy("Waiting")
        RUNNING = "running", gettext_lazy("Reading")
        FINISHED = "finished", gettext_lazy("Finished")
        FAILED = "failed", gettext_lazy("Failed")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="answer_files")
    name = models.CharField(max_length=200)
    raw = models.BinaryField(help_text="Empty once it is over")
    group = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    requested_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    state = models.CharField(max_length=8, choices=State.choices, default=State.DUE)
    problem = SaidField(blank=True, default="", help_text="Why it waits or failed; a mistake with its line")
    claim = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    published_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    answers = models.PositiveIntegerField(default=0, help_text="In all; 0: not read yet")
    answers_done = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = "answer file"
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(state="running")
                | (models.Q(claim__isnull=False) & models.Q(lease_until__isnull=False)),
                name="running_answer_file_is_claimed",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=["finished", "failed"]) | models.Q(finished_at__isnull=False),
                name="ended_answer_file_has_a_time",
            ),
        ]
        indexes = [
            models.Index(
                fields=["created_at"], name="answer_file_open", condition=models.Q(state__in=["due", "running"])
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def over(self) -> bool:
        return self.state in (self.State.FINISHED, self.State.FAILED)
