"""Tells the audit log's triggers who acts, by which road, and under which request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

_SET = (
    "SELECT set_config('tidegauge.actor', %s, false), set_config('tidegauge.actor_name', %s, false), "
    "set_config('tidegauge.via', %s, false), set_config('tidegauge.request', %s, false)"
)


@contextmanager
def acting(*, user_id: int | None = None, name: str, via: str, request_id: str = "") -> Iterator[None]:
    """Changes made inside are noted as made by `name` (a person, or a token acting for a team).

    The four values belong to the database session: they are cleared before it goes back into the pool.
    """
    _note("" if user_id is None else str(user_id), name, via, request_id)
    try:
        yield
    finally:
        if connection.connection is not None and not connection.needs_rollback:
            _note("", "", "", "")
        else:
            connection.close_if_unusable_or_obsolete()


def _note(*values: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_SET, values)
