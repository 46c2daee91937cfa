"""Work that one worker holds at a time: due -> claimed under a token and a lease -> let go, or taken back.

Each kind of work is a row with `state`, `claim`, `lease_until`, `attempts`, `published_at` and `problem`, and perhaps
`not_before`. What a claim means beyond these columns is said by the module that owns the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import Model, Q, QuerySet

M = TypeVar("M", bound=Model)

DUE, RUNNING, FAILED = "due", "running", "failed"
MOST_ATTEMPTS = 5


def lease() -> timedelta:
    """How long a claim holds without being renewed."""
    return timedelta(seconds=settings.RUN_LEASE_SECONDS)


@dataclass(frozen=True, slots=True)
class Claims(Generic[M]):
    """One kind of work. `related` is loaded with a claimed row; `waits`: its rows may have to wait (`not_before`)."""

    model: type[M]
    related: tuple[str, ...]
    waits: bool = True

    def take(self, pk: int, now: datetime, begin: Callable[[Any], None]) -> tuple[M, UUID] | None:
        """Takes a due row for this worker, once `begin` has set what is its own; None if it is not due (any more)."""
        token = uuid4()
        with transaction.atomic():
            row: Any = (
                self._ready(now)
                .select_for_update(skip_locked=True, of=("self",))
                .filter(pk=pk)
                .select_related(*self.related)
                .first()
            )
            if row is None:
                return None
            row.state = RUNNING
            row.claim = token
            row.attempts += 1
            row.lease_until = now + lease()
            begin(row)
            row.save()
        return row, token

    def held(self, row: M, token: UUID) -> QuerySet[M]:
        """The row, if it is still held under this token; else nothing."""
        return self._rows.filter(pk=row.pk, state=RUNNING, claim=token)

    def renew(self, row: M, token: UUID, now: datetime, **fields: Any) -> bool:
        """Prolongs the claim. False if it is lost: the work was stopped or taken over."""
        return bool(self.held(row, token).update(lease_until=now + lease(), **fields))

    def let_go(self, row: M, token: UUID, state: str, **fields: Any) -> bool:
        """Ends the claim with the row in a state. False if it was lost before."""
        return bool(self.held(row, token).update(state=state, claim=None, lease_until=None, **fields))

    def reap(self, now: datetime, given_up: str, again: str) -> int:
        """Puts rows back whose worker is gone; returns how many. One tried `MOST_ATTEMPTS` times has failed, so that
        work that kills its worker does not do so for ever.
        """
        none: dict[str, Any] = {"claim": None, "lease_until": None}
        with transaction.atomic():
            lost = self._rows.filter(state=RUNNING, lease_until__lt=now)
            ids = list(lost.select_for_update(skip_locked=True).values_list("pk", flat=True))
            stuck = self._rows.filter(pk__in=ids, state=RUNNING)
            failed = stuck.filter(attempts__gte=MOST_ATTEMPTS)
            ended = failed.update(state=FAILED, finished_at=now, problem=given_up, **none)
            return ended + stuck.update(state=DUE, published_at=None, problem=again, **none)

    def to_publish(self, now: datetime, limit: int, order: Sequence[Any], after: timedelta | None = None) -> list[int]:
        """Ids of due rows that were not handed to a worker lately; marks them as handed over."""
        lately = now - (after or timedelta(seconds=settings.REPUBLISH_SECONDS))
        with transaction.atomic():
            ids = list(
                self._ready(now)
                .select_for_update(skip_locked=True)
                .filter(Q(published_at__isnull=True) | Q(published_at__lt=lately))
                .order_by(*order)
                .values_list("pk", flat=True)[:limit]
            )
            self._rows.filter(pk__in=ids).update(published_at=now)
        return ids

    @property
    def _rows(self) -> QuerySet[M]:
        return self.model._default_manager.all()

    def _ready(self, now: datetime) -> QuerySet[M]:
        due = self._rows.filter(state=DUE)
        return due.filter(Q(not_before__isnull=True) | Q(not_before__lte=now)) if self.waits else due
