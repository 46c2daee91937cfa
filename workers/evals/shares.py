"""A run's share of every endpoint that it asks, entered together or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Self

from django.utils.translation import gettext_noop

from drift.models import Endpoint
from drift.said import said
from workers.probe.traffic import Share

FULL_WAIT = timedelta(seconds=10)
RESTING_WAIT = timedelta(seconds=60)


class WaitError(Exception):
    """The run cannot go on now. `after`: when to try again."""

    def __init__(self, why: str, after: timedelta) -> None:
        super().__init__(why)
        self.why = why
        self.after = after


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the places: the name of the lease and how many it wants."""

    pk: str
    concurrency: int


class Shares:
    """A context manager over the shares of several endpoints. Raises WaitError on entering where one refuses."""

    def __init__(self, endpoints: Iterable[Endpoint], holder: Holder) -> None:
        self._by_endpoint = {endpoint.pk: Share(endpoint, holder) for endpoint in endpoints}
        self._entered = ExitStack()

    def __getitem__(self, endpoint_id: int) -> Share:
        return self._by_endpoint[endpoint_id]

    def __enter__(self) -> Self:
        try:
            for share in self._by_endpoint.values():
                refusal = share.enter()
                if refusal is not None:
                    raise WaitError(refusal.why, RESTING_WAIT if refusal.resting else FULL_WAIT)
                self._entered.callback(share.leave)
        except BaseException:
            self._entered.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered.close()

    @property
    def places(self) -> int:
        return sum(share.places for share in self._by_endpoint.values())

    def keep(self) -> None:
        """Prolongs all places."""
        for share in self._by_endpoint.values():
            share.keep()

    def closed(self) -> str:
        """Why asking has to stop: a circuit that opened; '' while all are closed."""
        resting = [share for share in self._by_endpoint.values() if not share.may_go_on()]
        return said(gettext_noop("an endpoint failed too often and is left to rest")) if resting else ""
