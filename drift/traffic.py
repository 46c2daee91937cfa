"""One row per endpoint that all workers share: places in use, pace, circuit breaker. The rules are the prober's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import transaction

from drift.models import Endpoint, Traffic
from drift.said import cut


@contextmanager
def locked(endpoint_id: int) -> Iterator[Traffic]:
    """The endpoint's row under its lock; what the block changes is saved."""
    with transaction.atomic():
        Traffic.objects.get_or_create(endpoint_id=endpoint_id)
        traffic = Traffic.objects.select_for_update().get(endpoint_id=endpoint_id)
        yield traffic
        traffic.save()


def show_circuit(endpoint_id: int, *, circuit: str, failures: int, until: datetime | None, reason: str) -> None:
    """What people see of the breaker: 'throttled' or 'down', until when, and why."""
    Endpoint.objects.filter(pk=endpoint_id).update(
        circuit=circuit, failures_in_a_row=failures, rest_until=until, rest_reason=cut(reason, 300)
    )
