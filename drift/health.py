"""Whether the service does its work: what `/readyz` answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import DatabaseError

from drift.models import Heartbeat, Monitor

TICK_LATE_AFTER = timedelta(seconds=60)
WORKER_LATE_AFTER = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Readiness:
    """Each part with its state in words; `ready` if the service can do its work now."""

    ready: bool
    parts: dict[str, str]


def readiness(now: datetime) -> Readiness:
    """Looks at the database, the broker, the scheduler's last tick, the probing workers and the last finished run.

    A tick travels through the broker before it is noted, so a fresh one proves both. A pulse travels on to a probing
    worker; while all of them are in long runs it waits, so only a long silence counts.
    """
    try:
        beats = {beat.part: beat.beat_at for beat in Heartbeat.objects.all()}
        monitors = Monitor.objects.filter(active=True).count()
    except DatabaseError as error:
        return Readiness(False, {"database": f"not reachable: {type(error).__name__}"})
    parts = {
        "database": "ok",
        "broker": _state(beats.get("tick"), now, TICK_LATE_AFTER, "has not carried a message yet"),
        "tick": _state(beats.get("tick"), now, TICK_LATE_AFTER, "has not ticked yet"),
    }
    heard = [beats[part] for part in ("pulse", "run") if part in beats]
    if heard:
        parts["worker"] = _state(max(heard), now, WORKER_LATE_AFTER, "")
    ready = all(state == "ok" for state in parts.values())
    if not heard:
        parts["worker"] = "not heard of yet"
    run = beats.get("run")
    parts["last finished run"] = f"{_ago(now - run)} ago" if run else "none yet" if monitors else "no active monitor"
    return Readiness(ready, parts)


def _state(beat: datetime | None, now: datetime, late_after: timedelta, never: str) -> str:
    if beat is None:
        return never
    return "ok" if now - beat <= late_after else f"late: last heard of {_ago(now - beat)} ago"


def _ago(span: timedelta) -> str:
    seconds = max(0, int(span.total_seconds()))
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {name}"
    return f"{seconds} s"
