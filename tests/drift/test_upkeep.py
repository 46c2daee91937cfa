"""Old rows go, secrets change keys, logs keep secrets to themselves."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import timedelta

import pytest
from cryptography.fernet import Fernet
from django.conf import LazySettings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection

from drift import key_rotation, logs, retention
from drift.models import AuditEntry, CanaryBucket, Endpoint, Monitor, Output, Run, Sample
from drift.partitions import partition_name
from tests.conftest import NOW


def test_samples_go_after_their_suites_retention_and_rollups_stay(
    monitor: Monitor, record_answers: Callable[..., Run]
) -> None:
    monitor.suite.retention_days = 30
    monitor.suite.save()
    for days in (100, 40, 10):
        record_answers(monitor, [["a", "b"], ["x", "x"]], NOW - timedelta(days=days))
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with checks to come cannot be dropped
    buckets = CanaryBucket.objects.count()
    told = retention.prune(NOW)
    assert (told["months of samples"], told["samples"]) == (1, 4)
    assert Sample.objects.count() == 4
    assert Output.objects.count() == 3
    assert CanaryBucket.objects.count() == buckets
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)", [partition_name(NOW - timedelta(days=100))])
        assert cursor.fetchone() == (None,)
    assert not retention.is_due(NOW + timedelta(hours=23))
    assert retention.is_due(NOW + timedelta(hours=25))


def test_the_audit_log_goes_only_by_age(endpoint: Endpoint, settings: LazySettings) -> None:
    assert AuditEntry.objects.filter(subject="endpoint").exists()
    settings.AUDIT_DAYS = 10
    first = AuditEntry.objects.earliest("at").at
    assert retention.prune(first + timedelta(days=9))["audit entries"] == 0
    assert retention.prune(first + timedelta(days=30))["audit entries"] > 0


def test_secrets_are_readable_with_the_new_key_alone_after_rotation(endpoint: Endpoint, settings: LazySettings) -> None:
    old, new = settings.FIELD_ENCRYPTION_KEYS, Fernet.generate_key().decode()
    Endpoint.objects.update(api_key="sk-abcdefghijkl")
    settings.FIELD_ENCRYPTION_KEYS = [new]
    with pytest.raises(ImproperlyConfigured):
        Endpoint.objects.get()
    settings.FIELD_ENCRYPTION_KEYS = [new, *old]
    call_command("rotate_keys")
    settings.FIELD_ENCRYPTION_KEYS = [new]
    assert Endpoint.objects.get().api_key.reveal() == "sk-abcdefghijkl"


def test_every_encrypted_column_is_known() -> None:
    known = {f"{model.__name__}.{field.name}" for model, field in key_rotation.encrypted_fields()}
    assert {"Endpoint.api_key", "Channel.address", "Channel.signing_secret"} <= known


@pytest.mark.parametrize(
    "secret",
    ["tgw_abcdefghijklmnop", "Bearer abcdefgh12345678", "sk-proj-abcdefgh1234", "postgresql://me:hunter2@db/x"],
)
def test_a_log_line_has_its_request_and_no_secret(secret: str) -> None:
    record = logging.LogRecord("a", logging.INFO, "", 0, "sent %s", (secret,), None)
    with logs.in_request("r-1"), logs.in_run(7):
        line, told = logs.Line().format(record), json.loads(logs.JsonLine().format(record))
    assert "request=r-1 run=7" in line
    assert (told["request"], told["run"]) == ("r-1", "7")
    for text in (line, told["message"]):
        assert "[hidden]" in text
        assert not any(part in text for part in ("abcdefgh", "hunter2"))
