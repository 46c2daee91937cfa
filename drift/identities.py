"""What an endpoint said it was: one row per distinct claim, with how often and when it was seen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from django.db.models import Count, F, Max, Min

from drift.answers import COMPARABLE, Answer, Decoded, IdentityFacts, Outcome
from drift.display import visible
from drift.models import Endpoint, Identity, Series

# An answer that the endpoint itself produced now; a cached or failed one says nothing of who would have answered.
IDENTIFYING = COMPARABLE | {Outcome.EMPTY, Outcome.REASONING_ONLY, Outcome.FILTERED}


def identifies(decoded: Decoded) -> bool:
    """Whether the answer says who gave it."""
    return decoded.outcome in IDENTIFYING


def identity_digest(facts: IdentityFacts) -> bytes:
    value = [facts.model_echo, facts.fingerprint_state, facts.fingerprint, facts.upstream, facts.region]
    return hashlib.sha256(json.dumps(value).encode()).digest()


def store_identities(series: Series, answers: Sequence[Answer]) -> dict[bytes, int]:
    """Identity ids by digest, with counts and times brought up to date."""
    seen: dict[bytes, list[Answer]] = {}
    for answer in answers:
        if identifies(answer.decoded):
            seen.setdefault(identity_digest(answer.decoded.identity), []).append(answer)
    if not seen:
        return {}
    fresh = []
    for digest, group in seen.items():
        facts = group[0].decoded.identity
        times = [answer.exchange.started_at for answer in group]
        fresh.append(
            Identity(
                endpoint_id=series.endpoint_id,
                digest=digest,
                model_echo=visible(facts.model_echo)[:300] if facts.model_echo is not None else None,
                fingerprint_state=facts.fingerprint_state,
                fingerprint=visible(facts.fingerprint)[:300],
                upstream=visible(facts.upstream)[:200],
                region=visible(facts.region)[:200],
                first_seen=min(times),
                last_seen=max(times),
            )
        )
    Identity.objects.bulk_create(fresh, ignore_conflicts=True)
    ids: dict[bytes, int] = {}
    rows = Identity.objects.select_for_update().filter(endpoint_id=series.endpoint_id, digest__in=list(seen))
    for row in rows.order_by("id"):
        group = seen[bytes(row.digest)]
        times = [answer.exchange.started_at for answer in group]
        Identity.objects.filter(pk=row.pk).update(
            samples_count=F("samples_count") + len(group),
            first_seen=min(row.first_seen, *times),
            last_seen=max(row.last_seen, *times),
        )
        ids[bytes(row.digest)] = row.pk
    return ids


def recount(endpoint: Endpoint) -> None:
    """Takes every identity's count and times anew from the samples that point to it; one that none does is removed."""
    seen = {
        row["identity"]: row
        for row in endpoint.identities.filter(samples__isnull=False)
        .values(identity=F("pk"))
        .annotate(
            answers=Count("samples__public_id"), first=Min("samples__started_at"), last=Max("samples__started_at")
        )
    }
    for identity in endpoint.identities.select_for_update():
        row = seen.get(identity.pk)
        if row is None:
            if not identity.observed_count:  # else production still speaks for it
                identity.delete()
            continue
        identity.samples_count, identity.first_seen, identity.last_seen = row["answers"], row["first"], row["last"]
        identity.save(update_fields=["samples_count", "first_seen", "last_seen"])
