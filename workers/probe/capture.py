"""Records the bytes of one HTTP exchange while the SDK handles it.

The SDK raises in a dozen ways on odd answers, some of them without the body. The transport therefore writes
what was sent and what arrived into the `Capture` of the current task; whatever the SDK makes of it, the bytes
are there.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field

import httpx2

CURRENT: ContextVar[Capture | None] = ContextVar("capture", default=None)

_PIECE = 1 << 18


class BodyTooLarge(httpx2.ReadError):
    """The answer grew past the limit; reading stopped there."""


class UndecodableBody(httpx2.ReadError):
    """The body is not in the encoding that its header names."""


@dataclass(slots=True)
class Capture:
    """One exchange under way. Times are `time.perf_counter()` seconds; `chunks` are decompressed."""

    max_bytes: int
    request_body: bytes = b""
    status: int | None = None
    raw_headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    chunks: list[bytes] = field(default_factory=list)
    size: int = 0
    first_byte_at: float | None = None
    complete: bool = False

    def add(self, chunk: bytes) -> None:
        """Keeps `chunk`. Raises `BodyTooLarge` once the limit is passed, with everything up to the limit
        kept.
        """
        if not chunk:
            return
        if self.first_byte_at is None:
            self.first_byte_at = time.perf_counter()
        room = self.max_bytes - self.size
        self.chunks.append(chunk[:room] if room < len(chunk) else chunk)
        self.size += len(chunk)
        if room < len(chunk):
            raise BodyTooLarge(f"The answer is larger than {self.max_bytes:,} bytes.")

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)


class RecordedStream(httpx2.AsyncByteStream):
    """Passes a response body on, decompressed in bounded pieces, and keeps a copy in `capture`.

    A body that is not in the encoding its header names is kept as it came; `UndecodableBody` is raised at its
    end.
    """

    def __init__(self, inner: httpx2.AsyncByteStream, capture: Capture, encoding: str) -> None:
        self._inner = inner
        self._capture = capture
        self._problem = ""
        self._inflater: zlib._Decompress | None = None
        names = [name for name in (part.strip().lower() for part in encoding.split(",")) if name]
        if names in (["gzip"], ["x-gzip"], ["deflate"]):
            self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)  # 32: tells gzip and zlib apart by itself
        elif names not in ([], ["identity"]):
            self._problem = f"The answer is compressed with '{encoding}', which was not offered."

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for raw in self._inner:
            for piece in self._pieces(raw):
                self._capture.add(piece)
                yield piece
        if self._inflater is not None and not self._inflater.eof and self._capture.size:
            self._problem = "The compressed body ends before its end mark."
        if self._problem:
            raise UndecodableBody(self._problem)
        self._capture.complete = True

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _pieces(self, raw: bytes) -> Iterator[bytes]:
        """Inflates `raw` piece by piece, so that a small body which inflates to gigabytes stops there."""
        while raw and self._inflater is not None:
            try:
                piece = self._inflater.decompress(raw, _PIECE)
            except zlib.error as error:
                self._inflater = None
                self._problem = f"The body is not in the compression that its header names ({error})."
                break
            raw = self._inflater.unconsumed_tail
            if not piece:
                return
            yield piece
        if raw:
            yield raw
