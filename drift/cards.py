"""Incidents as people read them: what happened in a sentence or two, how sure, who looks after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from drift.findings.kinds import Family, Kind, Severity
from drift.findings.words import sentence, sureness
from drift.models import Baseline, Finding, Incident

FOLLOWING = (Kind.BEHAVIOURAL, Kind.COSMETIC)


@dataclass(frozen=True, slots=True)
class Mark:
    """Shape, word and colour of an incident, as a page draws them."""

    key: str
    word: str


@dataclass(frozen=True, slots=True)
class Card:
    incident: Incident
    mark: Mark
    text: str
    sure: str
    void: tuple[Baseline, ...]
    simulated: bool
    findings: tuple[Finding, ...] = ()

    @property
    def endpoints(self) -> frozenset[int]:
        """Ids of the endpoints that its findings are about."""
        return frozenset(finding.endpoint_id for finding in self.findings)

    @property
    def void_of(self) -> tuple[tuple[Baseline, int], ...]:
        """The baselines that it voided, each with its endpoint's id."""
        return tuple((f.baseline, f.endpoint_id) for f in self.findings if f.voids and f.baseline is not None)

    @property
    def acknowledged(self) -> bool:
        return self.incident.state == Incident.State.ACKNOWLEDGED


def mark_of(incident: Incident) -> Mark:
    """A resolved incident is quiet whatever it was."""
    if incident.state == Incident.State.RESOLVED:
        return Mark("stable", gettext("Resolved"))
    if incident.family == Family.OUTAGE:
        return Mark("down", gettext("Down"))
    if incident.family == Family.DATA:
        return Mark("no-data", gettext("No data"))
    if incident.severity == Severity.HIGH:
        return Mark("changed", gettext("Changed"))
    return Mark("watching", gettext("Watching"))


def card(incident: Incident, findings: Sequence[Finding]) -> Card:
    """`findings` of the incident, the oldest first, with their baselines."""
    leading = max(findings, key=lambda f: (Severity(f.severity).rank, Kind(f.kind).opens), default=None)
    told = [leading] if leading is not None else []
    told += [f for f in findings if Kind(f.kind) in FOLLOWING and f is not leading][-1:]
    void = {f.baseline.pk: f.baseline for f in findings if f.voids and f.baseline is not None}
    return Card(
        incident,
        mark_of(incident),
        " ".join(sentence(f.kind, f.began_at, f.facts) for f in told),
        sureness(min((f.chance for f in told if f.chance is not None), default=None)),
        tuple(void.values()),
        incident.simulated,
        tuple(findings),
    )


def _most_pressing(incident: Incident) -> tuple[bool, int, float]:
    """What nobody looks after first, then the gravest, then the newest."""
    looked_after = incident.state != Incident.State.OPEN
    return looked_after, -Severity(incident.severity).rank, -incident.opened_at.timestamp()


def cards(incidents: Iterable[Incident]) -> list[Card]:
    """Cards of several incidents in one query, the most pressing first."""
    chosen = sorted(incidents, key=_most_pressing)
    findings: dict[int, list[Finding]] = {each.pk: [] for each in chosen}
    rows = Finding.objects.filter(incident__in=findings).select_related("baseline").order_by("found_at", "pk")
    for row in rows:
        if row.incident_id is not None:
            findings[row.incident_id].append(row)
    return [card(each, findings[each.pk]) for each in chosen]
