"""Who owns which page of the key-value cache, and which pages hold a known prefix."""

from __future__ import annotations

import hashlib
from array import array
from collections import OrderedDict

from workers.inference.engine.sequence import Sequence


class BlockManager:
    """Pages with reference counts; full pages are remembered by the hash of all tokens up to their end.

    A page that nobody owns keeps its content until it is needed, oldest first, so a prefix outlives its request.
    Page 0 is never handed out: it fills up page tables.
    """

    def __init__(self, pages: int, page_size: int, prefix_caching: bool = True) -> None:
        self.page_size = page_size
        self.capacity = pages - 1
        self.prefix_caching = prefix_caching
        self._free: OrderedDict[int, None] = OrderedDict.fromkeys(range(1, pages))
        self._owners = [0] * pages
        self._page_of: dict[bytes, int] = {}
        self._hash_of: dict[int, bytes] = {}

    @property
    def free_pages(self) -> int:
        return len(self._free)

    def pages_for(self, tokens: int) -> int:
        """Pages that hold ``tokens`` tokens."""
        return -(-tokens // self.page_size)

    def attach_prefix(self, sequence: Sequence) -> None:
        """Give a fresh sequence the cached pages of its longest known prefix.

        At least one token is left to compute, because its logits are needed. Scoring needs all logits: no prefix then.
        """
        if not self.prefix_caching or sequence.params.score_prompt:
            return
        for index in range((len(sequence) - 1) // self.page_size):
            digest = self._digest(sequence, index)
            page = self._page_of.get(digest)
            if page is None:
                break
            self._free.pop(page, None)
            self._owners[page] += 1
            sequence.pages.append(page)
            sequence.page_hashes.append(digest)
        sequence.computed = sequence.cached_tokens = len(sequence.pages) * self.page_size

    def can_extend(self, sequence: Sequence, tokens: int) -> bool:
        """Whether pages for the first ``tokens`` tokens can be had."""
        return self.pages_for(tokens) - len(sequence.pages) <= len(self._free)

    def extend(self, sequence: Sequence, tokens: int) -> None:
        """Make ``sequence.pages`` cover its first ``tokens`` tokens."""
        while len(sequence.pages) < self.pages_for(tokens):
            page, _ = self._free.popitem(last=False)
            forgotten = self._hash_of.pop(page, None)
            if forgotten is not None:
                del self._page_of[forgotten]
            self._owners[page] = 1
            sequence.pages.append(page)

    def remember(self, sequence: Sequence) -> None:
        """Register pages that have become full, so that other sequences may share them."""
        if not self.prefix_caching:
            return
        for index in range(len(sequence.page_hashes), sequence.computed // self.page_size):
            digest = self._digest(sequence, index)
            sequence.page_hashes.append(digest)
            if digest not in self._page_of:
                self._page_of[digest] = sequence.pages[index]
                self._hash_of[sequence.pages[index]] = digest

    def release(self, sequence: Sequence) -> None:
        """Take all pages back. Later pages are reused first, since a prefix is worth more the shorter it is."""
        for page in reversed(sequence.pages):
            self._owners[page] -= 1
            if self._owners[page] == 0:
                self._free[page] = None
                if page not in self._hash_of:
                    self._free.move_to_end(page, last=False)
        sequence.pages.clear()
        sequence.page_hashes.clear()
        sequence.computed = 0

    def forget_prefixes(self) -> None:
        """Drop every remembered prefix that no running sequence holds."""
        for page in self._free:
            digest = self._hash_of.pop(page, None)
            if digest is not None:
                del self._page_of[digest]

    def _digest(self, sequence: Sequence, index: int) -> bytes:
        """Hash of all tokens up to the end of page ``index``; 128 bits, so a collision need not be considered."""
        parent = sequence.page_hashes[index - 1] if index else b""
        tokens = sequence.token_ids[index * self.page_size : (index + 1) * self.page_size]
        return hashlib.blake2b(parent + array("q", tokens).tobytes(), digest_size=16).digest()
