"""Tokens to text: exact bytes of a token, and text that grows token by token."""

from __future__ import annotations

import codecs
import json
from collections.abc import Sequence
from typing import Any


class Vocabulary:
    """The bytes behind each token id.

    Byte-level BPE spells bytes as printable characters; SentencePiece writes a space as U+2581 and rare bytes as
    ``<0xNN>``. Special tokens have their own spelling as bytes and no text.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        decoder = json.loads(tokenizer.backend_tokenizer.to_str())["decoder"]
        self._byte_level = "ByteLevel" in json.dumps(decoder)
        self._special = set(tokenizer.all_special_ids)
        self._known: dict[int, bytes] = {}

    def is_special(self, token_id: int) -> bool:
        return token_id in self._special

    def token_bytes(self, token_id: int) -> bytes:
        """Raw bytes of a token, exact even where a character spans tokens. Empty for an id without a token."""
        known = self._known.get(token_id)
        if known is None:
            known = self._known[token_id] = self._spell(self._tokenizer.convert_ids_to_tokens(token_id), token_id)
        return known

    def _spell(self, token: str | None, token_id: int) -> bytes:
        if token is None:
            return b""
        if self.is_special(token_id) or token_id in self._tokenizer.added_tokens_decoder:
            return token.encode()
        if self._byte_level:
            return bytes(_BYTE_OF[character] for character in token if character in _BYTE_OF)
        if len(token) == 6 and token.startswith("<0x"):
            return bytes([int(token[3:5], 16)])
        return token.replace("\u2581", " ").encode()


class TextStream:
    """Text of one answer as its tokens arrive, cut before the first stop string.

    Text that could still turn into a stop string, or into a longer character, is held back.
    """

    def __init__(self, vocabulary: Vocabulary | None, stop: Sequence[str] = ()) -> None:
        self._vocabulary = vocabulary
        self._stop = tuple(text for text in stop if text)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self.stopped = False

    def push(self, token_id: int) -> str:
        """The text that this token releases."""
        if self._vocabulary is None or self._vocabulary.is_special(token_id):
            return ""
        return self._release(self._decoder.decode(self._vocabulary.token_bytes(token_id)))

    def finish(self) -> str:
        """What was held back, once no token follows."""
        rest = self._release(self._decoder.decode(b"", final=True))
        if not self.stopped:
            rest += self._held
        self._held = ""
        return rest

    def _release(self, fresh: str) -> str:
        text = self._held + fresh
        found = [at for at in (text.find(stop) for stop in self._stop) if at >= 0]
        if found:
            self.stopped, self._held = True, ""
            return text[: min(found)]
        held = max((_overlap(text, stop) for stop in self._stop), default=0)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of ``text`` that begins ``stop``."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)


def _printable_bytes() -> dict[str, int]:
    """The character by which byte-level BPE (GPT-2) spells each byte."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in plain}
    others = (byte for byte in range(256) if byte not in set(plain))
    return table | {chr(256 + index): byte for index, byte in enumerate(others)}


_BYTE_OF = _printable_bytes()
