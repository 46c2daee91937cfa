"""The shared cache, in a table: values are kept as JSON, since Django's own back end keeps pickles, which run code."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.db import connection
from django.utils import timezone

SWEEP_SHARE = 0.01  # of writes: they remove what has expired


class JsonCache(BaseCache):
    """Takes what JSON can say; a tuple comes back as a list. Always in `drift_cache`, whatever LOCATION says."""

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        found = self._run(
            "SELECT value FROM drift_cache WHERE cache_key = %s AND expires > %s",
            [self.make_and_validate_key(key, version=version), timezone.now()],
        )
        return json.loads(found[0]) if found else default

    def set(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        self._put(key, value, timeout, version, keep=False)

    def add(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return self._put(key, value, timeout, version, keep=True)

    def touch(self, key: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return bool(
            self._run(
                "UPDATE drift_cache SET expires = %s WHERE cache_key = %s AND expires > %s RETURNING 1",
                [self._end(timeout), self.make_and_validate_key(key, version=version), timezone.now()],
            )
        )

    def delete(self, key: Any, version: int | None = None) -> bool:
        return bool(
            self._run(
                "DELETE FROM drift_cache WHERE cache_key = %s RETURNING 1",
                [self.make_and_validate_key(key, version=version)],
            )
        )

    def clear(self) -> None:
        self._run("DELETE FROM drift_cache RETURNING 1", [])

    def _put(self, key: Any, value: Any, timeout: Any, version: int | None, *, keep: bool) -> bool:
        """Whether it was written; `keep`: not over a value that has not expired."""
        now = timezone.now()
        if random.random() < SWEEP_SHARE:  # noqa: S311  a chance, not a secret
            self._run("DELETE FROM drift_cache WHERE expires <= %s RETURNING 1", [now])
        statement = (
            "INSERT INTO drift_cache (cache_key, value, expires) VALUES (%s, %s, %s) ON CONFLICT (cache_key) "
            "DO UPDATE SET value = excluded.value, expires = excluded.expires"
        )
        values = [self.make_and_validate_key(key, version=version), json.dumps(value), self._end(timeout)]
        if keep:
            return bool(self._run(statement + " WHERE drift_cache.expires <= %s RETURNING 1", [*values, now]))
        return bool(self._run(statement + " RETURNING 1", values))

    def _end(self, timeout: Any) -> datetime:
        seconds = self.get_backend_timeout(timeout)
        return datetime.max.replace(tzinfo=UTC) if seconds is None else datetime.fromtimestamp(seconds, UTC)

    def _run(self, statement: str, values: list[Any]) -> tuple[Any, ...] | None:
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            found: tuple[Any, ...] | None = cursor.fetchone()
        return found
