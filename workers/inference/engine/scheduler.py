"""Which tokens of which sequences go into the next step."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from workers.inference.engine.block_manager import BlockManager
from workers.inference.engine.sequence import Sequence, Status


@dataclass(frozen=True, slots=True)
class Chunk:
    """``count`` tokens of ``sequence`` from position ``start`` on."""

    sequence: Sequence
    start: int
    count: int

    @property
    def reaches_end(self) -> bool:
        """Whether the sequence's next token can be chosen after this step."""
        return self.start + self.count == len(self.sequence)


class Scheduler:
    """First come, first served, decodes before prefills, long prompts in chunks.

    Args:
        max_batch: sequences that may run at once.
        max_step_tokens: rows of one step; what decodes leave of it goes to prompts.
    """

    def __init__(self, blocks: BlockManager, max_batch: int, max_step_tokens: int) -> None:
        self.blocks = blocks
        self.max_batch = max_batch
        self.max_step_tokens = max(max_step_tokens, max_batch)
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self.preemptions = 0

    def add(self, sequence: Sequence) -> None:
        self.waiting.append(sequence)

    def schedule(self) -> list[Chunk]:
        """The next step's chunks; empty when nothing can run."""
        budget = self.max_step_tokens
        preempted_before = self.preemptions
        chunks: list[Chunk] = []
        for sequence in [s for s in self.running if s.remaining == 1]:
            if sequence.status is Status.RUNNING and self._make_room(sequence):
                chunks.append(Chunk(sequence, sequence.computed, 1))
                budget -= 1
        # Making room may have preempted a sequence that was already taken into the step.
        chunks = [chunk for chunk in chunks if chunk.sequence.status is Status.RUNNING]
        for sequence in [s for s in self.running if s.remaining > 1]:
            budget -= self._add_prefill(sequence, budget, chunks)
        # Pages that were just taken from someone must not be handed straight back.
        crowded = self.preemptions > preempted_before
        while self.waiting and not crowded and budget > 0 and len(self.running) < self.max_batch:
            sequence = self.waiting[0]
            if not sequence.pages:
                self.blocks.attach_prefix(sequence)
            taken = self._add_prefill(sequence, budget, chunks)
            if not taken:
                self.blocks.release(sequence)
                break
            self.waiting.popleft()
            sequence.status = Status.RUNNING
            self.running.append(sequence)
            budget -= taken
        if not chunks and self.running:
            self.preempt(self.running[-1])
            return self.schedule()
        return chunks

    def finish(self, sequence: Sequence) -> None:
        """Take a sequence out, whatever its state, and its pages back."""
        if sequence.status is Status.RUNNING:
            self.running.remove(sequence)
        elif sequence.status is Status.WAITING and sequence in self.waiting:
            self.waiting.remove(sequence)
        sequence.status = Status.FINISHED
        self.blocks.release(sequence)

    def preempt(self, sequence: Sequence) -> None:
        """Send a running sequence back to the head of the queue; its tokens stay, its pages go."""
        self.running.remove(sequence)
        self.blocks.release(sequence)
        sequence.status = Status.WAITING
        self.waiting.appendleft(sequence)
        self.preemptions += 1

    def _add_prefill(self, sequence: Sequence, budget: int, chunks: list[Chunk]) -> int:
        room = (len(sequence.pages) + self.blocks.free_pages) * self.blocks.page_size - sequence.computed
        count = min(sequence.remaining, budget, room)
        if count <= 0:
            return 0
        self.blocks.extend(sequence, sequence.computed + count)
        chunks.append(Chunk(sequence, sequence.computed, count))
        return count

    def _make_room(self, sequence: Sequence) -> bool:
        """Ensure a page for one more token, at the cost of the sequences that came last."""
        while not self.blocks.can_extend(sequence, sequence.computed + 1):
            last = self.running[-1]
            self.preempt(last)
            if last is sequence:
                return False
        self.blocks.extend(sequence, sequence.computed + 1)
        return True
