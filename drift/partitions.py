"""Monthly partitions of the sample table."""

from __future__ import annotations

from datetime import UTC, datetime

from django.db import connection


def month_of(moment: datetime) -> datetime:
    """The first instant of the UTC month that holds `moment`."""
    return moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def month_after(month: datetime) -> datetime:
    return month.replace(year=month.year + month.month // 12, month=month.month % 12 + 1)


def partition_name(month: datetime) -> str:
    return f"drift_sample_{month:%Y_%m}"


def ensure_sample_partition(moment: datetime) -> None:
    """Makes the partition that `moment` falls into, if there is none. Safe to call from many processes at once."""
    month = month_of(moment)
    name = partition_name(month)
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)", [name])
        if cursor.fetchone()[0] is not None:
            return
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('drift_sample partitions'))")
        cursor.execute(
            f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF drift_sample "
            f"FOR VALUES FROM ('{month.isoformat()}') TO ('{month_after(month).isoformat()}')"
        )


def ensure_sample_partitions(now: datetime) -> None:
    """This month's and next month's."""
    ensure_sample_partition(now)
    ensure_sample_partition(month_after(month_of(now)))
