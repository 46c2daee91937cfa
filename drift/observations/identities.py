"""Which identity an observation speaks of, and what is new about it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import connection

from drift import incidents
from drift.answers import FingerprintState, IdentityFacts
from drift.findings.apply import ask_again
from drift.findings.gather import name_of
from drift.findings.kinds import Kind
from drift.identities import identity_digest
from drift.models import Endpoint, Finding, Identity, Monitor

MOST_IDENTITIES = 200  # that observations may add to one endpoint; later new ones are counted together
REMEMBERED_S = 300.0
MOST_REMEMBERED = 50_000
NOTED_EVERY_S = 60.0

Claim = tuple[str | None, str | None]  # model echo, fingerprint; None: not told
Key = tuple[int, Claim]  # endpoint, claim

_remembered: dict[Key, tuple[int, float]] = {}
_noted: dict[int, float] = {}


def forget() -> None:
    _remembered.clear()
    _noted.clear()


def of_claims(last_seen: Mapping[Key, datetime]) -> tuple[dict[Key, int | None], list[Identity]]:
    """The identity of each claim, and those that nobody had seen before at an endpoint that was known already.

    A claim that leaves something out is the identity seen last that agrees with what it does say. None: nothing was
    told, or the endpoint has too many already.
    """
    tick = time.monotonic()
    found: dict[Key, int | None] = {}
    by_endpoint: dict[int, list[Claim]] = defaultdict(list)
    for key in last_seen:
        pk, until = _remembered.get(key, (0, 0.0))
        if until > tick:
            found[key] = pk
        else:
            by_endpoint[key[0]].append(key[1])
    fresh: list[Identity] = []
    for endpoint, claims in sorted(by_endpoint.items()):
        fresh += _look_up(endpoint, claims, last_seen, found)
    if len(_remembered) > MOST_REMEMBERED:
        _remembered.clear()
    _remembered.update({key: (pk, tick + REMEMBERED_S) for key, pk in found.items() if pk is not None})
    return found, fresh


def _look_up(
    endpoint: int, claims: Sequence[Claim], last_seen: Mapping[Key, datetime], found: dict[Key, int | None]
) -> list[Identity]:
    rows = Identity.objects.filter(endpoint=endpoint)
    named = {fingerprint for _, fingerprint in claims if fingerprint}
    near = rows.filter(fingerprint__in=named) if all(fingerprint for _, fingerprint in claims) else rows
    known = list(near.order_by("-last_seen", "-id")[: MOST_IDENTITIES * 2])
    missing = []
    for claim in sorted(claims, key=str):
        match = next((row for row in known if _agrees(row, claim)), None)
        found[endpoint, claim] = match.pk if match else None
        if match is None and claim != (None, None):
            missing.append(claim)
    if not missing:
        return []
    before = rows.count()
    room = max(0, MOST_IDENTITIES - rows.filter(samples_count=0).count())
    fresh = [_new(endpoint, claim, last_seen[endpoint, claim]) for claim in missing[:room]]
    Identity.objects.bulk_create(fresh, ignore_conflicts=True)
    ids = {
        bytes(digest): pk
        for digest, pk in rows.filter(digest__in=[row.digest for row in fresh]).values_list("digest", "id")
    }
    for claim, row in zip(missing, fresh, strict=False):
        found[endpoint, claim] = ids[bytes(row.digest)]
    return fresh if before else []


def _agrees(row: Identity, claim: Claim) -> bool:
    echo, fingerprint = claim
    if echo is not None and row.model_echo != echo:
        return False
    return fingerprint is None or row.fingerprint == fingerprint


def _new(endpoint: int, claim: Claim, seen: datetime) -> Identity:
    echo, fingerprint = claim
    state = FingerprintState.ABSENT
    if fingerprint is not None:
        state = FingerprintState.VALUE if fingerprint else FingerprintState.EMPTY
    return Identity(
        endpoint_id=endpoint,
        digest=identity_digest(IdentityFacts(model_echo=echo, fingerprint_state=state, fingerprint=fingerprint or "")),
        model_echo=echo,
        fingerprint_state=state,
        fingerprint=fingerprint or "",
        first_seen=seen,
        last_seen=seen,
    )


_NOTE = """
UPDATE drift_identity SET
       observed_count = GREATEST(observed_count, (SELECT COALESCE(SUM(b.answers), 0) FROM drift_observedbucket b
                                                  WHERE b.identity_id = drift_identity.id)),
       observed_at = GREATEST(observed_at, more.last_at), last_seen = GREATEST(last_seen, more.last_at)
FROM (SELECT i.id, s.last_at FROM drift_identity i JOIN unnest(%s::bigint[], %s::timestamptz[]) AS s (id, last_at)
      USING (id) ORDER BY i.id FOR UPDATE OF i) AS more
WHERE drift_identity.id = more.id
"""


def note_seen(last_seen: Mapping[int, datetime], now: datetime) -> None:
    """Brings counts and times of identities up to date, each at most once a minute: the buckets have every answer."""
    tick = time.monotonic()
    due = sorted(pk for pk in last_seen if _noted.get(pk, 0.0) <= tick)
    if not due:
        return
    if len(_noted) > MOST_REMEMBERED:
        _noted.clear()
    _noted.update(dict.fromkeys(due, tick + NOTED_EVERY_S))
    with connection.cursor() as cursor:
        cursor.execute(_NOTE, [due, [last_seen[pk] for pk in due]])


def tell(fresh: Sequence[Identity], now: datetime) -> None:
    """Says what production saw first, and has the canaries asked at once: the rules judge their answers, not these."""
    by_endpoint: dict[int, list[Identity]] = defaultdict(list)
    for row in fresh:
        by_endpoint[row.endpoint_id].append(row)
    for endpoint in Endpoint.objects.filter(pk__in=by_endpoint).order_by("pk"):
        rows = by_endpoint[endpoint.pk]
        finding = Finding(
            team_id=endpoint.team_id,
            endpoint=endpoint,
            kind=Kind.IDENTITY_SEEN,
            severity=Kind.IDENTITY_SEEN.severity,
            began_at=min(row.first_seen for row in rows),
            found_at=now,
            facts={"new": [name_of(row).key() for row in rows][:20], "observed": True},
        )
        incidents.file([finding], now)
        for monitor in Monitor.objects.filter(endpoint=endpoint, active=True).select_related("endpoint"):
            ask_again(monitor, now)
