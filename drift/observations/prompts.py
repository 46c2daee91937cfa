"""Prompts that production sends again: how many answers differ from the first of the day. Bounded by day."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from datetime import date

from django.db import connection

from drift.models import ObservedPrompt

PROMPTS_A_DAY = 1000
COUNTED_EVERY_S = 5.0

Place = tuple[int, date]  # endpoint, day

_room: dict[Place, tuple[int, float]] = {}

_KNOWN = """
SELECT p.endpoint_id, p.day, p.prompt FROM drift_observedprompt p
JOIN unnest(%s::bigint[], %s::date[], %s::text[]) AS s (endpoint_id, day, prompt) USING (endpoint_id, day, prompt)
"""
_INSERT = """
INSERT INTO drift_observedprompt (endpoint_id, day, prompt, first_output, answers, differing)
SELECT *, 0, 0 FROM unnest(%s::bigint[], %s::date[], %s::text[], %s::text[]) ON CONFLICT DO NOTHING
"""
_COUNT = """
WITH said AS (SELECT * FROM unnest(%s::bigint[], %s::date[], %s::text[], %s::text[], %s::int[])
              AS s (endpoint_id, day, prompt, output, answers)),
     held AS MATERIALIZED (
        SELECT p.id, p.first_output, p.endpoint_id, p.day, p.prompt FROM drift_observedprompt p
        WHERE (p.endpoint_id, p.day, p.prompt) IN (SELECT endpoint_id, day, prompt FROM said)
        ORDER BY p.id FOR UPDATE),
     more AS (SELECT held.id, SUM(said.answers) AS answers,
                     COALESCE(SUM(said.answers) FILTER (WHERE said.output <> held.first_output), 0) AS differing
              FROM held JOIN said USING (endpoint_id, day, prompt) GROUP BY held.id)
UPDATE drift_observedprompt p SET answers = p.answers + more.answers, differing = p.differing + more.differing
FROM more WHERE p.id = more.id
"""


def add(outputs: Mapping[tuple[int, date, str, str], int]) -> None:
    """`outputs`: {(endpoint, day, prompt, output): answers}, in the order in which they came."""
    if not outputs:
        return
    first: dict[tuple[int, date, str], str] = {}
    for endpoint, day, prompt, output in outputs:
        first.setdefault((endpoint, day, prompt), output)
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN, _columns(first, 3))
        known = {tuple(row) for row in cursor.fetchall()}
        fresh = _with_room({key: output for key, output in first.items() if key not in known})
        if fresh:
            keys = sorted(fresh)
            cursor.execute(_INSERT, [*_columns(keys, 3), [fresh[key] for key in keys]])
        counted = [key for key in outputs if key[:3] in known or key[:3] in fresh]
        if counted:
            cursor.execute(_COUNT, [*_columns(counted, 4), [outputs[key] for key in counted]])


def _columns(keys: object, width: int) -> list[list[object]]:
    rows = list(keys)  # type: ignore[call-overload]
    return [[row[i] for row in rows] for i in range(width)]


def _with_room(fresh: Mapping[tuple[int, date, str], str]) -> dict[tuple[int, date, str], str]:
    """As many as the day still takes. Counted every few seconds, so the bound is soft by that much."""
    tick = time.monotonic()
    by_place: dict[Place, list[tuple[int, date, str]]] = defaultdict(list)
    for key in fresh:
        by_place[key[:2]].append(key)
    kept: dict[tuple[int, date, str], str] = {}
    for place, keys in by_place.items():
        room, until = _room.get(place, (0, 0.0))
        if until <= tick:
            room = PROMPTS_A_DAY - ObservedPrompt.objects.filter(endpoint=place[0], day=place[1]).count()
            until = tick + COUNTED_EVERY_S
        taken = keys[: max(0, room)]
        _room[place] = (room - len(taken), until)
        kept.update({key: fresh[key] for key in taken})
    if len(_room) > 10_000:
        _room.clear()
    return kept
