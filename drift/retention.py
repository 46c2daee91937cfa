"""What is deleted when it is old: samples by their suite's retention, and the traces of what is long over."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.apps import apps
from django.conf import settings
from django.db import connection, transaction

from drift.models import (
    AuditEntry,
    Heartbeat,
    IdempotentAnswer,
    Invitation,
    ObservedBucket,
    ObservedPrompt,
    Series,
    Suite,
    Trial,
)
from drift.partitions import month_after, month_of, partition_name

EVERY = timedelta(hours=24)
ANSWERS_KEPT = timedelta(hours=24)  # an Idempotency-Key may be repeated for so long
PROMPTS_KEPT = timedelta(days=30)
OBSERVED_KEPT = timedelta(days=90)
INVITATIONS_KEPT = timedelta(days=90)
TRIALS_KEPT = timedelta(days=90)
ROWS_AT_ONCE = 20_000


def is_due(now: datetime) -> bool:
    """Whether a day has passed since the last pruning."""
    beat = Heartbeat.objects.filter(part="prune").first()
    return beat is None or now - beat.beat_at >= EVERY


def prune(now: datetime) -> Mapping[str, int]:
    """Deletes what is older than it is kept; how many of each. Rollups, outputs and baselines stay: they are small.

    Whole months of samples that no suite keeps are dropped as partitions, which costs nothing.
    """
    Heartbeat.objects.update_or_create(part="prune", defaults={"beat_at": now})
    deleted = {"months of samples": _drop_months(now), "samples": _delete_samples(now)}
    old = {
        "idempotent answers": IdempotentAnswer.objects.filter(created_at__lt=now - ANSWERS_KEPT),
        "observed prompts": ObservedPrompt.objects.filter(day__lt=(now - PROMPTS_KEPT).date()),
        "observed hours": ObservedBucket.objects.filter(starts_at__lt=now - OBSERVED_KEPT),
        "invitations": Invitation.objects.filter(expires_at__lt=now - INVITATIONS_KEPT),
        "trials": Trial.objects.filter(requested_at__lt=now - TRIALS_KEPT),
        "sessions": apps.get_model("sessions", "Session")._default_manager.filter(expire_date__lt=now),
    }
    deleted |= {name: rows.delete()[0] for name, rows in old.items()}
    deleted["audit entries"] = _delete_audit(now)
    return deleted


def _drop_months(now: datetime) -> int:
    longest = max(Suite.objects.values_list("retention_days", flat=True), default=None)
    if longest is None:
        return 0
    cutoff = now - timedelta(days=longest)
    dropped = 0
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "
            "WHERE i.inhparent = 'drift_sample'::regclass ORDER BY c.relname"
        )
        for (name,) in cursor.fetchall():
            month = datetime.strptime(f"{name[-7:]} +0000", "%Y_%m %z")
            if month_after(month) <= cutoff and name == partition_name(month) and month < month_of(now):
                cursor.execute(f"DROP TABLE {name}")
                dropped += 1
    return dropped


def _delete_samples(now: datetime) -> int:
    """Suite by suite, in portions that hold no lock for long."""
    deleted = 0
    for suite in Suite.objects.order_by("id"):
        series = list(Series.objects.filter(suite=suite).values_list("pk", flat=True))
        while series:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(
                    "DELETE FROM drift_sample WHERE (scheduled_for, run_id, canary_id, repeat) IN ("
                    "SELECT scheduled_for, run_id, canary_id, repeat FROM drift_sample "
                    "WHERE series_id = ANY(%s) AND scheduled_for < %s LIMIT %s)",
                    [series, now - timedelta(days=suite.retention_days), ROWS_AT_ONCE],
                )
                deleted += cursor.rowcount
                if cursor.rowcount < ROWS_AT_ONCE:
                    break
    return deleted


def _delete_audit(now: datetime) -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL tidegauge.pruning = 'on'")
        return AuditEntry.objects.filter(at__lt=now - timedelta(days=settings.AUDIT_DAYS)).delete()[0]
