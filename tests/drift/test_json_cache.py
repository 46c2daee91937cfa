"""The shared cache: what is kept comes back until it expires, and nothing that it reads can run code."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)

pytestmark = pytest.mark.django_db


def test_a_value_comes_back_until_it_expires() -> None:
    with time_machine.travel(NOW, tick=False):
        cache.set("tide", [1.5, "high"], timeout=60)
        assert cache.get("tide") == [1.5, "high"]
    with time_machine.travel(NOW + timedelta(seconds=61), tick=False):
        assert cache.get("tide", "gone") == "gone"


def test_the_first_to_add_wins_and_the_next_one_after_it_expired() -> None:
    with time_machine.travel(NOW, tick=False):
        assert cache.add("lock", 1, timeout=60)
        assert not cache.add("lock", 2, timeout=60)
        assert cache.get("lock") == 1
    with time_machine.travel(NOW + timedelta(seconds=61), tick=False):
        assert cache.add("lock", 3, timeout=60)
        assert cache.get("lock") == 3


def test_what_is_deleted_or_touched_is_so() -> None:
    with time_machine.travel(NOW, tick=False):
        cache.set("a", 1, timeout=60)
        cache.set("b", 1, timeout=None)
        assert cache.touch("a", 600)
        assert not cache.touch("c", 600)
        assert cache.delete("b")
        assert not cache.delete("b")
    with time_machine.travel(NOW + timedelta(seconds=61), tick=False):
        assert cache.get("a") == 1


def test_the_table_holds_json_and_what_json_cannot_say_is_refused() -> None:
    cache.set("counts", {"a": 1}, timeout=60)
    with connection.cursor() as cursor:
        cursor.execute("SELECT value FROM drift_cache")
        assert cursor.fetchall() == [('{"a": 1}',)]
    with pytest.raises(TypeError, match="not JSON serializable"):
        cache.set("thing", object(), timeout=60)
