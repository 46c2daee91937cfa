"""How many of a run's requests are in the air at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Flight:
    """Half of the run's places in even rounds, all of them in odd ones.

    A server batches what is in flight together, and the batch can decide the answer. A run that always kept the same
    number in flight would meet the same batch every time and call an endpoint steady that is not.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._now = 0
        self._changed = asyncio.Condition()

    def allowed(self, round_number: int) -> int:
        return self._places if round_number % 2 else (self._places + 1) // 2

    @asynccontextmanager
    async def room(self, round_number: int) -> AsyncIterator[None]:
        """Waits until one more of this round may fly, and counts it until it has landed."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._now < self.allowed(round_number))
            self._now += 1
        try:
            yield
        finally:
            async with self._changed:
                self._now -= 1
                self._changed.notify_all()
