"""``make bench-worker-memory``: the resident memory of a serving worker over many requests of every kind.

Whole answers, streams, seeded samples, scores, several choices, shared and new prompts, and clients that leave half-way.
Writes ``docs/benchmarks/worker-memory.json``. The last line on stdout is the JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import psutil

OUT = Path(__file__).parents[3] / "docs" / "benchmarks" / "worker-memory.json"
CONCURRENT = 16
NOTES = 20  # how often memory is looked at


def body(number: int) -> dict[str, Any]:
    """The request of that number: kinds take turns, and every third prompt was never seen before."""
    topic = f"tide number {number}" if number % 3 == 0 else "the sea"
    kinds: tuple[dict[str, Any], ...] = (
        {"temperature": 0},
        {"temperature": 0, "logprobs": True, "top_logprobs": 5},
        {"temperature": 0.8, "seed": number},
        {"temperature": 0.7, "seed": 1, "n": 2},
        {"temperature": 0, "stream": True},
    )
    return {
        "model": "smollm2-135m-instruct",
        "messages": [{"role": "user", "content": f"Say something about {topic}."}],
        "max_tokens": 3 + number % 6,
        **kinds[number % len(kinds)],
    }


async def ask(client: httpx2.AsyncClient, number: int) -> None:
    if number % 50:
        (await client.post("/v1/chat/completions", json=body(number))).raise_for_status()
        return
    long = {**body(number), "n": 1, "stream": True, "max_tokens": 200}  # its client leaves after the first bytes
    async with client.stream("POST", "/v1/chat/completions", json=long) as answer:
        async for _ in answer.aiter_bytes():
            return


async def serve(base_url: str, process: psutil.Process, requests: int) -> list[tuple[int, float]]:
    """(requests answered, MB resident) along the way."""
    seen: list[tuple[int, float]] = []
    numbers = iter(range(1, requests + 1))
    async with httpx2.AsyncClient(base_url=base_url, timeout=600) as client:

        async def take() -> None:
            for number in numbers:
                await ask(client, number)
                if number % max(1, requests // NOTES) == 0:
                    seen.append((number, process.memory_info().rss / 2**20))
                    print(f"{number:7,} requests  {seen[-1][1]:8.1f} MB", file=sys.stderr, flush=True)

        await asyncio.gather(*(take() for _ in range(CONCURRENT)))
    return sorted(seen)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.inference.memory", description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "workers.inference", "--model", "bundled", "--mode", "invariant"]
    command += ["--dtype", options.dtype, "--port", str(port), "--max-batch", str(CONCURRENT), "--threads", "1"]
    with subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}) as worker:
        try:
            base_url = f"http://127.0.0.1:{port}"
            while True:
                if worker.poll() is not None:
                    raise SystemExit("The worker ended before it served anything; its reason is above.")
                try:
                    if httpx2.get(f"{base_url}/health").status_code == 200:
                        break
                except httpx2.HTTPError:
                    time.sleep(0.5)
            began = time.perf_counter()
            seen = asyncio.run(serve(base_url, psutil.Process(worker.pid), options.requests))
        finally:
            worker.terminate()
    early = next(mb for number, mb in seen if number >= options.requests / 5)
    found = {
        "requests": options.requests,
        "dtype": options.dtype,
        "seconds": round(time.perf_counter() - began),
        "mb_after_a_fifth": round(early, 1),
        "mb_at_the_end": round(seen[-1][1], 1),
        "growth": round(seen[-1][1] / early - 1, 4),
        "seen": [[number, round(mb, 1)] for number, mb in seen],
        "measured_at": f"{datetime.now(UTC):%Y-%m-%d}",
    }
    options.out.write_text(json.dumps(found) + "\n")
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
