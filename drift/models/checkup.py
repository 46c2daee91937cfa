"""Check-ups: stages of questions, each answer stored as it came. Going on after a stop means asking what is missing."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext, gettext_lazy

from drift.answers import Outcome
from drift.models.endpoint import Endpoint
from drift.models.series import Monitor
from drift.models.suite import Suite
from drift.models.team import Team, User
from drift.said import SaidField


class Checkup(models.Model):
    """due -> running -> finished | failed | stopped; running -> due when its worker is gone or it has to wait.

    Answers recorded elsewhere make check-ups that are finished at once; they have no endpoint, and those of one file
    share `group`.
    """

    class State(models.TextChoices):
        DUE = "due", gettext_lazy("Waiting")
        RUNNING = "running", gettext_lazy("Asking")
        FINISHED = "finished", gettext_lazy("Finished")
        STOPPED = "stopped", gettext_lazy("Stopped")
        FAILED = "failed", gettext_lazy("Failed")

    class Origin(models.TextChoices):
        ASKED = "asked", gettext_lazy("Asked")
        RECORDED = "recorded", gettext_lazy("Recorded elsewhere")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="checkups")
    endpoint = models.ForeignKey(Endpoint, null=True, on_delete=models.CASCADE, related_name="checkups")
    suite = models.ForeignKey(Suite, null=True, on_delete=models.PROTECT, related_name="checkups")
    monitor = models.ForeignKey(Monitor, null=True, on_delete=models.SET_NULL, related_name="+", help_text="Made of it")
    name = models.CharField(max_length=200)
    origin = models.CharField(max_length=8, choices=Origin.choices, default=Origin.ASKED)
    group = models.UUIDField(null=True, help_text="Those that came in one file")
    repeats = models.PositiveSmallIntegerField(default=20)
    concurrencies = ArrayField(models.PositiveSmallIntegerField(), default=list)
    max_tokens = models.PositiveIntegerField(default=256)
    cost_cap = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True, help_text="Dollars")
    token_cap = models.PositiveBigIntegerField(null=True, blank=True)
    requested_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    state = models.CharField(max_length=8, choices=State.choices, default=State.DUE)
    problem = SaidField(blank=True, default="", help_text="Why it waits or ended so")
    claim = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Claims in a row that brought no answer")
    not_before = models.DateTimeField(null=True)
    published_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    wanted = models.PositiveIntegerField(default=0, help_text="Requests in all")
    answered = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    tokens = models.PositiveBigIntegerField(default=0)
    questions = models.JSONField(default=dict, help_text="{key: {name, messages}}")
    capabilities = models.JSONField(default=list, help_text="As the endpoint's check had found them")
    report = models.JSONField(default=dict, help_text="As drift.checkup.plain writes it")

    class Meta:
        verbose_name = gettext_lazy("check-up")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(repeats__gte=2) & models.Q(repeats__lte=200), name="checkup_repeats_2_to_200"
            ),
            models.CheckConstraint(
                condition=models.Q(origin="recorded") | models.Q(endpoint__isnull=False), name="checkup_asks_someone"
            ),
            models.CheckConstraint(
                condition=~models.Q(state="running")
                | (models.Q(claim__isnull=False) & models.Q(lease_until__isnull=False)),
                name="running_checkup_is_claimed",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=["finished", "failed", "stopped"]) | models.Q(finished_at__isnull=False),
                name="ended_checkup_has_a_time",
            ),
        ]
        indexes = [
            models.Index(fields=["created_at"], name="checkup_open", condition=models.Q(state__in=["due", "running"])),
            models.Index(fields=["team", "-created_at"], name="checkup_latest"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def over(self) -> bool:
        return self.state in (self.State.FINISHED, self.State.STOPPED, self.State.FAILED)


class CheckupStage(models.Model):
    """Questions asked in one way. `parameters` are the whole request besides model, messages and cap."""

    class Kind(models.TextChoices):
        QUIET = "quiet", gettext_lazy("Quiet")
        LOAD = "load", gettext_lazy("Under load")
        SHORT = "short", gettext_lazy("With a smaller cap")
        UNSEEDED = "unseeded", gettext_lazy("Without a seed")
        HOT_SEEDED = "hot_seeded", gettext_lazy("Temperature 1 with a seed")
        HOT = "hot", gettext_lazy("Temperature 1 without a seed")
        PREFIX = "prefix", gettext_lazy("Cold and warm prefix")
        SCORED = "scored", gettext_lazy("Own answers scored again")
        RECORDED = "recorded", gettext_lazy("Recorded elsewhere")

    checkup = models.ForeignKey(Checkup, on_delete=models.CASCADE, related_name="stages")
    position = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=12, choices=Kind.choices)
    concurrency = models.PositiveSmallIntegerField(default=1)
    max_tokens = models.PositiveIntegerField()
    parameters = models.JSONField(default=dict)
    repeats = models.PositiveSmallIntegerField()
    only = models.JSONField(null=True, help_text="Keys of the questions asked; null: all")
    note = SaidField(blank=True, default="", help_text="Why less was asked than planned")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = gettext_lazy("stage")
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["checkup", "position"], name="checkup_stage_position_unique")]

    @property
    def label(self) -> str:
        if self.kind == self.Kind.LOAD:
            return gettext("{number} in flight").format(number=self.concurrency)
        if self.kind == self.Kind.SHORT:
            return gettext("cap {number}").format(number=self.max_tokens)
        return str(self.get_kind_display())


class CheckupAnswer(models.Model):
    """One answer. The key makes asking twice harmless; raw bytes are stored with what was read from them, whole."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    stage = models.ForeignKey(CheckupStage, on_delete=models.CASCADE, related_name="answers")
    question = models.CharField(max_length=200)
    repeat = models.PositiveIntegerField()
    outcome = models.CharField(max_length=20, choices=[(o.value, o.value) for o in Outcome])
    started_at = models.DateTimeField()
    latency_ms = models.FloatField(null=True, help_text="null: recorded elsewhere without it")
    attempts = models.PositiveSmallIntegerField(default=1)
    http_status = models.PositiveSmallIntegerField(null=True)
    transport_error = models.CharField(max_length=20, default="", blank=True)
    error_message = models.TextField(blank=True, default="")
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    headers = models.JSONField(default=dict)
    request = models.BinaryField()
    raw = models.BinaryField()
    decoded = models.BinaryField(help_text="As drift.checkup.packed writes it")

    class Meta:
        verbose_name = gettext_lazy("answer")
        constraints = [models.UniqueConstraint(fields=["stage", "question", "repeat"], name="checkup_answer_once")]
