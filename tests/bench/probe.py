"""Samples per second from a due run to rows in the database, beside a bare SDK loop, against a server that answers at once.

`make bench-probe`; `--samples 100000` also shows whether memory stays flat. Ends with 1 when the ratio is below one
half or memory grows.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CONCURRENCY = 16
REPEATS = 40
ROUNDS = 7
LEAST_RATIO = 0.5
MOST_GROWTH_MB = 30.0
PARAMETERS: dict[str, Any] = {"temperature": 0, "seed": 42, "logprobs": True, "top_logprobs": 2}


@contextmanager
def instant_server() -> Iterator[str]:
    """The base URL of the server, in a process of its own."""
    child = subprocess.Popen([sys.executable, "-m", "tests.bench.instant"], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        yield f"http://127.0.0.1:{child.stdout.readline().strip()}/v1"
    finally:
        child.terminate()
        child.wait()


async def bare_loop(base_url: str, requests: int) -> float:
    """Requests per second of `AsyncOpenAI(...).with_raw_response`, reading each body and nothing more."""
    from openai import AsyncOpenAI

    client = AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0)
    left = iter(range(requests))

    async def take() -> None:
        for _ in left:
            raw = await client.chat.completions.with_raw_response.create(
                model="simulated-bench",
                messages=[{"role": "user", "content": "Who was Richard Feynman? Answer in one short paragraph."}],
                max_tokens=96,
                **PARAMETERS,
            )
            assert raw.http_response.content

    began = time.perf_counter()
    await asyncio.gather(*(take() for _ in range(CONCURRENCY)))
    took = time.perf_counter() - began
    await client.close()
    return requests / took


async def prober_loop(base_url: str, requests: int) -> float:
    """Samples per second of asking and decoding, not stored."""
    from drift.addresses import AddressRule
    from drift.answers import Ask, Outcome, Target
    from workers.probe.client import Prober
    from workers.probe.decode import decode

    question = Ask(({"role": "user", "content": "Who was Richard Feynman? Answer in one short paragraph."},), 96)
    left = iter(range(requests))
    target = Target(base_url, "simulated-bench", parameters=PARAMETERS)
    async with Prober(target, allow=AddressRule.parse(["127.0.0.1"])) as prober:

        async def take() -> None:
            for _ in left:
                assert decode(await prober.ask(question)).outcome is Outcome.TEXT

        began = time.perf_counter()
        await asyncio.gather(*(take() for _ in range(CONCURRENCY)))
        return requests / (time.perf_counter() - began)


def make_monitor(base_url: str) -> Any:
    """A monitor of the server on the default suite, through the same doors as a person's."""
    from django.utils import timezone

    from drift import endpoints, monitors
    from drift.models import EndpointCheck, Team
    from drift.partitions import ensure_sample_partition
    from drift.provision import ensure_default_suite

    team = Team.objects.create(name="Bench")
    ensure_sample_partition(timezone.now())
    endpoint = endpoints.register(
        team=team, user=None, name="instant", base_url=base_url, model="simulated-bench", parameters=PARAMETERS
    )
    endpoint.checks.update(state=EndpointCheck.State.PASSED, finished_at=timezone.now())
    suite = ensure_default_suite(team)
    return monitors.create(
        endpoint=endpoint, suite=suite, run_at_once=False, cadence_s=3600, repeats=REPEATS, concurrency=CONCURRENCY
    )


def full_run(monitor: Any) -> tuple[int, float]:
    """(samples stored, seconds) of one run, claimed, asked, decoded and recorded as a worker does it."""
    from drift import monitors
    from drift.models import Run
    from workers.probe.run import perform

    run = monitors.run_now(monitor, None)
    began = time.perf_counter()
    perform(run.pk)
    took = time.perf_counter() - began
    run = Run.objects.get(pk=run.pk)
    if run.state != Run.State.FINISHED or run.samples_comparable != run.samples_stored:
        raise SystemExit(f"The run ended as {run.state} with {run.samples_comparable} answers: {run.problem}")
    return run.samples_stored, took


def resident_mb() -> float:
    """Memory of this process as the kernel counts it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def memory_growth_mb(monitor: Any, samples: int) -> float:
    """How much memory the process gained between a tenth and the whole of `samples`."""
    stored, early = 0, 0.0
    while stored < samples:
        stored += full_run(monitor)[0]
        if not early and stored >= samples / 10:
            early = resident_mb()
        if stored % 10_000 < 8 * REPEATS:
            print(f"  {stored:7,} samples  {resident_mb():6.1f} MB", flush=True)
    return resident_mb() - early


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=0, help="also store this many and watch memory")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "drift.settings")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    with instant_server() as base_url:
        monitor = make_monitor(base_url)
        full_run(monitor)  # connections, partitions, plans
        requests = 8 * REPEATS
        rates: dict[str, list[float]] = {"bare": [], "prober": [], "stored": []}
        cpu_ms: dict[str, list[float]] = {"bare": [], "prober": [], "stored": []}
        for _ in range(ROUNDS):
            for name, loop in (("bare", bare_loop), ("prober", prober_loop)):
                cpu = time.process_time()
                rates[name].append(asyncio.run(loop(base_url, requests)))
                cpu_ms[name].append((time.process_time() - cpu) / requests * 1000)
            cpu = time.process_time()
            samples, took = full_run(monitor)
            cpu_ms["stored"].append((time.process_time() - cpu) / samples * 1000)
            rates["stored"].append(samples / took)
        middle = {name: statistics.median(found) for name, found in rates.items()}
        ratio = statistics.median(one / other for one, other in zip(rates["stored"], rates["bare"], strict=True))
        cost = {name: statistics.median(found) for name, found in cpu_ms.items()}
        print("                         per second   CPU of this process, each")
        print(f"bare SDK loop            {middle['bare']:10.0f}   {cost['bare']:.2f} ms")
        print(f"asked and decoded        {middle['prober']:10.0f}   {cost['prober']:.2f} ms")
        print(f"asked, decoded, stored   {middle['stored']:10.0f}   {cost['stored']:.2f} ms")
        print(f"ratio stored / bare      {ratio:10.2f}   (median of {ROUNDS} rounds; at least {LEAST_RATIO} wanted)")
        print(
            f"ratio by CPU             {cost['bare'] / cost['stored']:10.2f}   (does not change with the machine's load)"
        )
        figures: dict[str, float] = {name: round(rate) for name, rate in middle.items()} | {"ratio": round(ratio, 2)}
        figures["cpu_ratio"] = round(cost["bare"] / cost["stored"], 2)
        growth = memory_growth_mb(monitor, options.samples) if options.samples else 0.0
        if options.samples:
            figures["growth_mb"] = round(growth, 1)
            print(f"memory growth            {growth:10.1f} MB over {options.samples:,} samples")
    if options.json:
        print(json.dumps(figures))
    return 0 if ratio >= LEAST_RATIO and growth <= MOST_GROWTH_MB else 1


if __name__ == "__main__":
    sys.exit(main())
