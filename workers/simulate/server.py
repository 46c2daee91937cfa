"""The HTTP rim of the simulator: reads requests, sends the responses that `answer` decides on, keeps the clock."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections import Counter
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from workers.simulate.answer import answer
from workers.simulate.request import Request
from workers.simulate.scenario import Scenario
from workers.simulate.wire import Wire, whole

LARGEST_REQUEST = 8 * 1024 * 1024
CONTROL = "/simulator"


class Clock:
    """Simulated time: starts at `start_s`, runs `speed` times as fast as the wall, and can be moved forward."""

    def __init__(self, start_s: float | None = None, speed: float = 1.0, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._began = now()
        self._start_s = self._began if start_s is None else start_s
        self._speed = speed
        self._ahead_s = 0.0

    @property
    def elapsed_s(self) -> float:
        return (self._now() - self._began) * self._speed + self._ahead_s

    @property
    def unix_s(self) -> float:
        return self._start_s + self.elapsed_s

    def advance(self, seconds: float) -> None:
        self._ahead_s += seconds


class Simulator:
    """Serves scenarios on loopback: the first at `/v1`, each at `/<its name>/v1`. Use as `async with`.

    `POST /simulator {"advance_s": 3600}` moves the clock; `GET /simulator` tells the time and what is served.
    """

    def __init__(
        self,
        *scenarios: Scenario,
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Clock | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.scenarios: Mapping[str, Scenario] = {scenario.name: scenario for scenario in scenarios}
        self.clock = clock or Clock()
        self.requests: list[Request] = []
        self.keeps_requests = True
        self._first = scenarios[0]
        self._host, self._port = host, port
        self._tls = tls
        self._counts: Counter[str] = Counter()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    @property
    def port(self) -> int:
        return self._port

    def url(self, name: str = "") -> str:
        """The base URL of a scenario; without a name, of the first."""
        return f"{'https' if self._tls else 'http'}://{self._host}:{self._port}/{name + '/' if name else ''}v1"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self._host, self._port, ssl=self._tls, limit=1 << 20)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for writer in list(self._open):
            writer.close()

    async def serve_forever(self) -> None:
        if self._server is not None:
            await self._server.serve_forever()

    def respond(self, request: Request) -> Wire:
        """The response to one request, now."""
        if request.route == CONTROL:
            return self._control(request)
        name = request.route.split("/")[1] if request.route.count("/") > 1 else ""
        scenario = self.scenarios.get(name, self._first)
        index = self._counts[scenario.name]
        self._counts[scenario.name] += 1
        clock = self.clock
        return answer(scenario, request, unix_s=clock.unix_s, elapsed_s=clock.elapsed_s, index=index)

    def _control(self, request: Request) -> Wire:
        advance = request.fields.get("advance_s", 0)
        if request.method == "POST" and isinstance(advance, int | float):
            self.clock.advance(float(advance))
        about = {name: scenario.about for name, scenario in self.scenarios.items()}
        return whole({"simulated": True, "unix_s": self.clock.unix_s, "scenarios": about})

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while (request := await _read(reader)) is not None:
                if self.keeps_requests:
                    self.requests.append(request)
                if not await _send(writer, self.respond(request)):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    """The next request on the connection; None when the client is done."""
    try:
        letter = await reader.readexactly(1)
    except asyncio.IncompleteReadError:
        return None
    if not letter.isalpha():
        # A TLS greeting would otherwise be waited on for ever.
        raise ValueError("not an HTTP request")
    head = letter + await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    length = int(headers.get("content-length", "0"))
    if length > LARGEST_REQUEST:
        raise ValueError("request too large")
    return Request(method, path, headers, await reader.readexactly(length) if length else b"")


async def _send(writer: asyncio.StreamWriter, wire: Wire) -> bool:
    """Sends one response; whether the connection stays open."""
    head = [f"HTTP/1.1 {wire.status} Simulated"]
    head += [f"{name}: {value}" for name, value in wire.headers]
    ends_by_closing = wire.closes or not any(name.lower() == "content-length" for name, _ in wire.headers)
    if ends_by_closing:
        head.append("connection: close")
    start = ("\r\n".join(head) + "\r\n\r\n").encode("latin-1")
    for pause_s, piece in wire.pieces:
        if pause_s > 0:
            if start:
                writer.write(start)
                start = b""
            await writer.drain()
            await asyncio.sleep(pause_s)
        writer.write(start + piece)
        start = b""
    if start:
        writer.write(start)
    await writer.drain()
    return not ends_by_closing


def status_line(simulator: Simulator) -> str:
    """What the command prints once it serves."""
    return json.dumps({"simulated": True, "url": simulator.url(), "scenarios": sorted(simulator.scenarios)})
