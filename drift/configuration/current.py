"""What is stored, as a document. Endpoints that Tidegauge brings itself (in-house, simulated) are left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from drift.configuration.document import (
    CanarySaid,
    ChannelSaid,
    Document,
    EndpointSaid,
    MonitorSaid,
    RulesSaid,
    SuiteSaid,
)
from drift.configuration.references import Reference
from drift.models import AlertRules, Channel, Endpoint, Monitor, Suite, SuiteCanary, Team


@dataclass(slots=True)
class Current:
    """A team's rows by the names that a file uses, and the document that they amount to."""

    endpoints: dict[str, Endpoint] = field(default_factory=dict)
    suites: dict[str, Suite] = field(default_factory=dict)
    monitors: dict[str, Monitor] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    rules: AlertRules | None = None
    document: Document = field(default_factory=Document)


def current(team: Team) -> Current:
    """Costs seven queries, however much there is."""
    rows = Endpoint.objects.filter(team=team, archived_at=None, simulated=False, in_house="").order_by("name")
    now = Current(endpoints={row.name: row for row in rows})
    for suite in Suite.objects.filter(team=team).order_by("name", "version"):
        now.suites[suite.name] = suite  # the last one stays: the latest version
    canaries: dict[int, list[CanarySaid]] = {}
    places = SuiteCanary.objects.filter(suite__in=now.suites.values()).select_related("canary")
    for place in places.order_by("position"):
        one = place.canary
        said = CanarySaid.model_construct(name=one.name, messages=one.messages, max_tokens=one.max_tokens)
        canaries.setdefault(place.suite_id, []).append(said)
    monitors = Monitor.objects.filter(endpoint__in=now.endpoints.values()).select_related("endpoint", "suite")
    for monitor in monitors.order_by("endpoint__name", "suite__name", "active"):
        if monitor.suite_id == now.suites[monitor.suite.name].pk:
            now.monitors[f"{monitor.endpoint.name} × {monitor.suite.name}"] = monitor
    now.channels = {row.name: row for row in Channel.objects.filter(team=team).order_by("name")}
    now.rules = AlertRules.objects.filter(team=team).first()
    now.document = Document.model_construct(
        endpoints=[_endpoint(row) for row in now.endpoints.values()],
        suites=[
            SuiteSaid.model_construct(
                name=row.name, retention_days=row.retention_days, canaries=canaries.get(row.pk, [])
            )
            for row in now.suites.values()
        ],
        monitors=[_monitor(row) for row in now.monitors.values()],
        channels=[_channel(row) for row in now.channels.values()],
        rules=_rules(now.rules) if now.rules else None,
    )
    return now


def _endpoint(row: Endpoint) -> EndpointSaid:
    fields = {name: getattr(row, name) for name in EndpointSaid.model_fields if name not in ("api_key", "parameters")}
    for price in ("price_in", "price_out"):
        if fields[price] is not None:
            fields[price] = Decimal(f"{fields[price].normalize():f}")
    key = Reference.named(row.name, "api_key") if len(row.api_key) else None
    return EndpointSaid.model_construct(**fields, api_key=key, parameters=row.wished_parameters)


def _monitor(row: Monitor) -> MonitorSaid:
    names = ("cadence_s", "repeats", "concurrency", "tokens_per_day", "active")
    return MonitorSaid.model_construct(
        endpoint=row.endpoint.name, suite=row.suite.name, **{name: getattr(row, name) for name in names}
    )


def _channel(row: Channel) -> ChannelSaid:
    secret = ("address", "signing_secret")
    fields = {name: getattr(row, name) for name in ChannelSaid.model_fields if name not in secret}
    by_mail = row.kind == Channel.Kind.EMAIL
    address = Reference(row.address.reveal()) if by_mail else Reference.named(row.name, "address")
    signing = Reference.named(row.name, "signing_secret") if len(row.signing_secret) else None
    return ChannelSaid.model_construct(**fields, address=address, signing_secret=signing)


def _rules(row: AlertRules) -> RulesSaid:
    return RulesSaid.model_construct(**{name: getattr(row, name) for name in RulesSaid.model_fields})
