"""Answers: identities, distinct outputs, and samples that point to them."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext

from drift.answers import FingerprintState, Outcome
from drift.models.endpoint import Endpoint
from drift.models.run import Run
from drift.models.series import Series
from drift.models.suite import Canary


class Identity(models.Model):
    """One thing that an endpoint said it was, with how often. An endpoint has a set of them."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="identities")
    digest = models.BinaryField(max_length=32)
    model_echo = models.CharField(max_length=300, null=True)  # noqa: DJ001  null: no echo at all
    fingerprint_state = models.CharField(max_length=8, choices=[(s.value, s.value) for s in FingerprintState])
    fingerprint = models.CharField(max_length=300, default="")
    upstream = models.CharField(max_length=200, default="")
    region = models.CharField(max_length=200, default="")
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()
    samples_count = models.PositiveBigIntegerField(default=0)
    observed_count = models.PositiveBigIntegerField(default=0, help_text="Answers that production reported")
    observed_at = models.DateTimeField(null=True, help_text="When production last reported it")

    class Meta:
        verbose_name_plural = "identities"
        constraints = [models.UniqueConstraint(fields=["endpoint", "digest"], name="identity_unique")]
        indexes = [models.Index(fields=["endpoint", "-last_seen"], name="identity_recent")]

    @property
    def label(self) -> str:
        """The short form shown on pages."""
        if self.fingerprint_state == FingerprintState.VALUE:
            return self.fingerprint
        return {"absent": gettext("none given"), "null": "null", "empty": gettext("empty")}[self.fingerprint_state]


class Output(models.Model):
    """A distinct answer to one canary, stored once by the hash of its raw text."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    canary = models.ForeignKey(Canary, on_delete=models.CASCADE, related_name="outputs")
    digest = models.BinaryField(max_length=32, help_text="SHA-256 of the compared value, raw")
    whitespace_digest = models.BinaryField(max_length=32, help_text="The same after whitespace is normalised")
    text = models.TextField(help_text="Safe rendering: NUL, lone surrogates and control characters made visible")
    token_bytes = models.BinaryField(null=True, help_text="Generated tokens' bytes, joined; null without logprobs")
    token_ends = ArrayField(models.PositiveIntegerField(), null=True, help_text="End offset of each token")
    first_seen = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["canary", "digest"], name="output_once_per_canary")]


class Sample(models.Model):
    """One answer to one canary in one run. Partitioned by month of `scheduled_for`."""

    pk = models.CompositePrimaryKey("scheduled_for", "run_id", "canary_id", "repeat")
    scheduled_for = models.DateTimeField()
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="samples")
    canary = models.ForeignKey(Canary, on_delete=models.PROTECT, related_name="samples")
    repeat = models.PositiveSmallIntegerField()
    public_id = models.UUIDField(default=uuid.uuid4, editable=False)
    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="samples")
    identity = models.ForeignKey(Identity, null=True, on_delete=models.PROTECT, related_name="samples")
    output = models.ForeignKey(Output, null=True, on_delete=models.PROTECT, related_name="samples")

    outcome = models.CharField(max_length=20, choices=[(o.value, o.value) for o in Outcome])
    cold = models.BooleanField(default=False, help_text="First answer to this canary in this run")
    started_at = models.DateTimeField()
    latency_ms = models.FloatField()
    first_byte_ms = models.FloatField(null=True)
    attempts = models.PositiveSmallIntegerField(default=1)
    http_status = models.PositiveSmallIntegerField(null=True)
    transport_error = models.CharField(max_length=20, default="", help_text="Why there is no complete response, if so")
    finish = models.CharField(max_length=10, default="unknown")
    finish_reason = models.CharField(max_length=80, null=True)  # noqa: DJ001  null: none sent
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    reasoning_tokens = models.PositiveIntegerField(null=True)
    cached_tokens = models.PositiveIntegerField(null=True)
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    completion_id = models.CharField(max_length=200, default="")
    batch_sizes = ArrayField(models.PositiveSmallIntegerField(), null=True)
    logprobs = models.BinaryField(null=True, help_text="float32[T]: chosen tokens; NaN: censored")
    margins = models.BinaryField(null=True, help_text="float32[T]: best minus second best logprob; NaN: unknown")
    error_code = models.CharField(max_length=120, default="")
    error_message = models.TextField(default="")
    headers = models.JSONField(default=dict)
    request = models.BinaryField(help_text="Request body as sent")
    raw = models.BinaryField(help_text="Response body as received")
    decoder_version = models.PositiveSmallIntegerField()

    class Meta:
        indexes = [
            models.Index(fields=["public_id"], name="sample_public_id"),
            models.Index(fields=["series", "canary", "-scheduled_for"], name="sample_by_canary"),
            models.Index(fields=["output"], name="sample_by_output"),
        ]
