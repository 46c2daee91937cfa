"""`python -m workers.simulate`: serves simulated endpoints until interrupted."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from datetime import datetime
from pathlib import Path

from workers.simulate.library import NAMED
from workers.simulate.scenario import Scenario, ScenarioError, load, with_seed
from workers.simulate.server import Clock, Simulator, status_line


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m workers.simulate", description=__doc__)
    parser.add_argument("--port", type=int, default=8400)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--scenario", default="steady", help="a name from --list, or a YAML file; served at /v1")
    parser.add_argument("--seed", type=int, help="replaces the scenario's own")
    parser.add_argument("--speed", type=float, default=1.0, help="how many times faster than the wall time passes")
    parser.add_argument("--start", help="the simulated time at the start, ISO 8601 (default: now)")
    parser.add_argument("--list", action="store_true", help="name the scenarios and end")
    options = parser.parse_args(arguments)
    if options.list:
        for scenario in NAMED.values():
            print(f"{scenario.name:18} {scenario.about}")
        return 0
    try:
        first = with_seed(_scenario(options.scenario), options.seed)
        start = datetime.fromisoformat(options.start).timestamp() if options.start else None
    except (ScenarioError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    others = (with_seed(scenario, options.seed) for name, scenario in NAMED.items() if name != first.name)
    simulator = Simulator(first, *others, host=options.host, port=options.port, clock=Clock(start, options.speed))
    simulator.keeps_requests = False
    try:
        asyncio.run(run(simulator))
    except OSError as error:
        print(f"Cannot listen on {options.host}:{options.port}: {error.strerror}.", file=sys.stderr)
        return 1
    return 0


async def run(simulator: Simulator) -> None:
    serving = asyncio.ensure_future(_serve(simulator))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await serving


async def _serve(simulator: Simulator) -> None:
    async with simulator:
        print(status_line(simulator), flush=True)
        await simulator.serve_forever()


def _scenario(name: str) -> Scenario:
    if name in NAMED:
        return NAMED[name]
    path = Path(name)
    if not path.exists():
        raise ScenarioError(f"'{name}' is neither a scenario (see --list) nor a file.")
    return load(path)


if __name__ == "__main__":
    sys.exit(main())
