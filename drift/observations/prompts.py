"""Prompts that production sends again: how many answers differ from the first of the day. Bounded by day."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from django.db import connection, transaction

PROMPTS_A_DAY = 1000
LOOKED_UP_EVERY_S = 5.0
FULL_FOR_S = 60.0
MOST_REMEMBERED = 100_000

Place = tuple[int, date]  # endpoint, day
Key = tuple[int, date, str]  # endpoint, day, prompt


@dataclass(slots=True)
class Known:
    """The prompts of one place as this process last saw them. They are only added to, so what is known stays so."""

    prompts: set[str] = field(default_factory=set)
    until: float = 0.0

    @property
    def room(self) -> int:
        return max(0, PROMPTS_A_DAY - len(self.prompts))


_remembered: dict[Place, Known] = {}

_KNOWN = """
SELECT p.endpoint_id, p.day, p.prompt FROM drift_observedprompt p
JOIN unnest(%s::bigint[], %s::date[]) AS s (endpoint_id, day) USING (endpoint_id, day)
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


def forget() -> None:
    _remembered.clear()


def add(outputs: Mapping[tuple[int, date, str, str], int]) -> None:
    """`outputs`: {(endpoint, day, prompt, output): answers}, in the order in which they came."""
    if not outputs:
        return
    first: dict[Key, str] = {}
    for endpoint, day, prompt, output in outputs:
        first.setdefault((endpoint, day, prompt), output)
    with connection.cursor() as cursor:
        places = _places(first)
        fresh = _with_room(
            {key: output for key, output in first.items() if key[2] not in places[key[:2]].prompts}, places
        )
        if fresh:
            keys = sorted(fresh)
            cursor.execute(_INSERT, [*_columns(keys, 3), [fresh[key] for key in keys]])
        counted = [key for key in outputs if key[:3] in fresh or key[2] in places[key[:2]].prompts]
        if counted:
            cursor.execute(_COUNT, [*_columns(counted, 4), [outputs[key] for key in counted]])
    transaction.on_commit(lambda: _remember(places, fresh))


def _places(keys: Iterable[Key]) -> dict[Place, Known]:
    """What is known of each place, looked up where a prompt is new to this process and the last look is too old."""
    tick = time.monotonic()
    places: dict[Place, Known] = {}
    stale: dict[Place, Known] = {}
    for endpoint, day, prompt in keys:
        place = endpoint, day
        known = places[place] = places.get(place) or _remembered.get(place) or Known()
        if prompt not in known.prompts and known.until <= tick:
            stale[place] = known
    if stale:
        looked_up = {place: Known() for place in stale}
        with connection.cursor() as cursor:
            cursor.execute(_KNOWN, _columns(stale, 2))
            for endpoint, day, prompt in cursor.fetchall():
                looked_up[endpoint, day].prompts.add(prompt)
        for known in looked_up.values():
            known.until = tick + (LOOKED_UP_EVERY_S if known.room else FULL_FOR_S)
        places |= looked_up
    return places


def _with_room(fresh: Mapping[Key, str], places: Mapping[Place, Known]) -> dict[Key, str]:
    """As many as the day still takes. Others may be writing too, so the bound is soft by what they add meanwhile."""
    by_place: dict[Place, list[Key]] = defaultdict(list)
    for key in fresh:
        by_place[key[:2]].append(key)
    return {key: fresh[key] for place, keys in by_place.items() for key in keys[: places[place].room]}


def _remember(places: Mapping[Place, Known], fresh: Iterable[Key]) -> None:
    """Only once it is committed: what was rolled back is not there."""
    if sum(len(known.prompts) for known in _remembered.values()) > MOST_REMEMBERED:
        _remembered.clear()
    _remembered.update(places)
    for endpoint, day, prompt in fresh:
        places[endpoint, day].prompts.add(prompt)


def _columns(keys: Iterable[tuple[object, ...]], width: int) -> list[list[object]]:
    rows = list(keys)
    return [[row[i] for row in rows] for i in range(width)]
