"""A real HTTP server on loopback that answers with exactly the bytes it is told to."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from drift.addresses import AddressRule
from drift.answers import Ask, Decoded, Exchange, Target
from workers.probe.client import Prober
from workers.probe.decode import decode

LOOPBACK = AddressRule.parse(["127.0.0.0/8", "::1"])
HELLO = Ask(messages=({"role": "user", "content": "Say hello."},), max_tokens=16)


@dataclass
class Seen:
    """One request as the server received it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body)


@dataclass
class Server:
    """`answers(seen, writer)` writes the response; `seen` lists every request in order of arrival."""

    url: str = ""
    port: int = 0
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0


Answers = Callable[[Seen, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(answers: Answers | bytes, context: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """Serves `answers` (a coroutine, or the raw bytes of one fixed response) until the block ends."""
    server = Server()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, path, _ = head[0].split(" ")
                headers = {
                    n.strip().lower(): v.strip() for n, _, v in (line.partition(":") for line in head[1:] if line)
                }
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                seen = Seen(method, path, headers, body)
                server.seen.append(seen)
                if isinstance(answers, bytes):
                    writer.write(answers)
                else:
                    await answers(seen, writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    listener = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    server.port = listener.sockets[0].getsockname()[1]
    server.url = f"{'https' if context else 'http'}://127.0.0.1:{server.port}/v1"
    try:
        yield server
    finally:
        listener.close()


def response(
    body: bytes | str | dict | list, status: int = 200, content_type: str = "application/json", **headers: str
) -> bytes:
    """The bytes of a whole HTTP response with a content-length."""
    if isinstance(body, dict | list):
        body = json.dumps(body)
    if isinstance(body, str):
        body = body.encode()
    lines = [f"HTTP/1.1 {status} Said", f"content-type: {content_type}", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def sse(*events: dict | str, done: bool = True, **headers: str) -> bytes:
    """The bytes of an event stream that closes the connection at its end."""
    lines = [f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n" for event in events]
    if done:
        lines.append("data: [DONE]\n\n")
    head = ["HTTP/1.1 200 OK", "content-type: text/event-stream"]
    body = "".join(lines).encode()
    head += [f"content-length: {len(body)}"] + [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def completion(text: str | None = "Hello.", **changes: Any) -> dict[str, Any]:
    """A well-formed chat completion; `changes` replace or add top-level keys."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "m-2026",
        "system_fingerprint": "fp_0123456789",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
        **changes,
    }


async def probe(answers: Answers | bytes, ask: Ask = HELLO, **target: Any) -> tuple[Exchange, Decoded, Server]:
    """Asks a server that answers so, once."""
    target.setdefault("deadline_s", 5.0)
    async with serving(answers) as server, Prober(Target(server.url, "m", **target), allow=LOOPBACK) as prober:
        exchange = await prober.ask(ask)
    return exchange, decode(exchange), server
