"""Counts a batch of observations: a few statements whatever its size, all of them or none."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from urllib.parse import urlsplit
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Q

from drift.display import visible
from drift.models import Endpoint, Span, Team
from drift.observations import identities, prompts, together
from drift.observations.identities import Claim
from drift.observations.observation import Observation, Rejected
from drift.rollups import start_of

OLDEST = timedelta(days=7)
MOST_AHEAD = timedelta(minutes=10)

Bucket = tuple[int, int | None, datetime]  # endpoint, identity, hour


@dataclass(slots=True)
class Sum:
    answers: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    last_at: datetime = datetime.min

    def add(self, answers: int, prompt_tokens: int, completion_tokens: int, last_at: datetime) -> None:
        self.answers += answers
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens
        self.last_at = last_at if self.answers == answers else max(self.last_at, last_at)


@dataclass(slots=True)
class Batch:
    """Observations by endpoint, claim and hour; answers by endpoint, day, prompt and output."""

    sums: dict[tuple[int, Claim, datetime], Sum] = field(default_factory=lambda: defaultdict(Sum))
    outputs: Counter[tuple[int, date, str, str]] = field(default_factory=Counter)

    @classmethod
    def merged(cls, batches: Sequence[Batch]) -> Batch:
        whole = cls()
        for batch in batches:
            for key, total in batch.sums.items():
                whole.sums[key].add(total.answers, total.prompt_tokens, total.completion_tokens, total.last_at)
            whole.outputs.update(batch.outputs)
        return whole


def record(team: Team, seen: Sequence[Observation], now: datetime) -> list[Rejected]:
    """Counts what can be counted; the rest with its reason. Committed when this returns."""
    endpoints = _Endpoints(team, seen)
    batch, rejected = Batch(), []
    for index, one in enumerate(seen):
        endpoint = endpoints.of(one)
        if endpoint is None:
            reason = (
                f"no endpoint called {one.endpoint!r}" if one.endpoint else "no endpoint, or several, of that model"
            )
            rejected.append(Rejected(index, reason))
        elif not now - OLDEST <= one.at <= now + MOST_AHEAD:
            rejected.append(Rejected(index, "its time is more than 7 days ago or ahead of now"))
        else:
            _add(batch, endpoint, one)
    if batch.sums:
        together.store(batch, lambda whole: _store_again(whole, now), Batch.merged)
    return rejected


def _store_again(batch: Batch, now: datetime) -> None:
    try:
        _store(batch, now)
    except IntegrityError:  # an identity remembered here was removed meanwhile
        identities.forget()
        prompts.forget()
        _store(batch, now)


def _add(batch: Batch, endpoint: int, one: Observation) -> None:
    hour = start_of(Span.HOUR, one.at)
    claim = (
        None if one.model_echo is None else visible(one.model_echo)[:300],
        None if one.fingerprint is None else visible(one.fingerprint)[:300],
    )
    batch.sums[endpoint, claim, hour].add(1, one.prompt_tokens, one.completion_tokens, one.at)
    if one.prompt_hash and one.output_hash:
        batch.outputs[endpoint, hour.date(), one.prompt_hash[:128], one.output_hash[:128]] += 1


NAMED_FOR_S = 5.0  # how long a name is taken for the endpoint that bore it when it was last looked up
MOST_NAMED = 50_000
_named: dict[tuple[int, str], tuple[int, float]] = {}


class _Endpoints:
    """The team's endpoints that a batch speaks of, by every way in which it can name one."""

    def __init__(self, team: Team, seen: Sequence[Observation]) -> None:
        self.by_name: dict[str, int] = {}
        self.by_model: dict[tuple[str, str], list[int]] = defaultdict(list)
        tick = time.monotonic()
        names = {one.endpoint for one in seen if one.endpoint}
        models = {one.model for one in seen if not one.endpoint}
        for name in names:
            pk, until = _named.get((team.pk, name), (0, 0.0))
            if until > tick:
                self.by_name[name] = pk
        names -= self.by_name.keys()
        if names or models:
            self._look_up(team, names, models)
        if len(_named) > MOST_NAMED:
            _named.clear()
        found = ((name, self._named(name)) for name in names)
        _named.update({(team.pk, name): (pk, tick + NAMED_FOR_S) for name, pk in found if pk is not None})

    def _look_up(self, team: Team, names: Set[str], models: Set[str]) -> None:
        ids = [read for read in map(_uuid, names) if read is not None]
        wanted = Q(name__in=names) | Q(public_id__in=ids) | Q(model__in=models)
        rows = Endpoint.objects.filter(wanted, team=team, archived_at=None)
        for pk, public_id, name, model, base_url in rows.values_list("pk", "public_id", "name", "model", "base_url"):
            self.by_name[str(public_id)] = pk
            self.by_name[name] = pk
            host = (urlsplit(base_url).hostname or "").lower()
            self.by_model[model, host].append(pk)
            self.by_model[model, ""].append(pk)

    def of(self, one: Observation) -> int | None:
        if one.endpoint:
            return self._named(one.endpoint)
        found = self.by_model.get((one.model, one.host.lower()), [])
        return found[0] if len(found) == 1 else None

    def _named(self, name: str) -> int | None:
        known = self.by_name.get(name)
        return known if known is not None else self.by_name.get(str(_uuid(name)))


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text) if len(text) >= 32 else None
    except ValueError:
        return None


def _store(batch: Batch, now: datetime) -> None:
    with transaction.atomic():
        last_seen: dict[tuple[int, Claim], datetime] = {}
        for (endpoint, claim, _), total in batch.sums.items():
            last_seen[endpoint, claim] = max(total.last_at, last_seen.get((endpoint, claim), total.last_at))
        known, fresh = identities.of_claims(last_seen)
        buckets: dict[Bucket, Sum] = defaultdict(Sum)
        for (endpoint, claim, hour), total in batch.sums.items():
            buckets[endpoint, known[endpoint, claim], hour].add(
                total.answers, total.prompt_tokens, total.completion_tokens, total.last_at
            )
        prompts.add(batch.outputs)
        # late, because every batch of the hour meets in these rows and waits for whoever holds them
        _add_to_buckets(buckets)
        identities.note_seen({pk: last_seen[key] for key, pk in known.items() if pk is not None}, now)
        identities.tell(fresh, now)


_BUCKETS = """
INSERT INTO drift_observedbucket AS b (endpoint_id, identity_id, starts_at, answers, prompt_tokens, completion_tokens,
                                       last_at)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::timestamptz[], %s::bigint[], %s::bigint[], %s::bigint[],
                     %s::timestamptz[])
ON CONFLICT (endpoint_id, starts_at, identity_id) DO UPDATE
SET answers = b.answers + EXCLUDED.answers, prompt_tokens = b.prompt_tokens + EXCLUDED.prompt_tokens,
    completion_tokens = b.completion_tokens + EXCLUDED.completion_tokens,
    last_at = GREATEST(b.last_at, EXCLUDED.last_at)
"""


def _add_to_buckets(buckets: Mapping[Bucket, Sum]) -> None:
    """In one order always, so that two batches never wait for each other in a circle."""
    rows = sorted(buckets.items(), key=lambda item: (item[0][0], item[0][2], item[0][1] or 0))
    columns: list[list[object]] = [
        [endpoint for (endpoint, _, _), _ in rows],
        [identity for (_, identity, _), _ in rows],
        [hour for (_, _, hour), _ in rows],
        [total.answers for _, total in rows],
        [total.prompt_tokens for _, total in rows],
        [total.completion_tokens for _, total in rows],
        [total.last_at for _, total in rows],
    ]
    with connection.cursor() as cursor:
        cursor.execute(_BUCKETS, columns)
