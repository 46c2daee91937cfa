"""The prober against real loopback servers: what is sent, what is kept, and that nothing an endpoint does raises."""

from __future__ import annotations

import asyncio
import gzip

import pytest

from drift.addresses import AddressRule
from drift.answers import ApiKind, Outcome, Target, Transport
from tests.workers.probe.loopback import HELLO, LOOPBACK, Seen, completion, probe, response, serving, sse
from workers.probe.client import Prober
from workers.probe.decode import decode

pytestmark = pytest.mark.anyio

KEY = "sk-test-0123456789abcdef"


def chunk(text: str | None = None, finish: str | None = None, **top: object) -> dict:
    delta = {} if text is None else {"content": text}
    return {
        "id": "c",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **top,
    }


async def test_a_whole_answer_is_kept_byte_for_byte_and_read() -> None:
    raw = response(completion("Hello.", tidegauge={"mode": "fast", "batch_sizes": [1, 2, 2]}), x_request_id="req_1")
    exchange, decoded, server = await probe(raw, parameters={"temperature": 0, "seed": 7, "top_k": 5})
    assert raw.endswith(exchange.body)
    assert (exchange.status, exchange.transport_error, exchange.attempts) == (200, None, 1)
    assert ("x-request-id", "req_1") in exchange.headers
    assert (decoded.outcome, decoded.text, decoded.finish) == (Outcome.TEXT, "Hello.", "stop")
    assert decoded.identity.fingerprint == "fp_0123456789"
    assert decoded.batch_sizes == (1, 2, 2)
    sent = server.seen[0].json
    assert sent == {
        "model": "m",
        "messages": [{"role": "user", "content": "Say hello."}],
        "stream": False,
        "max_tokens": 16,
        "temperature": 0,
        "seed": 7,
        "top_k": 5,
    }
    assert exchange.request_body == server.seen[0].body
    assert exchange.first_byte_ms is not None
    assert 0 < exchange.first_byte_ms <= exchange.latency_ms


async def test_a_stream_is_kept_byte_for_byte_and_folded() -> None:
    raw = sse(
        chunk("Hel"), chunk("lo."), chunk(None, "stop", system_fingerprint="fp_last", tidegauge={"batch_sizes": [3]})
    )
    exchange, decoded, server = await probe(raw, transport=Transport.STREAM)
    assert raw.endswith(exchange.body)
    assert server.seen[0].json["stream"] is True
    assert (decoded.outcome, decoded.text, decoded.identity.fingerprint) == (Outcome.TEXT, "Hello.", "fp_last")
    assert decoded.batch_sizes == (3,)


async def test_a_stream_that_stays_open_after_done_does_not_hold_the_worker() -> None:
    async def answers(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(sse(chunk("Hi"), chunk(None, "stop")).replace(b"content-length", b"x-length"))
        await writer.drain()
        await asyncio.sleep(30)

    exchange, decoded, _ = await probe(answers, transport=Transport.STREAM)
    assert (decoded.outcome, decoded.text) == (Outcome.TEXT, "Hi")
    assert exchange.latency_ms < 10_000


async def test_an_answer_that_speaks_of_the_end_of_streams_is_not_taken_for_it() -> None:
    async def answers(seen: Seen, writer: asyncio.StreamWriter) -> None:
        whole = sse(chunk("A stream ends with data: [DONE]"), chunk(" as its last line."), chunk(None, "stop"))
        cut = whole.index(b" as its last")
        writer.write(whole[:cut])
        await writer.drain()
        await asyncio.sleep(1.0)
        writer.write(whole[cut:])

    _, decoded, _ = await probe(answers, transport=Transport.STREAM)
    assert (decoded.outcome, decoded.text) == (Outcome.TEXT, "A stream ends with data: [DONE] as its last line.")


async def test_connections_are_reused_between_asks() -> None:
    async with serving(response(completion())) as server, Prober(Target(server.url, "m"), allow=LOOPBACK) as prober:
        for _ in range(5):
            await prober.ask(HELLO)
    assert (len(server.seen), server.connections) == (5, 1)


async def test_the_deadline_counts_the_whole_answer_though_bytes_keep_dripping() -> None:
    async def answers(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1\r\n\n\r\n")
            await writer.drain()
            await asyncio.sleep(0.02)

    exchange, decoded, _ = await probe(answers, deadline_s=0.3)
    assert decoded.outcome is Outcome.TIMEOUT
    assert 300 <= exchange.latency_ms < 6000
    assert exchange.body.strip() == b""
    assert "deadline of 0.3 s" in exchange.error_detail


async def test_a_body_past_the_limit_is_cut_there() -> None:
    exchange, decoded, _ = await probe(response(completion("x" * 100_000)), max_body_bytes=10_000)
    assert decoded.outcome is Outcome.TOO_LARGE
    assert len(exchange.body) == 10_000


async def test_a_small_body_that_inflates_to_gigabytes_stops_at_the_limit() -> None:
    bomb = gzip.compress(b"0" * 50_000_000)
    exchange, decoded, _ = await probe(response(bomb, content_encoding="gzip"), max_body_bytes=100_000)
    assert decoded.outcome is Outcome.TOO_LARGE
    assert len(exchange.body) == 100_000


async def test_a_compressed_answer_is_stored_inflated() -> None:
    exchange, decoded, _ = await probe(
        response(gzip.compress(b'{"choices":[{"message":{"content":"a"}}]}'), content_encoding="gzip")
    )
    assert decoded.text == "a"
    assert exchange.body.startswith(b'{"choices"')


async def test_a_redirect_is_not_followed() -> None:
    async with serving(response(completion())) as elsewhere:
        exchange, decoded, _ = await probe(response("", 307, location=elsewhere.url + "/chat/completions?x=1"))
    assert elsewhere.seen == []
    assert (exchange.status, decoded.outcome) == (307, Outcome.HTTP_ERROR)
    assert dict(exchange.headers)["location"].endswith("/chat/completions")


async def test_nothing_listening_is_unreachable_with_the_reason() -> None:
    async with serving(b"") as server:
        url = server.url
    async with Prober(Target(url, "m"), allow=LOOPBACK) as prober:
        exchange = await prober.ask(HELLO)
    assert exchange.transport_error is Outcome.UNREACHABLE
    assert "onnect" in exchange.error_detail


async def test_a_connection_closed_in_mid_answer_is_unreachable_and_keeps_what_came() -> None:
    async def answers(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(response(completion("Hello"))[:-20])
        await writer.drain()
        writer.close()

    exchange, decoded, _ = await probe(answers)
    assert decoded.outcome is Outcome.UNREACHABLE
    assert exchange.body.startswith(b'{"id"')


async def test_a_private_address_off_the_allow_list_is_never_connected_to() -> None:
    async with serving(response(completion())) as server:
        for host in ("127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"):
            url = f"http://{host}:{server.port}/v1"
            async with Prober(Target(url, "m"), allow=AddressRule()) as prober:
                exchange = await prober.ask(HELLO)
            assert exchange.transport_error is Outcome.REFUSED_ADDRESS, url
            assert "allow list" in exchange.error_detail
        assert server.connections == 0


async def test_the_key_travels_in_its_header_and_comes_back_in_nothing() -> None:
    async def answers(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(
            response({"error": {"message": f"Bad key {seen.headers['authorization']}"}}, 401, x_request_id=KEY)
        )

    exchange, decoded, server = await probe(answers, api_key=KEY)
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(exchange)
    assert KEY not in repr(decoded)
    assert decoded.outcome is Outcome.HTTP_ERROR


async def test_without_a_key_no_authorization_is_sent_and_the_environment_adds_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-someone-elses-key")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-someone")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-someone")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "x-custom: someone")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    _, decoded, server = await probe(response(completion()))
    assert decoded.outcome is Outcome.TEXT
    assert "authorization" not in server.seen[0].headers
    assert not [value for value in server.seen[0].headers.values() if "someone" in value]


async def test_headers_of_the_endpoint_reach_it_and_gateways_are_asked_not_to_cache() -> None:
    _, _, server = await probe(response(completion()), extra_headers={"api-key": KEY})
    headers = server.seen[0].headers
    assert headers["api-key"] == KEY
    assert headers["cache-control"] == "no-cache"
    assert headers["cf-aig-skip-cache"] == "true"


async def test_a_query_in_the_base_url_is_sent_with_each_request() -> None:
    async with serving(response(completion())) as server:
        target = Target(server.url + "?api-version=2026-01-01", "m")
        async with Prober(target, allow=LOOPBACK) as prober:
            await prober.ask(HELLO)
    assert server.seen[0].path == "/v1/chat/completions?api-version=2026-01-01"


async def test_a_responses_endpoint_is_asked_in_its_own_way() -> None:
    body = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": "completed",
        "error": None,
        "model": "m-2026",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi.", "logprobs": []}]}],
        "usage": {"input_tokens": 4, "output_tokens": 2},
    }
    exchange, decoded, server = await probe(response(body), kind=ApiKind.RESPONSES, cap_parameter="max_output_tokens")
    assert server.seen[0].path == "/v1/responses"
    assert server.seen[0].json["max_output_tokens"] == 16
    assert server.seen[0].json["store"] is False
    assert (decoded.outcome, decoded.text, decoded.usage.prompt_tokens) == (Outcome.TEXT, "Hi.", 4)
    assert exchange.kind is ApiKind.RESPONSES


async def test_cancelling_an_ask_cancels_it() -> None:
    async def answers(seen: Seen, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    async with serving(answers) as server, Prober(Target(server.url, "m"), allow=LOOPBACK) as prober:
        asking = asyncio.ensure_future(prober.ask(HELLO))
        await asyncio.sleep(0.1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_a_certificate_bundle_that_is_not_pem_is_said_so() -> None:
    async with Prober(Target("https://127.0.0.1:1/v1", "m", ca_bundle="nonsense"), allow=LOOPBACK) as prober:
        exchange = await prober.ask(HELLO)
    assert "not valid PEM" in exchange.error_detail
    assert decode(exchange).outcome is Outcome.UNREACHABLE


async def test_a_key_that_cannot_be_a_header_is_an_exchange_and_not_an_exception() -> None:
    _exchange, decoded, server = await probe(response(completion()), api_key="schlüssel-mit-ümlaut\n")
    assert decoded.outcome is Outcome.UNREACHABLE
    assert server.seen == []
