"""Figures for a Prometheus: the service's health, and each endpoint from its reading. Cheap: no sample is touched."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Count, Q, Sum
from prometheus_client.core import GaugeMetricFamily, Metric

from drift.models import Baseline, Delivery, Endpoint, Heartbeat, Incident, Monitor, ObservedBucket, Run, Team
from drift.overview import overview
from drift.states import State

LABELS = ("team", "endpoint", "provider", "model")
READING = {
    "divergence": ("tidegauge_divergence_ratio", "Share of answer pairs that differ, last 24 hours"),
    "divergence_low": ("tidegauge_divergence_low_ratio", "Lower end of its interval"),
    "divergence_high": ("tidegauge_divergence_high_ratio", "Upper end of its interval"),
    "total_agreement": ("tidegauge_total_agreement_ratio", "Share of groups of repeats that are all equal"),
    "comparable": ("tidegauge_comparable_answers", "Comparable answers, last 24 hours"),
    "samples": ("tidegauge_answers", "Answers of any kind, last 24 hours"),
    "horizon": ("tidegauge_horizon_tokens", "Longest answer that repeats with probability 0.95"),
    "latency_p50_ms": ("tidegauge_latency_median_milliseconds", "Median latency, last 24 hours"),
    "latency_p95_ms": ("tidegauge_latency_p95_milliseconds", "95th percentile of latency, last 24 hours"),
}


def metrics(teams: list[Team], now: datetime) -> Iterator[Metric]:
    """All of these teams' metrics. An unknown figure has no sample, never a zero."""
    yield from _service(now)
    states = GaugeMetricFamily("tidegauge_state", "1 for the endpoint's present state", labels=[*LABELS, "state"])
    figures = {name: GaugeMetricFamily(*what, labels=LABELS) for name, what in READING.items()}
    due = GaugeMetricFamily("tidegauge_last_answer_age_seconds", "Since the last finished run", labels=LABELS)
    for team in teams:
        for row in overview(team, now).rows:
            labels = (team.name, row.name, row.provider, row.model)
            for state in State:
                states.add_metric((*labels, state.value), float(row.state is state))
            if row.last_finished_at:
                due.add_metric(labels, (now - row.last_finished_at).total_seconds())
            for name, family in figures.items():
                value = getattr(row.reading, name) if row.reading else None
                if value is not None:
                    family.add_metric(labels, float(value))
    yield from (states, due, *figures.values())
    yield from _judgements(teams, now)


def _service(now: datetime) -> Iterator[Metric]:
    beats = GaugeMetricFamily("tidegauge_heartbeat_age_seconds", "Since each part last did its work", labels=["part"])
    for beat in Heartbeat.objects.all():
        beats.add_metric((beat.part,), (now - beat.beat_at).total_seconds())
    runs = Run.objects.filter(state__in=[Run.State.DUE, Run.State.RUNNING]).values_list("state").annotate(n=Count("pk"))
    waiting = GaugeMetricFamily("tidegauge_open_runs", "Runs that wait or are under way", labels=["state"])
    counts = {Run.State.DUE: 0, Run.State.RUNNING: 0, **dict(runs)}
    for state, number in counts.items():
        waiting.add_metric((str(state),), number)
    late = Monitor.objects.filter(active=True, next_due_at__lt=now - timedelta(minutes=1)).count()
    unsent = Delivery.objects.filter(state__in=[Delivery.State.DUE, Delivery.State.SENDING]).count()
    yield from (beats, waiting)
    yield GaugeMetricFamily("tidegauge_monitors_overdue", "Monitors whose slot passed a minute ago", value=late)
    yield GaugeMetricFamily("tidegauge_deliveries_waiting", "Alerts written and not sent yet", value=unsent)


def _judgements(teams: list[Team], now: datetime) -> Iterator[Metric]:
    valid = GaugeMetricFamily("tidegauge_baseline_valid", "1: some baseline is valid, 0: void or taken", labels=LABELS)
    rows = Endpoint.objects.filter(team__in=teams, archived_at=None, monitors__active=True).select_related("team")
    state = Q(series__baselines__state=Baseline.State.VALID)
    for row in rows.annotate(held=Count("series__baselines", filter=state, distinct=True)).distinct():
        valid.add_metric((row.team.name, row.name, row.provider, row.model), float(row.held > 0))
    open_ones = GaugeMetricFamily("tidegauge_incidents_open", "Incidents that are not resolved", labels=["team"])
    unresolved = Q(incidents__state__in=[Incident.State.OPEN, Incident.State.ACKNOWLEDGED])
    for team in Team.objects.filter(pk__in=[t.pk for t in teams]).annotate(n=Count("incidents", filter=unresolved)):
        open_ones.add_metric((team.name,), team.n)
    observed = GaugeMetricFamily(
        "tidegauge_observed_answers", "Answers that production reported, last hour", labels=LABELS
    )
    hour = ObservedBucket.objects.filter(endpoint__team__in=teams, starts_at__gte=now - timedelta(hours=1))
    fields = ("endpoint__team__name", "endpoint__name", "endpoint__provider", "endpoint__model")
    for *labels, number in hour.values_list(*fields).annotate(n=Sum("answers")):
        observed.add_metric(labels, number)
    yield from (valid, open_ones, observed)
