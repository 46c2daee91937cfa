"""kill -9 of worker, beat, scheduler, notifier, Redis and PostgreSQL at twenty random points of a scripted day."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = {"worker", "beat", "scheduler", "notifier", "redis", "postgres"}


@pytest.mark.chaos
@pytest.mark.timeout(480)
def test_every_incident_is_raised_once_and_every_message_arrives() -> None:
    """GIVEN a fingerprint change and a silent one WHEN anything dies at any time THEN nothing is lost or doubled."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    played = subprocess.run(
        [sys.executable, "-m", "tests.chaos.day", "--kills", "20", "--seed", "20"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=460,
    )
    assert played.returncode == 0, played.stderr[-3000:]
    day = json.loads(played.stdout.strip().splitlines()[-1])

    assert set(day["killed"]) == PARTS
    assert day["incidents"] == ["a: new identity, answers moved", "b: answers moved, no identity did"]
    assert [tuple(finding) for finding in day["findings"]] == [("a", "new_identity"), ("b", "silent_change")]
    assert not day["lost"], "every delivery arrived at its receiver"
    assert not day["unknown"], "nothing arrived that was never written"
    assert not day["stuck"], day
    assert set(day["deliveries"]) == {"sent"}
    assert set(day["runs"]) == {"finished"}
