"""Whether the service does its work: what `/readyz` answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import DatabaseError

from drift.models import Heartbeat, Monitor

TICK_LATE_AFTER = timedelta(seconds=60)
BROKER_LATE_AFTER = timedelta(seconds=180)


@dataclass(frozen=True, slots=True)
class Readiness:
    """Each part with its state in words; `ready` if the service can do its work now."""

    ready: bool
    parts: dict[str, str]


def readiness(now: datetime) -> Readiness:
    """Looks at the database, the scheduler's last tick (which also proves the broker) and the last finished run."""
    try:
        beats = {beat.part: beat for beat in Heartbeat.objects.all()}
        monitors = Monitor.objects.filter(active=True).count()
    except DatabaseError as error:
        return Readiness(False, {"database": f"not reachable: {type(error).__name__}"})
    parts = {"database": "ok"}
    tick = beats.get("tick")
    if tick is None:
        parts["tick"] = "has not ticked yet"
    elif now - tick.beat_at > TICK_LATE_AFTER:
        parts["tick"] = f"late: last tick {_ago(now - tick.beat_at)} ago"
    else:
        parts["tick"] = "ok"
    broker = beats.get("broker")
    if broker is None:
        parts["broker"] = "has not carried a message yet"
    elif now - broker.beat_at > BROKER_LATE_AFTER:
        parts["broker"] = f"late: last message {_ago(now - broker.beat_at)} ago"
    else:
        parts["broker"] = "ok"
    ready = all(state == "ok" for state in parts.values())
    run = beats.get("run")
    if run is not None:
        parts["last finished run"] = f"{_ago(now - run.beat_at)} ago"
    else:
        parts["last finished run"] = "none yet" if monitors else "none: no active monitor"
    return Readiness(ready, parts)


def _ago(span: timedelta) -> str:
    seconds = max(0, int(span.total_seconds()))
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {name}"
    return f"{seconds} s"
