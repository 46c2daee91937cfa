"""Paths, errors, and the life of the server."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import socket
from collections.abc import Awaitable, Callable

from workers.inference.errors import InvalidRequestError, QueueFullError, WorkerError
from workers.inference.server.chat import chat_completions
from workers.inference.server.completions import completions
from workers.inference.server.http import Connection, Request, Response, json_response
from workers.inference.server.metrics import metrics
from workers.inference.server.service import Service

log = logging.getLogger(__name__)


class App:
    """Maps paths to endpoints and exceptions to OpenAI's error envelope."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._posts: dict[str, Callable[[Service, bytes], Awaitable[Response]]] = {
            "/v1/chat/completions": chat_completions,
            "/v1/completions": completions,
        }
        self._gets: dict[str, Callable[[], Response]] = {
            "/v1/models": self._models,
            f"/v1/models/{service.model.name}": lambda: json_response(self._card()),
            "/health": lambda: json_response(service.health()),
            "/metrics": lambda: Response(
                body=metrics(service).encode(), content_type="text/plain; version=0.0.4; charset=utf-8"
            ),
        }

    async def __call__(self, request: Request) -> Response:
        response = await self._route(request)
        known = request.path in self._posts or request.path in self._gets
        key = (request.path if known else "other", response.status)
        self.service.statuses[key] = self.service.statuses.get(key, 0) + 1
        return response

    async def _route(self, request: Request) -> Response:
        try:
            if request.path in self._posts:
                if request.method != "POST":
                    return _failure(405, f"{request.path} takes POST.", None, "method_not_allowed")
                return await self._posts[request.path](self.service, request.body)
            if request.path in self._gets:
                if request.method not in ("GET", "HEAD"):
                    return _failure(405, f"{request.path} takes GET.", None, "method_not_allowed")
                return self._gets[request.path]()
            return _failure(404, f"Nothing is served at {request.path}.", None, "not_found")
        except InvalidRequestError as error:
            return _failure(error.status, str(error), error.parameter, error.code)
        except QueueFullError as error:
            wait = (("retry-after", str(error.retry_after_s)),)
            return _failure(429, str(error), None, "queue_full", "rate_limit_error", wait)
        except WorkerError as error:
            return _failure(500, str(error), None, None, "server_error")

    def _card(self) -> dict[str, object]:
        service = self.service
        created, owner = int(service.started), "tidegauge"
        return {"id": service.model.name, "object": "model", "created": created, "owned_by": owner}

    def _models(self) -> Response:
        return json_response({"object": "list", "data": [self._card()]})


def bind(host: str, port: int) -> socket.socket:
    """Take an address before the model is loaded, so that a taken port is known at once.

    Clients are refused until the server listens.

    Raises:
        OSError: the address is taken or not ours.
    """
    probe = socket.create_server((host, port))
    taken = probe.getsockname()
    probe.close()
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(taken)
    return listener


async def serve(service: Service, listener: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT; then stop the engine after its step and drop open connections."""
    app = App(service)
    open_connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(Connection(reader, writer, app).serve())
        open_connections.add(task)
        task.add_done_callback(open_connections.discard)

    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    server = await asyncio.start_server(connected, sock=listener, backlog=1024)
    service.loop.start()
    host, port = listener.getsockname()[:2]
    print(
        json.dumps({"event": "ready", "url": f"http://{host}:{port}/v1", "fingerprint": service.model.fingerprint}),
        flush=True,
    )
    await stop.wait()
    server.close()
    await asyncio.to_thread(service.loop.stop)
    for task in list(open_connections):
        task.cancel()
    await asyncio.gather(*open_connections, return_exceptions=True)


def _failure(
    status: int,
    message: str,
    parameter: str | None,
    code: str | None,
    kind: str = "invalid_request_error",
    headers: tuple[tuple[str, str], ...] = (),
) -> Response:
    body = {"error": {"message": message, "type": kind, "param": parameter, "code": code}}
    return json_response(body, status, headers)
