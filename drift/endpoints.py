"""Registering endpoints, asking for checks, putting them away and bringing them back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_noop

from drift import incidents
from drift.answers import ApiKind, Target, Transport
from drift.findings.requests import capabilities_changed
from drift.models import Capability, Endpoint, EndpointCheck, Monitor, Series, Suite, Team, User
from drift.said import said

DEFAULT_PARAMETERS: Mapping[str, Any] = {"temperature": 0, "seed": 42, "logprobs": True, "top_logprobs": 2}
ARCHIVED = gettext_noop("endpoint archived")
CHECK_LEASE = timedelta(minutes=3)
CHECK_ATTEMPTS = 3
RECHECK_EVERY = timedelta(hours=1)


def register(
    *,
    team: Team,
    user: User | None,
    name: str,
    base_url: str,
    model: str,
    api_key: str = "",
    provider: str = "",
    parameters: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Endpoint:
    """Stores an endpoint and asks a worker to check it. Probing may begin when the check has passed.

    Raises IntegrityError if the team already has one of that name.
    """
    wished = dict(DEFAULT_PARAMETERS if parameters is None else parameters)
    endpoint = Endpoint(
        team=team,
        name=name,
        provider=provider,
        base_url=base_url.rstrip("/"),
        model=model,
        api_key=api_key,
        api_key_hint=hint(api_key),
        wished_parameters=wished,
        parameters=wished,
        **fields,
    )
    return store([endpoint], user)[0]


def store(fresh: Sequence[Endpoint], user: User | None) -> Sequence[Endpoint]:
    """Stores new endpoints and asks for a check of each, in two statements."""
    now = timezone.now()
    with transaction.atomic():
        Endpoint.objects.bulk_create(fresh)
        EndpointCheck.objects.bulk_create(
            EndpointCheck(endpoint=endpoint, requested_by=user, requested_at=now) for endpoint in fresh
        )
    return fresh


def hint(api_key: str) -> str:
    """The last four characters of a key long enough that they give nothing away."""
    return api_key[-4:] if len(api_key) >= 12 else ""


def change(endpoint: Endpoint, user: User | None, *, api_key: str | None = None, **fields: Any) -> None:
    """Changes an endpoint and has it checked again. `api_key` None leaves the stored one; '' removes it."""
    for name, value in fields.items():
        setattr(endpoint, name, value)
    if api_key is not None:
        endpoint.api_key = api_key
        endpoint.api_key_hint = hint(api_key)
    with transaction.atomic():
        endpoint.save()
        recheck(endpoint, user)


def recheck(endpoint: Endpoint, user: User | None) -> EndpointCheck:
    """Asks for a check. One that is already waiting is returned instead of a second."""
    waiting = endpoint.checks.filter(state=EndpointCheck.State.DUE).first()
    return waiting or EndpointCheck.objects.create(endpoint=endpoint, requested_by=user, requested_at=timezone.now())


def recheck_if_not_lately(endpoint: Endpoint, now: datetime) -> None:
    """Asks for a check because the endpoint refused its request, at most once in `RECHECK_EVERY`."""
    if not endpoint.checks.filter(requested_at__gt=now - RECHECK_EVERY).exists():
        recheck(endpoint, None)


def archive(endpoint: Endpoint) -> None:
    """Puts an endpoint away: its monitors stop, its history stays. `restore` undoes it."""
    now = timezone.now()
    with transaction.atomic():
        endpoint.archived_at = now
        endpoint.save(update_fields=["archived_at"])
        Monitor.objects.filter(endpoint=endpoint, active=True).update(
            active=False, paused_at=now, paused_reason=said(ARCHIVED)
        )


def restore(endpoint: Endpoint) -> None:
    """Brings an archived endpoint back, and the monitors that archiving stopped."""
    with transaction.atomic():
        endpoint.archived_at = None
        endpoint.save(update_fields=["archived_at"])
        Monitor.objects.filter(endpoint=endpoint, paused_reason__in=[said(ARCHIVED), ARCHIVED]).update(
            active=True, paused_at=None, paused_reason="", next_due_at=timezone.now()
        )


def target_of(endpoint: Endpoint) -> Target:
    """The endpoint as the prober needs it."""
    key = endpoint.api_key
    return Target(
        base_url=endpoint.base_url,
        model=endpoint.model,
        api_key=key.reveal() if hasattr(key, "reveal") else key,
        kind=ApiKind(endpoint.kind),
        transport=Transport(endpoint.transport),
        parameters=endpoint.parameters,
        cap_parameter=endpoint.cap_parameter,
        extra_headers=endpoint.extra_headers,
        deadline_s=endpoint.deadline_s,
        ca_bundle=endpoint.ca_bundle,
        verify_tls=endpoint.verify_tls,
    )


def series_of(endpoint: Endpoint, suite: Suite) -> Series:
    """The series that answers of this endpoint, as it is set now, to this suite belong to."""
    value = {
        "kind": endpoint.kind,
        "model": endpoint.model,
        "transport": endpoint.transport,
        "cap_parameter": endpoint.cap_parameter,
        "parameters": endpoint.parameters,
    }
    digest = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()
    series, _ = Series.objects.get_or_create(
        endpoint=endpoint,
        suite=suite,
        digest=digest,
        defaults={"transport": endpoint.transport, "parameters": value},
    )
    return series


def checks_to_publish(now: datetime, limit: int = 100) -> list[int]:
    """Ids of checks that wait and were not handed to a worker lately; marks them as handed over."""
    with transaction.atomic():
        ids = list(
            EndpointCheck.objects.select_for_update(skip_locked=True)
            .filter(state=EndpointCheck.State.DUE)
            .filter(Q(lease_until__isnull=True) | Q(lease_until__lt=now))
            .order_by("requested_at")
            .values_list("pk", flat=True)[:limit]
        )
        EndpointCheck.objects.filter(pk__in=ids).update(lease_until=now + timedelta(seconds=settings.REPUBLISH_SECONDS))
    return ids


def claim_check(check_id: int, now: datetime) -> EndpointCheck | None:
    """Takes a waiting check for this worker; None if it is not waiting (any more)."""
    taken = EndpointCheck.objects.filter(pk=check_id, state=EndpointCheck.State.DUE).update(
        state=EndpointCheck.State.RUNNING, lease_until=now + CHECK_LEASE, attempts=F("attempts") + 1
    )
    if not taken:
        return None
    return EndpointCheck.objects.select_related("endpoint").get(pk=check_id)


def finish_check(
    check: EndpointCheck,
    *,
    now: datetime,
    problem: str,
    report: Mapping[str, Any],
    capabilities: Mapping[str, tuple[str, str, str]],
    settings: Mapping[str, Any],
) -> None:
    """Stores what a check found. `capabilities`: {name: (state, value, evidence)}; `settings`: endpoint fields.

    A check that passed changes the endpoint's request as negotiated, which begins a new series.
    """
    with transaction.atomic():
        check.state = EndpointCheck.State.FAILED if problem else EndpointCheck.State.PASSED
        check.problem = problem
        check.report = dict(report)
        check.finished_at = now
        check.lease_until = None
        check.save()
        if problem:
            return
        known = {row.name: (row.state, row.value) for row in check.endpoint.capabilities.all()}
        told = {name: (state, value) for name, (state, value, _) in capabilities.items()}
        incidents.file(capabilities_changed(check.endpoint, known, told, now), now)
        Capability.objects.bulk_create(
            [
                Capability(
                    endpoint=check.endpoint,
                    name=name,
                    state=state,
                    value=value,
                    evidence=evidence,
                    checked_at=now,
                )
                for name, (state, value, evidence) in capabilities.items()
            ],
            update_conflicts=True,
            unique_fields=["endpoint", "name"],
            update_fields=["state", "value", "evidence", "checked_at"],
        )
        if settings:
            Endpoint.objects.filter(pk=check.endpoint_id).update(**settings)


def is_checked(endpoint: Endpoint) -> bool:
    """Whether some check of this endpoint has passed."""
    return endpoint.checks.filter(state=EndpointCheck.State.PASSED).exists()
