"""What an alert says: what changed, since when, how sure, what it voids, before and after, and what to do.

A message is plain data, rendered once and kept on its delivery; transports only lay it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings

from drift import figures
from drift.findings.kinds import Kind, Severity
from drift.findings.words import at, label, sentence, sureness
from drift.models import Baseline, Channel, Delivery, Endpoint, Finding, Incident
from drift.voided import evals_on, in_words

ADVICE = {
    Kind.NEW_IDENTITY: "Do not compare with results from before; run evals that matter again.",
    Kind.IDENTITY_RETURNED: "Compare only results taken under the same identity.",
    Kind.MODEL_ECHO: "Another model serves this name: pin the dated one if there is one, and run evals again.",
    Kind.ROUTING: "Pin the provider in the request if the router allows it; figures of two providers do not compare.",
    Kind.PROMPT_TOKENS: "The same prompt reaches the model in another form: run evals again.",
    Kind.SILENT_CHANGE: "Nothing the provider says gives it away: ask them, and run evals that matter again.",
    Kind.FORMATTING: "Exact-match graders and cached answers break; others should not.",
    Kind.MIX_SHIFT: "Wait for the verdict on the answers, or silence it if the provider said so.",
    Kind.LOGPROBS: "Answers may follow: hold back evals that need an exact baseline.",
    Kind.CACHED: "Switch the cache off for probes (Cache-Control: no-cache); until then figures say nothing.",
    Kind.OUTAGE: "Evals of this time are incomplete. Nothing was concluded about the model.",
    Kind.RETIRED: "Choose another model: this name no longer exists at the provider.",
    Kind.NO_DATA: "Look at the workers: probes are scheduled and do not come back.",
    Kind.FINGERPRINT_KEY: "Nothing to do. The provider gives its fingerprint otherwise.",
    Kind.CAPABILITY: "See what the endpoint accepts now, and whether your own requests still hold.",
}
# Where the pages are; a message must name them without knowing the code that shows them.
PAGES = {
    "overview": "/",
    "endpoint": "/endpoints/{}/",
    "incidents": "/incidents/",
    "incident": "/incidents/{}/",
    "channels": "/channels/",
}
DETAILS_FOR = (Kind.SILENT_CHANGE, Kind.BEHAVIOURAL, Kind.FORMATTING, Kind.NEW_IDENTITY, Kind.MODEL_ECHO, Kind.ROUTING)
MOST_ENDPOINTS = 10
SHORT = 40


def message_for(delivery: Delivery, now: datetime) -> dict[str, Any]:
    """What this delivery says."""
    if delivery.kind == Delivery.Kind.TEST:
        return _test(delivery)
    if delivery.kind == Delivery.Kind.SUMMARY or delivery.incident is None:
        return _summary(delivery.channel, now)
    return _of_incident(delivery, delivery.incident, now)


def _of_incident(delivery: Delivery, incident: Incident, now: datetime) -> dict[str, Any]:
    findings = list(
        incident.findings.select_related("endpoint", "baseline__series", "series").order_by("found_at", "pk")
    )
    endpoints = list(incident.endpoints.order_by("name"))
    lead = _leading(findings)
    prefix = {
        Delivery.Kind.REMINDER: "Still: ",
        Delivery.Kind.RESOLVED: "Over: ",
        Delivery.Kind.UPDATE: "More on ",
    }.get(Delivery.Kind(delivery.kind), "")
    if delivery.kind == Delivery.Kind.ALERT and incident.state == Incident.State.RESOLVED:
        prefix = "Over already: "
    text = [_sentence(finding, len(endpoints) > 1) for finding in _told(findings)]
    if delivery.kind == Delivery.Kind.REMINDER:
        text.insert(0, f"This is still so, {figures.duration(now - incident.began_at)} after it began.")
    if incident.state == Incident.State.RESOLVED:
        text.insert(0, f"Resolved {at(incident.resolved_at or now)}. {incident.resolution}")
    if incident.state == Incident.State.ACKNOWLEDGED and incident.acknowledged_by is not None:
        why = f": “{incident.acknowledged_why}”" if incident.acknowledged_why else ""
        text.append(f"Acknowledged by {incident.acknowledged_by.get_username()}{why}.")
    fallback = delivery.fallback_for
    if fallback is not None:
        text.append(f"Sent here because {fallback.channel.name} could not be used: {fallback.problem}")
    advice = ADVICE.get(Kind(lead.kind), "") if lead and incident.state != Incident.State.RESOLVED else ""
    return {
        "kind": str(delivery.kind),
        "severity": incident.severity,
        "severity_word": Severity(incident.severity).word,
        "simulated": incident.simulated,
        "subject": _subject(prefix, incident),
        "title": f"{prefix}{incident.title}",
        "text": text,
        "since": incident.began_at.isoformat(),
        "sure": sureness(lead.chance) if lead else "",
        "voids": _voids(findings),
        "before": _names(findings, "old"),
        "after": _names(findings, "new"),
        "example": _example(findings),
        "advice": advice,
        "endpoints": [_endpoint(endpoint) for endpoint in endpoints[:MOST_ENDPOINTS]],
        "more_endpoints": max(0, len(endpoints) - MOST_ENDPOINTS),
        "findings": [
            {
                "kind": finding.kind,
                "endpoint": str(finding.endpoint.public_id),
                "began_at": finding.began_at.isoformat(),
                "found_at": finding.found_at.isoformat(),
                "voids": finding.voids,
                "chance": finding.chance,
            }
            for finding in findings
        ],
        "links": _links(incident, lead, endpoints),
        "incident": str(incident.public_id),
        "state": incident.state,
    }


def _leading(findings: Sequence[Finding]) -> Finding | None:
    """The gravest finding, the first of equals."""

    def gravity(finding: Finding) -> tuple[int, bool, float]:
        return Severity(finding.severity).rank, Kind(finding.kind).opens, -finding.found_at.timestamp()

    return max(findings, key=gravity, default=None)


def _told(findings: Sequence[Finding]) -> list[Finding]:
    """One finding per endpoint and kind, the latest."""
    latest: dict[tuple[int, str], Finding] = {(finding.endpoint_id, finding.kind): finding for finding in findings}
    return list(latest.values())[: 2 * MOST_ENDPOINTS]


def _sentence(finding: Finding, several: bool) -> str:
    text = sentence(finding.kind, finding.began_at, finding.facts)
    return f"{finding.endpoint.name}: {text}" if several else text


def _subject(prefix: str, incident: Incident) -> str:
    mark = "[simulated] " if incident.simulated else ""
    return f"{mark}{prefix}{incident.title}".replace("\n", " ").replace("\r", " ")[:180]


def _voids(findings: Sequence[Finding]) -> str:
    """Which baselines no longer hold, and that new ones are being taken."""
    void: dict[int, Baseline] = {
        finding.baseline.pk: finding.baseline for finding in findings if finding.voids and finding.baseline is not None
    }
    if not void:
        return ""
    names = [
        f"“{baseline.name}”" if baseline.name else f"of {at(baseline.since)}" for baseline in list(void.values())[:5]
    ]
    word = "Baseline" if len(void) == 1 else f"{len(void)} baselines:"
    verb = "no longer holds" if len(void) == 1 else "no longer hold"
    used = in_words([run for baseline in void.values() for run in evals_on(baseline)])
    evals = f" Evals that relied on it: {used}." if used else ""
    return f"{word} {', '.join(names)} {verb}. A new one is being taken.{evals}"


def _names(findings: Sequence[Finding], side: str) -> list[str]:
    names = [label(key) for finding in findings for key in _keys(finding.facts.get(side))]
    return list(dict.fromkeys(names))[:4]


def _keys(value: Any) -> list[str]:
    return [key for key in value if isinstance(key, str) and key.startswith("[")] if isinstance(value, list) else []


def _example(findings: Sequence[Finding]) -> dict[str, Any]:
    """The clearest pair of answers, before and after, with the token at which they part."""
    for finding in findings:
        facts = finding.facts
        if finding.kind in DETAILS_FOR and facts.get("token") is not None:
            return {
                name: facts.get(name)
                for name in (
                    "canary", "token", "tokens_known", "shared", "old_token", "new_token", "old_rest", "new_rest",
                )
            }  # fmt: skip
    return {}


def _endpoint(endpoint: Endpoint) -> dict[str, str]:
    return {
        "name": endpoint.name,
        "provider": endpoint.provider,
        "model": endpoint.model,
        "id": str(endpoint.public_id),
        "url": absolute("endpoint", endpoint.public_id),
    }


def _links(incident: Incident, lead: Finding | None, endpoints: Sequence[Endpoint]) -> list[dict[str, str]]:
    links = [{"label": "See what changed", "url": absolute("incident", incident.public_id)}]
    if lead is not None:
        links.append({"label": "The figures around that time", "url": window_url(lead.endpoint, lead)})
    return links


def window_url(endpoint: Endpoint, finding: Finding) -> str:
    """The endpoint's page over exactly the time of the change."""
    return f"{absolute('endpoint', endpoint.public_id)}?{window_query(finding)}"


def window_query(finding: Finding) -> str:
    """The time of the change with some hours around it, as the endpoint's page takes it."""
    span = max(timedelta(hours=6), 2 * (finding.found_at - finding.began_at))
    query = {
        "from": (finding.began_at - span).isoformat(timespec="minutes"),
        "to": (finding.found_at + span / 2).isoformat(timespec="minutes"),
    }
    if finding.series is not None:
        query["series"] = str(finding.series.public_id)
    return urlencode(query)


def absolute(page: str, public_id: object = "") -> str:
    """The full address of a page, for people who are elsewhere."""
    return settings.SITE_URL + PAGES[page].format(public_id)


def _test(delivery: Delivery) -> dict[str, Any]:
    return {
        "kind": "test",
        "severity": Severity.LOW,
        "severity_word": Severity.LOW.word,
        "simulated": False,
        "subject": "Tidegauge can reach you here",
        "title": "Tidegauge can reach you here",
        "text": [f"This is a test of the channel {delivery.channel.name}. Nothing changed."],
        "links": [{"label": "Channels", "url": absolute("channels")}],
    }


def _summary(channel: Channel, now: datetime) -> dict[str, Any]:
    """The week behind us: what changed, what stayed, what is open."""
    since = now - timedelta(days=7)
    team = channel.team
    happened = Incident.objects.filter(team=team, opened_at__gte=since, simulated=False).order_by("opened_at")
    still = Incident.objects.filter(team=team, simulated=False).exclude(state=Incident.State.RESOLVED)
    endpoints = Endpoint.objects.filter(team=team, archived_at=None, simulated=False)
    valid = Baseline.objects.filter(series__endpoint__in=endpoints, state=Baseline.State.VALID)
    text = [f"{at(each.opened_at)}: {each.title} ({each.get_state_display().lower()})" for each in happened[:20]]
    watched = endpoints.filter(monitors__active=True).distinct().count()
    changed = happened.count()
    title = (
        f"This week: {figures.plural(changed, 'incident')}, {figures.plural(watched, 'endpoint')} watched"
        if changed
        else f"A quiet week: nothing changed at {figures.plural(watched, 'endpoint')}"
    )
    text.append(f"{figures.plural(valid.count(), 'baseline')} valid; {figures.plural(still.count(), 'incident')} open.")
    return {
        "kind": "summary",
        "severity": Severity.LOW,
        "severity_word": Severity.LOW.word,
        "simulated": False,
        "subject": title,
        "title": title,
        "text": text,
        "links": [
            {"label": "Overview", "url": absolute("overview")},
            {"label": "Incidents", "url": absolute("incidents")},
        ],
    }
