"""Pages under arbitrary traffic: nobody shares a page that is not equal, and none is lost."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.workers.inference.tiny import answer
from workers.inference.engine.block_manager import BlockManager
from workers.inference.engine.sequence import Sequence


class Traffic(RuleBasedStateMachine):
    """Sequences over a two-letter alphabet, so that prefixes coincide often."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = BlockManager(pages=14, page_size=4)
        self.live: list[Sequence] = []
        self.content: dict[int, tuple[int, ...]] = {}

    @rule(tokens=st.lists(st.integers(0, 1), min_size=1, max_size=20))
    def arrive(self, tokens: list[int]) -> None:
        sequence = answer(tokens)
        self.blocks.attach_prefix(sequence)
        for index, page in enumerate(sequence.pages):
            assert self.content[page] == tuple(tokens[: 4 * (index + 1)]), "a cached page holds another prefix"
        if not self.blocks.can_extend(sequence, len(sequence)):
            self.blocks.release(sequence)
            return
        self.blocks.extend(sequence, len(sequence))
        self._compute(sequence)
        self.live.append(sequence)

    @precondition(lambda self: self.live)
    @rule(data=st.data(), token=st.integers(0, 1))
    def grow(self, data: st.DataObject, token: int) -> None:
        sequence = data.draw(st.sampled_from(self.live))
        if self.blocks.can_extend(sequence, len(sequence) + 1):
            sequence.token_ids.append(token)
            self.blocks.extend(sequence, len(sequence))
            self._compute(sequence)

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        sequence = data.draw(st.sampled_from(self.live))
        self.live.remove(sequence)
        self.blocks.release(sequence)

    @rule()
    def forget(self) -> None:
        self.blocks.forget_prefixes()

    def _compute(self, sequence: Sequence) -> None:
        for index in range(sequence.computed // 4, len(sequence.pages)):
            self.content[sequence.pages[index]] = tuple(sequence.token_ids[: 4 * (index + 1)])
        sequence.computed = len(sequence)
        self.blocks.remember(sequence)

    @invariant()
    def every_page_is_free_or_owned(self) -> None:
        owned = {page for sequence in self.live for page in sequence.pages}
        assert 0 not in owned
        assert len(owned) + self.blocks.free_pages == 13

    @invariant()
    def live_sequences_find_their_own_tokens(self) -> None:
        for sequence in self.live:
            for index, page in enumerate(sequence.pages):
                assert self.content[page] == tuple(sequence.token_ids[: 4 * (index + 1)])


Traffic.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestTraffic = Traffic.TestCase
