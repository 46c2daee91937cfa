"""A small HTTP/1.1 server: requests in, plain or streamed answers out."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import h11

log = logging.getLogger(__name__)

MAX_BODY = 8 * 1024 * 1024
IDLE_S = 75.0


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Response:
    """An answer whose body is known, or a stream of chunks. A stream that is left early is closed."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    stream: AsyncIterator[bytes] | None = field(default=None)


Handler = Callable[[Request], Awaitable[Response]]


def json_response(payload: Any, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    return Response(
        status, json.dumps(payload, ensure_ascii=False).encode("utf-8", "backslashreplace"), headers=headers
    )


class Connection:
    """One client: reads requests, lets the handler answer, and cancels it when the client hangs up."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: Handler) -> None:
        self.reader, self.writer, self.handler = reader, writer, handler
        self.protocol = h11.Connection(h11.SERVER, max_incomplete_event_size=64 * 1024)

    async def serve(self) -> None:
        """Answer requests until either side closes."""
        try:
            while True:
                try:
                    request = await asyncio.wait_for(self._read_request(), IDLE_S)
                except BodyTooLargeError:
                    await self._write(_error(413, f"The body is larger than {MAX_BODY} bytes."))
                    break
                if request is None:
                    break
                if not await self._answer(request):
                    break
                if self.protocol.our_state is h11.MUST_CLOSE:
                    break
                self.protocol.start_next_cycle()
        except h11.RemoteProtocolError as error:
            with contextlib.suppress(h11.LocalProtocolError, OSError):
                await self._write(_error(400, f"Not understood as HTTP: {error}."))
        except (OSError, TimeoutError, h11.LocalProtocolError):
            pass
        finally:
            self.writer.close()

    async def _read_request(self) -> Request | None:
        head: h11.Request | None = None
        body = bytearray()
        while True:
            event = self.protocol.next_event()
            if event is h11.NEED_DATA:
                if self.protocol.they_are_waiting_for_100_continue:
                    self.writer.write(self.protocol.send(h11.InformationalResponse(status_code=100, headers=[])) or b"")
                self.protocol.receive_data(await self.reader.read(65536))
            elif isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > MAX_BODY:
                    raise BodyTooLargeError
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
                path = head.target.decode("latin-1").partition("?")[0]
                return Request(head.method.decode("ascii"), path, headers, bytes(body))
            else:
                return None

    async def _answer(self, request: Request) -> bool:
        """Send the handler's answer. False when the client left before it was complete."""
        work = asyncio.ensure_future(self._respond(request))
        gone = asyncio.ensure_future(self._hung_up())
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                return False
            failure = work.exception()
            if failure is not None and not isinstance(failure, OSError):
                # Part of the answer is out, so all that is left to say is that it ends here.
                log.error("%s %s broke off", request.method, request.path, exc_info=failure)
            return failure is None
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)

    async def _hung_up(self) -> None:
        """Return when the client closes, or sends more ahead than one request may hold; earlier bytes are kept."""
        ahead = 0
        while (data := await self.reader.read(65536)) and ahead <= MAX_BODY:
            ahead += len(data)
            self.protocol.receive_data(data)

    async def _respond(self, request: Request) -> None:
        try:
            response = await self.handler(request)
        except Exception:
            log.exception("%s %s failed", request.method, request.path)
            response = _error(500, "The worker failed at this request; its log says where.", "server_error")
        await self._write(response)

    async def _write(self, response: Response) -> None:
        headers = [("content-type", response.content_type), *response.headers]
        if response.stream is None:
            headers.append(("content-length", str(len(response.body))))
        else:
            headers += [("transfer-encoding", "chunked"), ("cache-control", "no-cache")]
        self._send(h11.Response(status_code=response.status, headers=headers))
        if response.stream is None:
            self._send(h11.Data(data=response.body))
        else:
            try:
                async for part in response.stream:
                    self._send(h11.Data(data=part))
                    await self.writer.drain()
            finally:
                close = getattr(response.stream, "aclose", None)
                if close is not None:
                    await close()
        self._send(h11.EndOfMessage())
        await self.writer.drain()

    def _send(self, event: h11.Event) -> None:
        self.writer.write(self.protocol.send(event) or b"")


class BodyTooLargeError(Exception):
    """The request's body exceeds :data:`MAX_BODY`."""


def _error(status: int, message: str, kind: str = "invalid_request_error") -> Response:
    return json_response({"error": {"message": message, "type": kind, "param": None, "code": None}}, status)
