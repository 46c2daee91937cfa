"""A chat server whose answers a test writes, and a small set to ask it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.utils import timezone

from drift.evals.case import Case
from drift.evals.store import save_version
from drift.models import Endpoint, EndpointCheck, EvalVersion, Team


@dataclass
class Reply:
    """What the server says: a text, or a failure."""

    text: str = "yes"
    status: int = 200
    id: str = ""
    fingerprint: str = "fp_one"
    created: int = 0


@dataclass
class Chat:
    """`reply(request body, number of the request)` decides the answer. `asked`: every request in order."""

    reply: Callable[[dict[str, Any], int], Reply]
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def questions(self) -> list[str]:
        return [body["messages"][-1]["content"] for body in self.asked]


@pytest.fixture
def chat() -> Iterator[Callable[..., Chat]]:
    servers: list[ThreadingHTTPServer] = []

    def start(reply: Callable[[dict[str, Any], int], Reply] | Reply = Reply()) -> Chat:  # noqa: B008
        made = Chat(reply if callable(reply) else lambda body, number: reply)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with made.lock:
                    made.asked.append(body)
                    number = len(made.asked)
                said = made.reply(body, number)
                answer = (
                    {
                        "id": said.id or f"chatcmpl-{number}",
                        "object": "chat.completion",
                        "created": said.created,
                        "model": body.get("model", "m"),
                        "system_fingerprint": said.fingerprint,
                        "choices": [
                            {
                                "index": 0,
                                "finish_reason": "stop",
                                "message": {"role": "assistant", "content": said.text},
                            }
                        ],
                        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
                    }
                    if said.status == 200
                    else {"error": {"message": "broken on purpose"}}
                )
                raw = json.dumps(answer).encode()
                self.send_response(said.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *args: Any) -> None:
                return

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        made.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        return made

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def endpoint_at(transactional_db: None, team: Team) -> Callable[..., Endpoint]:
    def make(url: str, name: str = "gpt-x", **fields: Any) -> Endpoint:
        made = Endpoint.objects.create(
            team=team, name=name, base_url=url, model="gpt-x", parameters={"temperature": 0, "seed": 42}, **fields
        )
        now = timezone.now()
        EndpointCheck.objects.create(endpoint=made, requested_at=now, finished_at=now, state=EndpointCheck.State.PASSED)
        return made

    return make


@pytest.fixture
def version(transactional_db: None, team: Team) -> EvalVersion:
    cases = [
        Case(f"case-{i}", messages=({"role": "user", "content": f"Question {i}?"},), targets=("yes",)) for i in range(6)
    ]
    return save_version(team=team, name="Six questions", cases=cases, grader_descriptions=[{"kind": "exact"}])
