"""The webhook grader: guarded, bounded, and never believed beyond a score."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from drift.addresses import AddressRule
from drift.evals.case import Case
from drift.evals.graders import Webhook
from workers.evals import webhook

LOOPBACK = AddressRule.parse(["127.0.0.0/8"])
pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def hook() -> Iterator[tuple[Webhook, dict[str, Any]]]:
    said: dict[str, Any] = {"status": 200, "body": b'{"score": 0.5, "why": "half"}', "seen": [], "headers": {}}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            said["seen"].append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(said["status"])
            for name, value in said["headers"].items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(said["body"])))
            self.end_headers()
            self.wfile.write(said["body"])

        def log_message(self, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Webhook(f"http://127.0.0.1:{server.server_address[1]}/grade"), said
    server.shutdown()
    server.server_close()


CASE = Case("c", messages=({"role": "user", "content": "q"},), targets=("t",))


async def test_it_posts_the_answer_and_reads_the_score(hook: tuple[Webhook, dict[str, Any]]) -> None:
    grade, raw = await webhook.post(hook[0], "the answer", CASE, LOOPBACK)
    assert (grade.score, grade.why) == (0.5, "half")
    assert raw == hook[1]["body"]
    assert b'"the answer"' in hook[1]["seen"][0]


async def test_a_private_address_is_refused_and_never_contacted(hook: tuple[Webhook, dict[str, Any]]) -> None:
    grade, _ = await webhook.post(hook[0], "a", CASE, AddressRule())
    assert grade.score is None
    assert "loopback" in grade.why
    assert hook[1]["seen"] == []


async def test_a_redirect_is_not_followed(hook: tuple[Webhook, dict[str, Any]]) -> None:
    hook[1].update(status=302, headers={"location": "http://169.254.169.254/"}, body=b'{"score": 1}')
    grade, _ = await webhook.post(hook[0], "a", CASE, LOOPBACK)
    assert grade.score is None
    assert len(hook[1]["seen"]) == 1


async def test_a_huge_answer_is_cut_off(hook: tuple[Webhook, dict[str, Any]]) -> None:
    hook[1].update(body=b" " * 1_000_000)
    grade, raw = await webhook.post(hook[0], "a", CASE, LOOPBACK)
    assert grade.score is None
    assert len(raw) == webhook.LARGEST_ANSWER


async def test_a_server_that_is_gone_or_slow_leaves_the_answer_unscored(monkeypatch: pytest.MonkeyPatch) -> None:
    grade, _ = await webhook.post(Webhook("http://127.0.0.1:1/"), "a", CASE, LOOPBACK)
    assert grade.score is None
    assert "could not be asked" in grade.why
