"""Eval runs: arms x cases x repeats, each answer stored as it came, each score with who gave it."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext, gettext_lazy

from drift import figures
from drift.answers import Outcome
from drift.models.endpoint import Endpoint
from drift.models.eval_set import EvalCase, EvalVersion
from drift.models.team import User
from drift.said import SaidField


class EvalRun(models.Model):
    """due -> running -> finished | failed | stopped; running <-> paused; running -> due when its worker is gone, or
    when it has to wait (`not_before`). Answers are kept through all of it: going on means asking what is missing.
    """

    class State(models.TextChoices):
        DUE = "due", gettext_lazy("Waiting")
        RUNNING = "running", gettext_lazy("Running")
        PAUSED = "paused", gettext_lazy("Paused")
        FINISHED = "finished", gettext_lazy("Finished")
        STOPPED = "stopped", gettext_lazy("Stopped")
        FAILED = "failed", gettext_lazy("Failed")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    version = models.ForeignKey(EvalVersion, on_delete=models.PROTECT, related_name="runs")
    name = models.CharField(max_length=120, blank=True, default="")
    repeats = models.PositiveSmallIntegerField(default=5)
    concurrency = models.PositiveSmallIntegerField(default=4, help_text="Requests in flight per endpoint")
    max_tokens = models.PositiveIntegerField(default=256)
    only_cases = models.JSONField(null=True, help_text="Keys of the cases asked; null: all")
    deepens = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="deeper")
    margin = models.FloatField(default=0.03, help_text="Differences within it count as equivalent")
    stop_early = models.BooleanField(default=False, help_text="Stop when the evidence decides, valid at every look")
    cost_cap = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True, help_text="Dollars")
    token_cap = models.PositiveBigIntegerField(null=True, blank=True)
    requested_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    state = models.CharField(max_length=8, choices=State.choices, default=State.DUE)
    problem = SaidField(blank=True, default="", help_text="Why it waits, is paused or ended so")
    claim = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Claims in a row that brought no answer")
    not_before = models.DateTimeField(null=True)
    published_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    wanted = models.PositiveIntegerField(default=0, help_text="Answers in all")
    answered = models.PositiveIntegerField(default=0)
    graded = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    tokens = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name = gettext_lazy("eval run")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(repeats__gte=1) & models.Q(repeats__lte=100), name="eval_repeats_1_to_100"
            ),
            models.CheckConstraint(
                condition=models.Q(concurrency__gte=1) & models.Q(concurrency__lte=64),
                name="eval_concurrency_1_to_64",
            ),
            models.CheckConstraint(condition=models.Q(margin__gt=0) & models.Q(margin__lte=1), name="eval_margin_sane"),
            models.CheckConstraint(
                condition=~models.Q(state="running")
                | (models.Q(claim__isnull=False) & models.Q(lease_until__isnull=False)),
                name="running_eval_is_claimed",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=["finished", "failed", "stopped"]) | models.Q(finished_at__isnull=False),
                name="ended_eval_has_a_time",
            ),
        ]
        indexes = [
            models.Index(fields=["created_at"], name="eval_run_open", condition=models.Q(state__in=["due", "running"]))
        ]

    def __str__(self) -> str:
        return self.name or gettext("{version}, {time}").format(
            version=self.version, time=figures.day_time_padded(self.created_at)
        )

    @property
    def over(self) -> bool:
        return self.state in (self.State.FINISHED, self.State.STOPPED, self.State.FAILED)


class EvalArm(models.Model):
    """One way of answering: an endpoint, its request, a prompt. What was sent is kept, whatever becomes of the
    endpoint.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey(EvalRun, on_delete=models.CASCADE, related_name="arms")
    position = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=120)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="eval_arms")
    template = models.TextField(blank=True, default="")
    system = models.TextField(blank=True, default="")
    parameters = models.JSONField(default=dict, help_text="On top of the endpoint's; null removes one")

    class Meta:
        verbose_name = gettext_lazy("arm")
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "position"], name="eval_arm_position_unique"),
            models.UniqueConstraint(fields=["run", "name"], name="eval_arm_name_unique"),
        ]

    def __str__(self) -> str:
        return self.name


class EvalAnswer(models.Model):
    """One answer of one arm to one case. The key makes asking twice harmless; raw bytes are there before any score."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    arm = models.ForeignKey(EvalArm, on_delete=models.CASCADE, related_name="answers")
    case = models.ForeignKey(EvalCase, on_delete=models.CASCADE, related_name="answers")
    repeat = models.PositiveSmallIntegerField(help_text="From 1")
    prompt_digest = models.CharField(max_length=16)
    outcome = models.CharField(max_length=20, choices=[(o.value, o.value) for o in Outcome])
    identity_digest = models.BinaryField(max_length=32, null=True, help_text="As in identities; null: said nothing")
    identity_label = models.CharField(max_length=600, blank=True, default="")
    text = models.TextField(blank=True, default="", help_text="Safe rendering of the compared value")
    digest = models.BinaryField(max_length=32, null=True, help_text="SHA-256 of the compared value, raw")
    token_bytes = models.BinaryField(null=True)
    token_ends = ArrayField(models.PositiveIntegerField(), null=True)
    margins = models.BinaryField(null=True, help_text="float32[T]: best minus second best logprob; NaN: unknown")
    batch_sizes = ArrayField(models.PositiveSmallIntegerField(), null=True)
    cache_evidence = models.CharField(max_length=300, blank=True, default="")
    started_at = models.DateTimeField()
    latency_ms = models.FloatField()
    attempts = models.PositiveSmallIntegerField(default=1)
    http_status = models.PositiveSmallIntegerField(null=True)
    finish_reason = models.CharField(max_length=80, null=True)  # noqa: DJ001  null: none sent
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    error_message = models.TextField(blank=True, default="")
    kind = models.CharField(max_length=12)
    transport = models.CharField(max_length=8)
    headers = models.JSONField(default=dict)
    request = models.BinaryField()
    raw = models.BinaryField()
    decoder_version = models.PositiveSmallIntegerField()

    score = models.FloatField(null=True, help_text="Over all graders; null: unscored, or not graded yet")
    graded_at = models.DateTimeField(null=True)
    extracted = models.TextField(blank=True, default="")
    why = SaidField(blank=True, default="")

    class Meta:
        verbose_name = gettext_lazy("answer")
        constraints = [
            models.UniqueConstraint(fields=["arm", "case", "repeat"], name="eval_answer_once"),
            models.CheckConstraint(
                condition=models.Q(score__isnull=True) | models.Q(score__gte=0) & models.Q(score__lte=1),
                name="eval_score_0_to_1",
            ),
        ]
        indexes = [models.Index(fields=["arm"], name="eval_ungraded", condition=models.Q(graded_at__isnull=True))]


class EvalScore(models.Model):
    """What one grader said of one answer, once. A judging model speaks several times: `trial` tells them apart."""

    answer = models.ForeignKey(EvalAnswer, on_delete=models.CASCADE, related_name="scores")
    place = models.PositiveSmallIntegerField(help_text="Which of the case's graders")
    trial = models.PositiveSmallIntegerField(default=1)
    grader = models.CharField(max_length=40)
    grader_version = models.PositiveSmallIntegerField()
    score = models.FloatField(null=True, help_text="Null: this grader could not score it")
    extracted = models.TextField(blank=True, default="")
    why = SaidField(blank=True, default="")
    raw = models.BinaryField(null=True, help_text="What a judge or webhook answered, as received")
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)

    class Meta:
        verbose_name = gettext_lazy("score")
        constraints = [models.UniqueConstraint(fields=["answer", "place", "trial"], name="eval_score_once")]
