"""Carries changes out, all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_noop

from drift import endpoints, monitors
from drift.configuration.current import Current, current
from drift.configuration.difference import Change, difference
from drift.configuration.document import ChannelSaid, Document, EndpointSaid, MonitorSaid, RulesSaid, SuiteSaid
from drift.configuration.read import ConfigurationError
from drift.configuration.references import Secrets
from drift.models import AlertRules, Channel, Endpoint, Monitor, Team, User
from drift.said import said as sentence
from drift.suites import CanaryText, next_version

IN_THE_FILE = gettext_noop("paused in the configuration file")


def plan(team: Team, wanted: Document, secrets: Secrets) -> tuple[Current, list[Change]]:
    """What is there and what would change. Raises ConfigurationError for what cannot be done."""
    now = current(team)
    changes = difference(now.document, wanted, lambda *what: _secret_differs(now, secrets, *what))
    mistakes = [*_dangling(now, wanted), *_missing_secrets(changes, secrets)]
    if mistakes:
        raise ConfigurationError(mistakes)
    return now, changes


def apply(team: Team, wanted: Document, secrets: Secrets, user: User | None = None) -> list[Change]:
    """Makes it so, in one transaction; the changes that were made. Nothing is written when there are none."""
    with transaction.atomic():
        Team.objects.select_for_update().get(pk=team.pk)
        now, changes = plan(team, wanted, secrets)
        for (kind, action), group in groupby(changes, lambda change: (change.kind, change.action)):
            if (kind, action) == ("endpoint", "create"):
                _new_endpoints(team, now, list(group), secrets, user)
            elif (kind, action) == ("monitor", "create"):
                _new_monitors(now, list(group))
            else:
                for change in group:
                    _carry_out(team, now, change, secrets, user)
    return changes


def _carry_out(team: Team, now: Current, change: Change, secrets: Secrets, user: User | None) -> None:
    said: Any = change.said
    if isinstance(said, SuiteSaid):
        texts = [CanaryText(one.name, one.messages, one.max_tokens) for one in said.canaries]
        now.suites[said.name] = next_version(team, said.name, texts, said.retention_days)
    elif isinstance(said, EndpointSaid):
        _endpoint(now.endpoints[said.name], change, said, secrets, user)
    elif isinstance(said, MonitorSaid):
        _monitor(now, said)
    elif isinstance(said, ChannelSaid):
        _channel(team, now, change, said, secrets)
    elif isinstance(said, RulesSaid):
        AlertRules.objects.update_or_create(team=team, defaults=said.model_dump())


def _new_endpoints(team: Team, now: Current, changes: Sequence[Change], secrets: Secrets, user: User | None) -> None:
    fresh = []
    for change in changes:
        said: Any = change.said
        key = (secrets.get(said.api_key) if said.api_key else None) or ""
        row = Endpoint(team=team, api_key=key, api_key_hint=endpoints.hint(key), **said.model_dump(exclude={"api_key"}))
        row.wished_parameters = row.parameters
        fresh.append(row)
    now.endpoints.update({row.name: row for row in endpoints.store(fresh, user)})


def _new_monitors(now: Current, changes: Sequence[Change]) -> None:
    """Where a monitor of an earlier version of its suite exists, it is paused."""
    fresh = []
    for change in changes:
        said: Any = change.said
        values = said.model_dump(exclude={"endpoint", "suite"})
        fresh.append(
            Monitor(
                endpoint=now.endpoints[said.endpoint],
                suite=now.suites[said.suite],
                next_due_at=timezone.now(),
                paused_at=None if said.active else timezone.now(),
                paused_reason="" if said.active else sentence(IN_THE_FILE),
                **values,
            )
        )
    monitors.store(fresh)
    older = Q()
    for row in fresh:
        if row.suite.version > 1:
            older |= Q(endpoint=row.endpoint, suite__name=row.suite.name, suite__version__lt=row.suite.version)
    if older:
        for row in Monitor.objects.filter(older, active=True).select_related("suite"):
            monitors.pause(
                row, sentence(gettext_noop("the next version of {suite} took its place"), suite=str(row.suite))
            )


def _endpoint(row: Endpoint, change: Change, said: EndpointSaid, secrets: Secrets, user: User | None) -> None:
    values = said.model_dump(exclude={"api_key"})
    key = secrets.get(said.api_key) if said.api_key else None
    touched = {name: values[name] for name in change.fields if name in values}
    if "parameters" in touched:
        touched["wished_parameters"] = touched["parameters"]
    endpoints.change(row, user, api_key=key, **touched)


def _monitor(now: Current, said: MonitorSaid) -> None:
    endpoint, suite = now.endpoints[said.endpoint], now.suites[said.suite]
    row = Monitor.objects.filter(endpoint=endpoint, suite=suite).first()
    if row is None:
        _new_monitors(now, [Change("create", "monitor", said.name, said)])
        return
    monitors.change(row, **said.model_dump(exclude={"endpoint", "suite", "active"}))
    if row.active and not said.active:
        monitors.pause(row, sentence(IN_THE_FILE))
    elif said.active and not row.active:
        monitors.resume(row)


def _channel(team: Team, now: Current, change: Change, said: ChannelSaid, secrets: Secrets) -> None:
    values = said.model_dump(exclude={"address", "signing_secret"})
    row = now.channels.get(said.name) or Channel(team=team, name=said.name)
    for name, value in values.items():
        setattr(row, name, value)
    address = secrets.get(said.address)
    if address is not None:
        row.address = address
        row.address_hint = address if said.kind == "email" else hint_of(address)
    if said.signing_secret and (signing := secrets.get(said.signing_secret)) is not None:
        row.signing_secret = signing
    row.save()


def hint_of(address: str) -> str:
    """What may be shown of a secret web address: its host."""
    return address.split("//")[-1].split("/")[0].split("@")[-1][:200]


def _secret_differs(now: Current, secrets: Secrets, kind: str, name: str, field: str, reference: str) -> bool:
    text = secrets.get(reference)
    row: Any = now.endpoints[name] if kind == "endpoint" else now.channels[name]
    return text is not None and getattr(row, field).reveal() != text


def _dangling(now: Current, wanted: Document) -> list[str]:
    endpoints_known = {*now.endpoints, *(one.name for one in wanted.endpoints)}
    suites_known = {*now.suites, *(one.name for one in wanted.suites)}
    return [
        f"monitors ({one.name}): there is no {kind} called {name!r}, here or in the file"
        for one in wanted.monitors
        for kind, name, known in (
            ("endpoint", one.endpoint, endpoints_known),
            ("suite", one.suite, suites_known),
        )
        if name not in known
    ]


def _missing_secrets(changes: Sequence[Change], secrets: Secrets) -> list[str]:
    """New things need their secrets; what exists keeps the stored one."""
    return [
        f"{change.kind} {change.name}: {reference} leads to nothing here"
        for change in changes
        if change.action == "create"
        for reference in (getattr(change.said, name, None) for name in ("api_key", "address", "signing_secret"))
        if reference and secrets.get(reference) is None
    ]
