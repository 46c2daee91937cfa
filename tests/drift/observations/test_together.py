"""Batches that arrive at the same time are stored in fewer transactions, each acknowledged only once it is there."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence

import pytest
from django.db import OperationalError

from drift.observations import together

pytestmark = pytest.mark.django_db(transaction=True)


def added(batches: Sequence[Counter[str]]) -> Counter[str]:
    return sum(batches, Counter[str]())


class Store:
    """Takes a while, as a database does, and refuses batches that hold something bad."""

    def __init__(self) -> None:
        self.stored: Counter[str] = Counter()
        self.writes = 0

    def write(self, batch: Counter[str]) -> None:
        self.writes += 1
        time.sleep(0.05)
        if "bad" in batch:
            raise ValueError("bad")
        if "cut" in batch:
            raise OperationalError("cut")
        self.stored += batch


def send_all(store: Store, batches: Sequence[Counter[str]]) -> list[str]:
    """What each sender was told, and that it was true when it was told."""
    told: list[str] = ["nothing"] * len(batches)

    def send(i: int) -> None:
        try:
            together.store(batches[i], store.write, added)
        except (ValueError, OperationalError) as error:
            told[i] = str(error)
        else:
            told[i] = "stored" if all(store.stored[key] >= n for key, n in batches[i].items()) else "a lie"

    threads = [threading.Thread(target=send, args=(i,)) for i in range(len(batches))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


def test_what_waits_is_stored_at_once_and_told_after_it_is_there() -> None:
    store = Store()
    batches = [Counter({f"own-{i}": 1, "shared": 2}) for i in range(12)]
    assert send_all(store, batches) == ["stored"] * 12
    assert store.stored == added(batches)
    assert store.writes < 12


def test_a_bad_batch_costs_no_other() -> None:
    store = Store()
    batches = [Counter({f"own-{i}": 1}) for i in range(6)]
    batches[3]["bad"] = 1
    told = send_all(store, batches)
    assert told == ["bad" if i == 3 else "stored" for i in range(6)]
    assert sum(store.stored.values()) == 5


def test_after_a_broken_connection_nothing_is_written_a_second_time() -> None:
    store = Store()
    batches = [Counter({f"own-{i}": 1}) for i in range(6)]
    batches[3]["cut"] = 1
    told = send_all(store, batches)
    assert told[3] == "cut"
    assert set(told) == {"stored", "cut"}
    assert sum(store.stored.values()) == told.count("stored"), "what was not acknowledged is not there, nor twice"
