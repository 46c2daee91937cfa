"""Keeps the claim of a piece of work while the work goes on, and ends the work when the claim is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections

RENEWALS_PER_LEASE = 6


class ClaimLostError(Exception):
    """The work was stopped, or another worker holds it now; what is not stored yet is thrown away."""


async def keep(renew: Callable[[], bool], every_s: float | None = None) -> None:
    """Renews again and again. Raises ClaimLostError once `renew` says that the claim is gone."""
    while True:
        await asyncio.sleep(every_s or min(5.0, settings.RUN_LEASE_SECONDS / RENEWALS_PER_LEASE))
        if not await sync_to_async(renew)():
            raise ClaimLostError


async def while_held(
    work: Coroutine[Any, Any, None], keeping: Coroutine[Any, Any, None], longest: timedelta | None = None
) -> None:
    """Does the work until it ends, `keeping` fails or `longest` has passed. Raises what either of them raised."""
    tasks = [asyncio.ensure_future(keeping), asyncio.ensure_future(work)]
    try:
        await asyncio.wait(
            tasks, timeout=longest.total_seconds() if longest else None, return_when=asyncio.FIRST_COMPLETED
        )
        for task in tasks:
            if task.done():
                task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await sync_to_async(connections.close_all)()
