"""An endpoint, what it accepted when asked, and the checks that asked it."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy

from drift.answers import ApiKind, Transport
from drift.models.team import Team, User
from drift.said import SaidField
from drift.secrets import EncryptedField


class Circuit(models.TextChoices):
    """Whether requests go out. Shown as 'throttled' or 'down', never as drift."""

    CLOSED = "closed", gettext_lazy("Open for requests")
    HALF_OPEN = "half_open", gettext_lazy("Trying again")
    OPEN = "open", gettext_lazy("Resting after failures")


class Endpoint(models.Model):
    """Base URL + model + credentials + request parameters."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="endpoints")
    name = models.CharField(max_length=80)
    provider = models.CharField(max_length=80, blank=True, help_text="Shown and grouped by; any word you like")
    tags = ArrayField(models.CharField(max_length=40), default=list, blank=True)

    base_url = models.URLField(max_length=500, help_text="Up to and including /v1")
    model = models.CharField(max_length=200)
    api_key = EncryptedField(default="", blank=True, editable=False)
    api_key_hint = models.CharField(max_length=8, default="", blank=True, help_text="Last four characters")
    kind = models.CharField(max_length=12, choices=[(k.value, k.value) for k in ApiKind], default=ApiKind.CHAT)
    transport = models.CharField(max_length=8, choices=[(t.value, t.value) for t in Transport], default=Transport.WHOLE)
    cap_parameter = models.CharField(max_length=32, default="max_tokens")
    wished_parameters = models.JSONField(default=dict, help_text="Asked for: temperature, seed, logprobs ...")
    parameters = models.JSONField(default=dict, help_text="Sent with every request: the wished ones, as negotiated")
    extra_headers = models.JSONField(default=dict, blank=True)
    ca_bundle = models.TextField(default="", blank=True)
    verify_tls = models.BooleanField(default=True)
    deadline_s = models.FloatField(default=120.0)
    max_concurrency = models.PositiveSmallIntegerField(default=16)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    price_in = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True, help_text="$ per 1M tokens")
    price_out = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    simulated = models.BooleanField(default=False)
    in_house = models.CharField(max_length=12, default="", blank=True, help_text="fast or invariant: our own worker")

    circuit = models.CharField(max_length=10, choices=Circuit.choices, default=Circuit.CLOSED)
    failures_in_a_row = models.PositiveIntegerField(default=0)
    rest_until = models.DateTimeField(null=True, blank=True)
    rest_reason = SaidField(default="", blank=True)

    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name"],
                condition=models.Q(archived_at__isnull=True),
                name="endpoint_name_unique_in_team",
            ),
            models.CheckConstraint(condition=models.Q(kind__in=[k.value for k in ApiKind]), name="endpoint_kind_known"),
            models.CheckConstraint(
                condition=models.Q(transport__in=[t.value for t in Transport]),
                name="endpoint_transport_known",
            ),
            models.CheckConstraint(
                condition=models.Q(deadline_s__gt=0) & models.Q(deadline_s__lte=600),
                name="endpoint_deadline_sane",
            ),
            models.CheckConstraint(
                condition=models.Q(max_concurrency__gte=1) & models.Q(max_concurrency__lte=256),
                name="endpoint_concurrency_sane",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Traffic(models.Model):
    """Shared by all workers under this row's lock: places in use, pace, and the circuit breaker's state."""

    endpoint = models.OneToOneField(Endpoint, on_delete=models.CASCADE, primary_key=True, related_name="traffic")
    limits = models.JSONField(default=dict)
    breaker = models.JSONField(default=dict)


class Capability(models.Model):
    """What one parameter did when asked for: refused, ignored or honoured, with the evidence."""

    class State(models.TextChoices):
        REFUSED = "refused", gettext_lazy("Refused")
        IGNORED = "ignored", gettext_lazy("Ignored")
        HONOURED = "honoured", gettext_lazy("Honoured")
        UNKNOWN = "unknown", gettext_lazy("Not known")

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="capabilities")
    name = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=State.choices)
    value = models.CharField(max_length=80, default="", blank=True)
    evidence = SaidField(default="", blank=True)
    checked_at = models.DateTimeField()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["endpoint", "name"], name="one_capability_per_name")]


class EndpointCheck(models.Model):
    """One conversation with an endpoint to find out whether and how it can be probed."""

    class State(models.TextChoices):
        DUE = "due", gettext_lazy("Waiting")
        RUNNING = "running", gettext_lazy("Asking")
        PASSED = "passed", gettext_lazy("Passed")
        FAILED = "failed", gettext_lazy("Failed")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="checks")
    requested_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    requested_at = models.DateTimeField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.DUE)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    finished_at = models.DateTimeField(null=True)
    problem = SaidField(default="", help_text="What is wrong and what to do, in a sentence")
    report = models.JSONField(default=dict)

    class Meta:
        indexes = [
            models.Index(fields=["requested_at"], name="check_open", condition=models.Q(state__in=["due", "running"]))
        ]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(state__in=["passed", "failed"]) | models.Q(finished_at__isnull=False),
                name="check_end_has_a_time",
            )
        ]
