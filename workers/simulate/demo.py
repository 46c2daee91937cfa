"""Five simulated endpoints with a past, for trying the pages on the first day.

`python -m workers.simulate.demo --port N --begin ISO` serves them as they are now, `--begin` being when their stories
began. `manage.py demo` makes their history.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from datetime import UTC, datetime

from workers.simulate.__main__ import run
from workers.simulate.library import DAY, HOUR
from workers.simulate.scenario import Phase, Scenario, Storm, Version
from workers.simulate.server import Clock, Simulator

DAYS = 60

STORIES: tuple[Scenario, ...] = (
    Scenario(
        "rolled-out",
        model="simulated-large",
        seed=11,
        phases=(
            Phase(0.0, Version(fingerprints=(("fp_sim4a2889", 0.8), ("fp_simb705f", 0.2)), flip_rate=0.06)),
            Phase(
                57 * DAY,
                Version(fingerprints=(("fp_sim07871e", 1.0),), salt=1, changed_prompts=0.6, flip_rate=0.15),
                ramp_s=6 * HOUR,
            ),
        ),
        latency_ms=700,
        about="two known fingerprints, then a new one takes over and answers move",
    ),
    Scenario(
        "silent",
        model="simulated-open-70b",
        seed=12,
        phases=(
            Phase(0.0, Version(fingerprints=((None, 1.0),), flip_rate=0.04)),
            Phase(51 * DAY, Version(fingerprints=((None, 1.0),), salt=2, changed_prompts=0.7, flip_rate=0.12)),
        ),
        latency_ms=1300,
        about="no fingerprint; answers move one night and nothing says so",
    ),
    Scenario(
        "churning",
        model="simulated-oss-120b",
        seed=13,
        phases=(Phase(0.0, Version(fingerprints=tuple((f"fp_simpool{n}", 0.125) for n in range(8)), flip_rate=0.08)),),
        rhythm=0.6,
        latency_ms=300,
        about="eight fingerprints at once, more restless in the afternoon, never really changed",
    ),
    Scenario(
        "patchy",
        model="simulated-medium",
        seed=14,
        phases=(Phase(0.0, Version(fingerprints=(), flip_rate=0.03)),),
        storms=(
            Storm(20 * DAY, 20 * DAY + 9 * HOUR, status=503, retry_after=""),
            Storm(44 * DAY, 45 * DAY, share=0.4, status=429, retry_after="30"),
        ),
        latency_ms=1100,
        about="steady, once down for nine hours, once throttled for a day",
    ),
    Scenario(
        "cosmetic",
        model="simulated-chat",
        seed=15,
        phases=(
            Phase(0.0, Version(fingerprints=(("fp_sim0820aa", 1.0),), flip_rate=0.05)),
            Phase(38 * DAY, Version(fingerprints=(("fp_sim0901bb", 1.0),), flip_rate=0.05)),
        ),
        latency_ms=1900,
        about="a new fingerprint that moved no answer",
    ),
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m workers.simulate.demo", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--begin", required=True, help="when the stories began, ISO 8601")
    options = parser.parse_args(arguments)
    begin = datetime.fromisoformat(options.begin)
    clock = Clock(begin.timestamp())
    clock.advance((datetime.now(UTC) - begin).total_seconds())
    simulator = Simulator(*STORIES, port=options.port, clock=clock)
    simulator.keeps_requests = False
    try:
        asyncio.run(run(simulator))
    except OSError as error:
        print(f"Cannot listen on 127.0.0.1:{options.port}: {error.strerror}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
