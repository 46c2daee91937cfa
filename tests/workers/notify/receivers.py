"""Real receivers on loopback: a mail server and an HTTP server that can refuse, stall, rate-limit and drop."""

from __future__ import annotations

import json
import socket
import threading
import time
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Mailbox:
    """An SMTP server. `refuses` answers RCPT with that line; `refuses_data` the message itself."""

    def __init__(self) -> None:
        self.mails: list[Message] = []
        self.refuses = ""
        self.refuses_data = ""
        self.controller = Controller(self, hostname="127.0.0.1", port=free_port())

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.refuses:
            return self.refuses
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if self.refuses_data:
            return self.refuses_data
        content = envelope.content or b""
        self.mails.append(message_from_bytes(content if isinstance(content, bytes) else content.encode()))
        return "250 taken"

    @property
    def port(self) -> int:
        return int(self.controller.port)


@dataclass
class Got:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """An HTTP server that answers by `plan`, one entry per request, then 200.

    An entry is a status, (status, text), 'stall' or 'drop'.
    """

    plan: list[Any] = field(default_factory=list)
    got: list[Got] = field(default_factory=list)
    stall_s: float = 3.0

    def __enter__(self) -> Receiver:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                receiver.got.append(Got(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                step = receiver.plan.pop(0) if receiver.plan else 200
                if step == "drop":
                    self.connection.close()
                    return
                if step == "stall":
                    time.sleep(receiver.stall_s)
                    step = 200
                status, text = step if isinstance(step, tuple) else (step, "ok")
                self.send_response(status)
                if status == 302:
                    self.send_header("location", "http://127.0.0.1:1/")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/hook/secret-path"
