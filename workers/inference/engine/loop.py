"""The engine on its own thread, and the only door to it from others."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Sequence as Items

from workers.inference.engine.engine import Engine
from workers.inference.engine.sequence import Progress, Sequence
from workers.inference.errors import QueueFullError

log = logging.getLogger(__name__)


class EngineLoop:
    """Feeds an engine from other threads.

    Args:
        max_waiting: sequences that may wait for a place in the batch; more are refused.
    """

    def __init__(self, engine: Engine, max_waiting: int) -> None:
        self.engine = engine
        self.max_waiting = max_waiting
        self._inbox: queue.SimpleQueue[tuple[str, Sequence | None]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="engine", daemon=True)
        self._stopping = threading.Event()
        self._lock = threading.Lock()

    @property
    def waiting(self) -> int:
        """Sequences submitted and not yet running."""
        return self._inbox.qsize() + len(self.engine.scheduler.waiting)

    @property
    def running(self) -> int:
        return len(self.engine.scheduler.running)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the step in progress; what is unfinished stays unfinished."""
        self._stopping.set()
        self._inbox.put(("wake", None))
        self._thread.join()

    def submit(self, sequences: Items[Sequence]) -> None:
        """Queue the sequences of one request, all or none.

        Raises:
            QueueFullError: more would wait than are allowed.
        """
        with self._lock:
            waiting = self.waiting
            free = max(self.engine.scheduler.max_batch - self.running, 0)
            if waiting + len(sequences) > self.max_waiting + free:
                raise QueueFullError(waiting, retry_after_s=1 + waiting // max(self.engine.scheduler.max_batch, 1))
            for sequence in sequences:
                self._inbox.put(("add", sequence))

    def cancel(self, sequence: Sequence) -> None:
        """Free the sequence's place before the next step."""
        self._inbox.put(("cancel", sequence))

    def _work(self) -> None:
        while not self._stopping.is_set():
            self._take_in(wait=not self.engine.busy)
            if self._stopping.is_set():
                return
            try:
                self.engine.step()
            except Exception:
                log.exception("A step failed; its sequences are given up.")
                self._give_up()

    def _take_in(self, wait: bool) -> None:
        while True:
            try:
                action, sequence = self._inbox.get(block=wait)
            except queue.Empty:
                return
            wait = False
            if sequence is None:
                continue
            if action == "add":
                self.engine.add(sequence)
            else:
                self.engine.cancel(sequence)

    def _give_up(self) -> None:
        scheduler = self.engine.scheduler
        # With nobody running it was the admission of the first in the queue that failed.
        for sequence in list(scheduler.running) or list(scheduler.waiting)[:1]:
            self.engine.cancel(sequence)
            sequence.listener(Progress(None, "", None, 0, "error"))
