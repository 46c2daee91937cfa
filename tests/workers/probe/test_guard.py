"""The transport connects to what it checked, and survives whatever bytes a server sends."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.addresses import AddressRule
from drift.answers import Outcome, Target
from tests.workers.probe.loopback import HELLO, LOOPBACK, completion, probe, response, serving
from workers.probe import guard
from workers.probe.client import Prober
from workers.probe.decode import decode
from workers.probe.headers import worth_keeping


@pytest.mark.anyio
async def test_the_name_stays_in_host_while_the_connection_goes_to_the_checked_address() -> None:
    async with serving(response(completion())) as server:
        target = Target(f"http://localhost:{server.port}/v1", "m")
        async with Prober(target, allow=LOOPBACK) as prober:
            assert decode(await prober.ask(HELLO)).outcome is Outcome.TEXT
    assert server.seen[0].headers["host"] == f"localhost:{server.port}"


@pytest.mark.anyio
async def test_one_forbidden_address_among_public_ones_is_enough_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    async def mixed(host: str, port: int) -> list[str]:
        return ["93.184.215.14", "169.254.169.254"]

    monkeypatch.setattr(guard, "_resolve", mixed)
    async with Prober(Target("http://rebinding.example/v1", "m", deadline_s=2), allow=AddressRule()) as prober:
        exchange = await prober.ask(HELLO)
    assert exchange.transport_error is Outcome.REFUSED_ADDRESS
    assert "169.254.169.254" in exchange.error_detail


@pytest.mark.anyio
async def test_a_name_is_resolved_once_per_connection_so_a_second_answer_never_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    monkeypatch.setattr(guard, "_resolve", rebinding)
    async with serving(response(completion())) as server:
        target = Target(f"http://rebinding.example:{server.port}/v1", "m", deadline_s=2)
        async with Prober(target, allow=LOOPBACK) as prober:
            outcomes = [decode(await prober.ask(HELLO)).outcome for _ in range(3)]
    assert outcomes == [Outcome.TEXT] * 3
    assert asked == ["rebinding.example"]


@pytest.mark.anyio
async def test_the_next_checked_address_is_tried_when_one_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def two(host: str, port: int) -> list[str]:
        return ["127.0.0.9", "127.0.0.1"]

    monkeypatch.setattr(guard, "_resolve", two)
    async with serving(response(completion())) as server:
        target = Target(f"http://two.example:{server.port}/v1", "m", deadline_s=2)
        async with Prober(target, allow=LOOPBACK) as prober:
            assert decode(await prober.ask(HELLO)).outcome is Outcome.TEXT


@pytest.mark.anyio
async def test_random_bytes_instead_of_http_raise_nothing() -> None:
    dice = random.Random(7)
    for _ in range(40):
        raw = dice.choice(
            [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"]
        ) + dice.randbytes(dice.randint(1, 300))

        async def answers(seen: object, writer: object, raw: bytes = raw) -> None:
            writer.write(raw)  # type: ignore[attr-defined]
            writer.close()  # type: ignore[attr-defined]

        exchange, decoded, _ = await probe(answers, deadline_s=2)
        assert decoded.outcome in (Outcome.UNREACHABLE, Outcome.NOT_JSON, Outcome.EMPTY_BODY), exchange


@given(
    st.lists(
        st.tuples(
            st.sampled_from([b"x-request-id", b"Location", b"age", b"x-ratelimit-x"]) | st.binary(max_size=20),
            st.binary(max_size=50),
        ),
        max_size=100,
    )
)
def test_no_header_bytes_make_keeping_them_fail(raw: list[tuple[bytes, bytes]]) -> None:
    kept = worth_keeping(raw, ["secret-secret"])
    assert len(kept) <= 64
