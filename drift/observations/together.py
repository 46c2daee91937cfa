"""Batches that arrive while one is being stored are stored together: the busier, the fewer transactions.

All of them meet in the same rows of the hour, so storing them side by side would only make them wait for each other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db import InterfaceError, OperationalError, connection

B = TypeVar("B")
MOST = 16  # batches in one transaction

_turn = threading.Lock()  # one thread of this process stores at a time
_door = threading.Lock()
_waiting: list[_Waiting] = []  # type: ignore[type-arg]


@dataclass(slots=True, eq=False)
class _Waiting(Generic[B]):
    batch: B
    done: bool = False
    error: BaseException | None = None


def store(batch: B, write: Callable[[B], None], merged: Callable[[Sequence[B]], B]) -> None:
    """Returns once the batch is committed, raises what kept it from that. Whoever's turn it is writes for all.

    Inside a transaction of the caller's the batch is written there, by itself.
    """
    if connection.in_atomic_block:
        write(batch)
        return
    mine = _Waiting(batch)
    with _door:
        _waiting.append(mine)
    with _turn:
        while not mine.done:
            with _door:
                taken, _waiting[:] = _waiting[:MOST], _waiting[MOST:]
            try:
                _write(taken, write, merged)
            finally:  # whatever ends this thread: nobody may wait for ever for a batch that it took along
                for one in taken:
                    if not one.done:
                        one.error, one.done = OperationalError("the batch may not be stored: its writer ended"), True
    if mine.error is not None:
        raise mine.error


def _write(taken: Sequence[_Waiting[B]], write: Callable[[B], None], merged: Callable[[Sequence[B]], B]) -> None:
    """All at once; where that is refused each by itself, so that one bad batch costs no other.

    Not where the connection broke: it may have broken after the commit, and writing again would count twice.
    """
    if len(taken) > 1:
        error: Exception | None = None
        try:
            write(merged([one.batch for one in taken]))
        except (OperationalError, InterfaceError) as broken:
            error = broken
        except Exception:
            return _write_each(taken, write)
        for one in taken:
            one.error, one.done = error, True
        return None
    return _write_each(taken, write)


def _write_each(taken: Sequence[_Waiting[B]], write: Callable[[B], None]) -> None:
    for one in taken:
        try:
            write(one.batch)
        except BaseException as error:  # handed to the thread whose batch it is
            one.error = error
        one.done = True
