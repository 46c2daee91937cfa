"""What production saw, summed up as it came in. Never part of agreement figures."""

from __future__ import annotations

from django.db import models

from drift.models.endpoint import Endpoint
from drift.models.sample import Identity


class ObservedBucket(models.Model):
    """Answers that production had from one endpoint under one identity in one UTC hour."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="observed")
    identity = models.ForeignKey(
        Identity, null=True, on_delete=models.CASCADE, related_name="observed", help_text="null: beyond the limit"
    )
    starts_at = models.DateTimeField()
    answers = models.PositiveBigIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["endpoint", "starts_at", "identity"], nulls_distinct=False, name="observed_bucket_unique"
            )
        ]


class ObservedPrompt(models.Model):
    """One prompt seen in production on one UTC day, and whether its answers differed from the first.

    At most `drift.observations.PROMPTS_A_DAY` for an endpoint and day; later ones are counted in buckets only.
    """

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="observed_prompts")
    day = models.DateField()
    prompt = models.CharField(max_length=128, help_text="Hash, as sent")
    first_output = models.CharField(max_length=128, help_text="Hash, as sent")
    answers = models.PositiveIntegerField(default=0)
    differing = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "day", "prompt"], name="observed_prompt_unique"),
        ]
