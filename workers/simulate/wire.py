"""A response as it goes over the wire: a head, then pieces of body with pauses between them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SIMULATED = ("x-tidegauge-simulated", "true")

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Wire:
    """`pieces`: (pause before it in seconds, bytes). With `closes`, the connection ends after the last piece.

    Without a `content-length` among the headers the body ends where the connection does.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: tuple[tuple[float, bytes], ...] = ()
    closes: bool = False

    @property
    def body(self) -> bytes:
        return b"".join(piece for _, piece in self.pieces)

    @property
    def duration_s(self) -> float:
        return sum(pause for pause, _ in self.pieces)


def whole(
    body: bytes | str | Mapping[str, Any] | list[Any],
    status: int = 200,
    content_type: str = "application/json",
    headers: Headers = (),
    pause_s: float = 0.0,
) -> Wire:
    """A response in one piece."""
    raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else as_json(body)).encode()
    head = (("content-type", content_type), ("content-length", str(len(raw))), SIMULATED, *headers)
    return Wire(status, head, ((pause_s, raw),))


def events(
    chunks: Iterable[Mapping[str, Any] | str],
    *,
    done: bool = True,
    headers: Headers = (),
    pause_s: float = 0.0,
    first_pause_s: float = 0.0,
) -> Wire:
    """A stream of server-sent events; text items go out as they are."""
    lines = [chunk if isinstance(chunk, str) else f"data: {as_json(chunk)}\n\n" for chunk in chunks]
    if done:
        lines.append("data: [DONE]\n\n")
    pieces = tuple(
        (first_pause_s if number == 0 else pause_s, line.encode("utf-8", "surrogatepass"))
        for number, line in enumerate(lines)
    )
    return Wire(200, (("content-type", "text/event-stream"), SIMULATED, *headers), pieces, closes=True)


def as_json(value: Any) -> str:
    """Compact JSON; NaN and infinities as JavaScript writes them, as careless servers do."""
    return json.dumps(value, separators=(",", ":"))
