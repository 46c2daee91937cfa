"""What is found because nothing came: endpoints that rest after failures, and monitors whose runs do not finish."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import OuterRef, Q, Subquery
from django.utils.translation import gettext_noop

from drift import incidents
from drift.findings.kinds import Kind
from drift.findings.service_rules import IN_A_ROW
from drift.models import Endpoint, Finding, Heartbeat, Monitor, Run
from drift.models.endpoint import Circuit
from drift.said import Said, in_facts, said
from drift.schedule import STILL_GOING

RESTS = timedelta(minutes=10)  # a circuit open for so long is an outage even if no run could be made
EVERY = timedelta(seconds=30)
MISSED_SLOTS = 3
SHORTEST_SILENCE = timedelta(minutes=15)
OUTAGE = (Kind.OUTAGE, Kind.RETIRED)


def look(now: datetime) -> int:
    """Findings about what is missing and about what came back, twice a minute at most. Returns how many."""
    Heartbeat.objects.get_or_create(part="absence", defaults={"beat_at": now - EVERY})
    if not Heartbeat.objects.filter(part="absence", beat_at__lte=now - EVERY).update(beat_at=now):
        return 0
    number = 0
    for endpoint, kind, began, facts in (*_resting(now), *_answering(now), *_silent(now), *_heard_again(now)):
        with transaction.atomic():
            # whoever holds the endpoint's row decides; a second tick then sees the finding of the first
            if Endpoint.objects.select_for_update(skip_locked=True).filter(pk=endpoint.pk).first() is None:
                continue
            if _last(endpoint, kind):
                continue
            finding = Finding(
                team_id=endpoint.team_id,
                endpoint=endpoint,
                kind=kind,
                severity=kind.severity,
                began_at=began,
                found_at=now,
                facts=facts,
            )
            incidents.file([finding], now)
            number += 1
    return number


def _last(endpoint: Endpoint, kind: Kind) -> bool:
    """Whether the latest finding of this matter says so already."""
    matters = {
        Kind.OUTAGE: (*OUTAGE, Kind.RECOVERY),
        Kind.RECOVERY: (*OUTAGE, Kind.RECOVERY),
        Kind.NO_DATA: (Kind.NO_DATA, Kind.DATA_AGAIN),
        Kind.DATA_AGAIN: (Kind.NO_DATA, Kind.DATA_AGAIN),
    }[kind]
    latest = Finding.objects.filter(endpoint=endpoint, kind__in=matters).order_by("-found_at", "-pk").first()
    if latest is None:
        return kind in (Kind.DATA_AGAIN, Kind.RECOVERY)
    return latest.kind == kind or (kind is Kind.OUTAGE and latest.kind in OUTAGE)


def _resting(now: datetime) -> list[tuple[Endpoint, Kind, datetime, dict[str, Any]]]:
    """Endpoints that are not asked because they failed too often, for `RESTS` at least."""
    finished = (
        Run.objects.filter(monitor__endpoint=OuterRef("pk"), state=Run.State.FINISHED, samples_comparable__gt=0)
        .order_by("-finished_at")
        .values("finished_at")[:1]
    )
    rows = Endpoint.objects.filter(circuit=Circuit.OPEN, archived_at=None, monitors__active=True).annotate(
        last_answer=Subquery(finished)
    )
    return [
        (row, Kind.OUTAGE, row.last_answer, {"why": in_facts(row.rest_reason or _failures(row))})
        for row in rows.distinct()
        if row.last_answer is not None and now - row.last_answer > RESTS
    ]


def _failures(endpoint: Endpoint) -> Said:
    return said(gettext_noop("{number} failures in a row"), number=endpoint.failures_in_a_row)


def _answering(now: datetime) -> list[tuple[Endpoint, Kind, datetime, dict[str, Any]]]:
    """Endpoints that were found down here, and not by one of their series, and that have answered two runs since."""
    told = Finding.objects.filter(kind=Kind.OUTAGE, series=None, incident__state__in=incidents.UNRESOLVED)
    back = []
    for finding in told.select_related("endpoint"):
        answered = Run.objects.filter(
            monitor__endpoint=finding.endpoint_id,
            state=Run.State.FINISHED,
            samples_comparable__gt=0,
            finished_at__gt=finding.found_at,
        )
        if finding.endpoint.circuit == Circuit.CLOSED and answered.count() >= IN_A_ROW:
            facts = {"was": finding.kind, "down_for": in_facts(now - finding.began_at)}
            back.append((finding.endpoint, Kind.RECOVERY, now, facts))
    return back


def _silent(now: datetime) -> list[tuple[Endpoint, Kind, datetime, dict[str, Any]]]:
    """Endpoints of which a run should have finished three slots ago, though they are not known to be down."""
    silent: dict[int, tuple[Endpoint, Kind, datetime, dict[str, Any]]] = {}
    for monitor in _with_last_run():
        last = monitor.last_finished or monitor.created_at  # type: ignore[attr-defined]
        if monitor.endpoint.circuit != Circuit.CLOSED or now - last <= _patience(monitor):
            continue
        # slots that were given up on purpose (budget, pause, our own standstill) are no silence
        waited_for = (
            Run.objects.filter(monitor=monitor, scheduled_for__gt=last)
            .filter(~Q(state=Run.State.SKIPPED) | Q(problem__in=[said(STILL_GOING), STILL_GOING]))
            .order_by("scheduled_for")
            .first()
        )
        if waited_for is None or now - waited_for.scheduled_for <= _patience(monitor):
            continue
        why = monitor.last_problem or said(gettext_noop("no worker took its runs"))  # type: ignore[attr-defined]
        why = why if isinstance(why, Said) else why[:300].rstrip(".")
        silent[monitor.endpoint_id] = (monitor.endpoint, Kind.NO_DATA, last, {"why": in_facts(why)})
    return list(silent.values())


def _heard_again(now: datetime) -> list[tuple[Endpoint, Kind, datetime, dict[str, Any]]]:
    """Endpoints that were found silent and whose monitors all finish runs again, or rest."""
    told = Finding.objects.filter(kind=Kind.NO_DATA, incident__state__in=incidents.UNRESOLVED).values_list(
        "endpoint_id", flat=True
    )
    ids = set(told)
    if not ids:
        return []
    still = {endpoint.pk for endpoint, *_ in _silent(now)}
    rows = Endpoint.objects.filter(pk__in=ids - still)
    return [(row, Kind.DATA_AGAIN, now, {}) for row in rows]


def _with_last_run() -> list[Monitor]:
    ended = Run.objects.filter(monitor=OuterRef("pk"), state=Run.State.FINISHED).order_by("-finished_at")
    troubled = Run.objects.filter(~Q(problem=""), monitor=OuterRef("pk")).order_by("-scheduled_for")
    return list(
        Monitor.objects.filter(active=True, endpoint__archived_at=None)
        .select_related("endpoint")
        .annotate(
            last_finished=Subquery(ended.values("finished_at")[:1]),
            last_problem=Subquery(troubled.values("problem")[:1]),
        )
    )


def _patience(monitor: Monitor) -> timedelta:
    return max(MISSED_SLOTS * timedelta(seconds=monitor.cadence_s), SHORTEST_SILENCE)
