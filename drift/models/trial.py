"""Requests that a person had sent outside of every series: nothing here ever enters a figure."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from drift.answers import Outcome
from drift.models.endpoint import Endpoint
from drift.models.series import Series
from drift.models.suite import Canary, Suite
from drift.models.team import Team, User


class Trial(models.Model):
    """An answer replayed, or canaries tried before they are saved. due -> running -> finished | failed."""

    class Kind(models.TextChoices):
        REPLAY = "replay", _("Replay")
        DRY_RUN = "dry_run", _("Dry run")

    class State(models.TextChoices):
        DUE = "due", _("Waiting")
        RUNNING = "running", _("Asking")
        FINISHED = "finished", _("Finished")
        FAILED = "failed", _("Failed")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="trials")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="trials")
    name = models.CharField(max_length=200, help_text="The canary's or the suite's")
    series = models.ForeignKey(Series, null=True, on_delete=models.CASCADE, related_name="+", help_text="Replayed from")
    canary = models.ForeignKey(Canary, null=True, on_delete=models.CASCADE, related_name="+")
    sample = models.UUIDField(null=True, help_text="The answer that is replayed, by its public id")
    suite = models.ForeignKey(Suite, null=True, on_delete=models.CASCADE, related_name="+", help_text="To be changed")
    draft = models.JSONField(default=dict, help_text="What would be saved: {name, retention_days, canaries}")
    requested_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    requested_at = models.DateTimeField()

    state = models.CharField(max_length=8, choices=State.choices, default=State.DUE)
    problem = models.TextField(blank=True, default="", help_text="Why it waits or failed")
    claim = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    not_before = models.DateTimeField(null=True)
    published_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=(models.Q(kind="replay") & models.Q(sample__isnull=False) & models.Q(series__isnull=False))
                | (models.Q(kind="dry_run") & models.Q(sample__isnull=True) & models.Q(series__isnull=True)),
                name="trial_replays_a_sample_or_tries_a_draft",
            ),
            models.CheckConstraint(
                condition=~models.Q(state="running")
                | (models.Q(claim__isnull=False) & models.Q(lease_until__isnull=False)),
                name="running_trial_is_claimed",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=["finished", "failed"]) | models.Q(finished_at__isnull=False),
                name="ended_trial_has_a_time",
            ),
            models.UniqueConstraint(
                fields=["sample"],
                condition=models.Q(state__in=["due", "running"]),
                name="one_open_replay_per_sample",
            ),
        ]
        indexes = [
            models.Index(fields=["requested_at"], name="trial_open", condition=models.Q(state__in=["due", "running"]))
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def over(self) -> bool:
        return self.state in (self.State.FINISHED, self.State.FAILED)


class TrialAnswer(models.Model):
    """A request to send and, once it was sent, what came back. `former`: the stored answer that a replay repeats."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="answers")
    position = models.PositiveSmallIntegerField()
    repeat = models.PositiveSmallIntegerField(default=0)
    former = models.BooleanField(default=False)
    name = models.CharField(max_length=80)
    messages = models.JSONField(null=True, help_text="A draft's; a replay repeats the bytes of `request`")
    max_tokens = models.PositiveIntegerField(null=True)
    request = models.BinaryField(null=True)
    started_at = models.DateTimeField(null=True, help_text="null: not asked yet")
    latency_ms = models.FloatField(null=True)
    http_status = models.PositiveSmallIntegerField(null=True)
    transport_error = models.CharField(max_length=20, default="", blank=True)
    headers = models.JSONField(default=dict)
    raw = models.BinaryField(null=True)
    outcome = models.CharField(max_length=20, choices=[(o.value, o.value) for o in Outcome], default="", blank=True)
    error_message = models.TextField(blank=True, default="")
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    decoded = models.BinaryField(null=True, help_text="As drift.checkup.packed writes it")

    class Meta:
        verbose_name = "answer"
        ordering = ["position", "repeat", "-former"]
        constraints = [
            models.UniqueConstraint(fields=["trial", "position", "repeat", "former"], name="trial_answer_once"),
            models.CheckConstraint(
                condition=models.Q(request__isnull=False) | models.Q(messages__isnull=False),
                name="trial_answer_has_a_request",
            ),
            models.CheckConstraint(
                condition=models.Q(decoded__isnull=True) | models.Q(started_at__isnull=False),
                name="trial_answer_read_was_asked",
            ),
        ]
