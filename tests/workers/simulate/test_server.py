"""The simulator's HTTP rim: routes, clock, and nothing that hangs or falls over."""

from __future__ import annotations

import asyncio
import json
import urllib.request

import pytest

from drift.answers import Target
from tests.workers.probe.loopback import HELLO, LOOPBACK
from workers.probe.client import Prober
from workers.probe.decode import decode
from workers.simulate import NAMED, Clock, Simulator
from workers.simulate.cases.hostile import HOSTILE_BODIES

pytestmark = pytest.mark.anyio


async def test_each_scenario_has_its_own_address_and_the_first_is_the_default() -> None:
    async with Simulator(NAMED["exact"], NAMED["b09"]) as simulator:
        models = []
        for url in (simulator.url(), simulator.url("exact"), simulator.url("b09")):
            async with Prober(Target(url, "m"), allow=LOOPBACK) as prober:
                models.append(json.loads((await prober.models()).body)["data"][0]["id"])
    assert models == ["simulated-small", "simulated-small", "simulated-medium-latest"]


async def test_the_clock_can_be_moved_over_http_to_set_off_a_change() -> None:
    async with Simulator(NAMED["cosmetic-change"], clock=Clock(start_s=0.0)) as simulator:
        address = f"http://127.0.0.1:{simulator.port}/simulator"

        def advance() -> dict[str, object]:
            body = json.dumps({"advance_s": 90_000}).encode()
            with urllib.request.urlopen(urllib.request.Request(address, body), timeout=5) as answered:
                return json.load(answered)

        async with Prober(Target(simulator.url(), "simulated-small"), allow=LOOPBACK) as prober:
            before = decode(await prober.ask(HELLO))
            told = await asyncio.to_thread(advance)
            after = decode(await prober.ask(HELLO))
    assert told["simulated"] is True
    assert before.identity.fingerprint != after.identity.fingerprint == "fp_c05metic00"


async def test_a_fast_clock_runs_ahead_of_the_wall() -> None:
    wall = [100.0]
    clock = Clock(start_s=0.0, speed=3600.0, now=lambda: wall[0])
    wall[0] += 2.0
    assert clock.elapsed_s == 7200.0
    assert clock.unix_s == 7200.0


async def test_hostile_bodies_raise_nothing_and_cost_neither_the_next_answer_nor_the_worker() -> None:
    async with Simulator(NAMED["hostile"]) as simulator:
        target = Target(simulator.url(), "simulated-small", deadline_s=20.0, max_body_bytes=1_000_000)
        async with Prober(target, allow=LOOPBACK) as prober:
            outcomes = [decode(await prober.ask(HELLO)).outcome.value for _ in range(HOSTILE_BODIES)]
    assert len(outcomes) == HOSTILE_BODIES
    assert "timeout" not in outcomes
    assert {"not_json", "unreadable", "too_large", "text", "unreachable", "empty_body"} <= set(outcomes)


async def test_garbage_instead_of_http_is_dropped() -> None:
    async with Simulator(NAMED["exact"]) as simulator:
        reader, writer = await asyncio.open_connection("127.0.0.1", simulator.port)
        writer.write(b"\x16\x03\x01 not http")
        assert await asyncio.wait_for(reader.read(), 2) == b""
        writer.close()
