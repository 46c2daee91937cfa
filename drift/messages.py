"""What an alert says: what changed, since when, how sure, what it voids, before and after, and what to do.

A message is plain data, rendered once and kept on its delivery; transports only lay it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext

from drift import figures
from drift.findings.kinds import Kind, Severity
from drift.findings.words import at, label, sentence, sureness
from drift.models import Baseline, Channel, Delivery, Endpoint, Finding, Incident
from drift.said import say
from drift.voided import evals_on, in_words

ADVICE = {
    Kind.NEW_IDENTITY: gettext_noop("Do not compare with results from before; run evals that matter again."),
    Kind.IDENTITY_RETURNED: gettext_noop("Compare only results taken under the same identity."),
    Kind.MODEL_ECHO: gettext_noop(
        "Another model serves this name: pin the dated one if there is one, and run evals again."
    ),
    Kind.ROUTING: gettext_noop(
        "Pin the provider in the request if the router allows it; figures of two providers do not compare."
    ),
    Kind.PROMPT_TOKENS: gettext_noop("The same prompt reaches the model in another form: run evals again."),
    Kind.SILENT_CHANGE: gettext_noop(
        "Nothing the provider says gives it away: ask them, and run evals that matter again."
    ),
    Kind.FORMATTING: gettext_noop("Exact-match graders and cached answers break; others should not."),
    Kind.MIX_SHIFT: gettext_noop("Wait for the verdict on the answers, or silence it if the provider said so."),
    Kind.LOGPROBS: gettext_noop("Answers may follow: hold back evals that need an exact baseline."),
    Kind.CACHED: gettext_noop(
        "Switch the cache off for probes (Cache-Control: no-cache); until then figures say nothing."
    ),
    Kind.OUTAGE: gettext_noop("Evals of this time are incomplete. Nothing was concluded about the model."),
    Kind.RETIRED: gettext_noop("Choose another model: this name no longer exists at the provider."),
    Kind.NO_DATA: gettext_noop("Look at the workers: probes are scheduled and do not come back."),
    Kind.FINGERPRINT_KEY: gettext_noop("Nothing to do. The provider gives its fingerprint otherwise."),
    Kind.CAPABILITY: gettext_noop("See what the endpoint accepts now, and whether your own requests still hold."),
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
    """What this delivery says, in the language of its channel."""
    with translation.override(delivery.channel.language):
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
    title = _title(delivery, incident)
    text = [_sentence(finding, len(endpoints) > 1) for finding in _told(findings)]
    if delivery.kind == Delivery.Kind.REMINDER:
        still = gettext("This is still so, {duration} after it began.")
        text.insert(0, still.format(duration=figures.duration(now - incident.began_at)))
    if incident.state == Incident.State.RESOLVED:
        over = gettext("Resolved {time}. {resolution}")
        text.insert(0, over.format(time=at(incident.resolved_at or now), resolution=say(incident.resolution)))
    if incident.state == Incident.State.ACKNOWLEDGED and incident.acknowledged_by is not None:
        by = incident.acknowledged_by.get_username()
        text.append(
            gettext("Acknowledged by {name}: “{why}”.").format(name=by, why=incident.acknowledged_why)
            if incident.acknowledged_why
            else gettext("Acknowledged by {name}.").format(name=by)
        )
    fallback = delivery.fallback_for
    if fallback is not None:
        text.append(
            gettext("Sent here because {name} could not be used: {problem}").format(
                name=fallback.channel.name, problem=say(fallback.problem)
            )
        )
    known = lead is not None and Kind(lead.kind) in ADVICE and incident.state != Incident.State.RESOLVED
    return {
        "kind": str(delivery.kind),
        "severity": incident.severity,
        "severity_word": Severity(incident.severity).word,
        "simulated": incident.simulated,
        "subject": _subject(title, incident),
        "title": title,
        "text": text,
        "since": incident.began_at.isoformat(),
        "sure": sureness(lead.chance) if lead else "",
        "voids": _voids(findings),
        "before": _names(findings, "old"),
        "after": _names(findings, "new"),
        "example": _example(findings),
        "advice": gettext(ADVICE[Kind(lead.kind)]) if known and lead else "",
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
    if not several:
        return text
    return gettext("{name}: {sentence}").format(name=finding.endpoint.name, sentence=text)


def _title(delivery: Delivery, incident: Incident) -> str:
    pattern = {
        Delivery.Kind.REMINDER: gettext_lazy("Still: {title}"),
        Delivery.Kind.RESOLVED: gettext_lazy("Over: {title}"),
        Delivery.Kind.UPDATE: gettext_lazy("More on {title}"),
    }.get(Delivery.Kind(delivery.kind))
    if delivery.kind == Delivery.Kind.ALERT and incident.state == Incident.State.RESOLVED:
        pattern = gettext_lazy("Over already: {title}")
    title = say(incident.title)
    return title if pattern is None else str(pattern).format(title=title)


def _subject(title: str, incident: Incident) -> str:
    marked = gettext("[simulated] {title}").format(title=title) if incident.simulated else title
    return marked.replace("\n", " ").replace("\r", " ")[:180]


def _voids(findings: Sequence[Finding]) -> str:
    """Which baselines no longer hold, and that new ones are being taken."""
    void: dict[int, Baseline] = {
        finding.baseline.pk: finding.baseline for finding in findings if finding.voids and finding.baseline is not None
    }
    if not void:
        return ""
    names = figures.listed(
        gettext("“{name}”").format(name=baseline.name)
        if baseline.name
        else gettext("of {date}").format(date=at(baseline.since))
        for baseline in list(void.values())[:5]
    )
    used = in_words([run for baseline in void.values() for run in evals_on(baseline)])
    said = ngettext(
        "Baseline {names} no longer holds. A new one is being taken.",
        "{number} baselines: {names} no longer hold. A new one is being taken.",
        len(void),
    ).format(number=len(void), names=names)
    return gettext("{text} Evals that relied on it: {names}.").format(text=said, names=used) if used else said


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
    links = [{"label": gettext("See what changed"), "url": absolute("incident", incident.public_id)}]
    if lead is not None:
        links.append({"label": gettext("The figures around that time"), "url": window_url(lead.endpoint, lead)})
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
        "subject": gettext("Tidegauge can reach you here"),
        "title": gettext("Tidegauge can reach you here"),
        "text": [gettext("This is a test of the channel {name}. Nothing changed.").format(name=delivery.channel.name)],
        "links": [{"label": gettext("Channels"), "url": absolute("channels")}],
    }


def _summary(channel: Channel, now: datetime) -> dict[str, Any]:
    """The week behind us: what changed, what stayed, what is open."""
    since = now - timedelta(days=7)
    team = channel.team
    happened = Incident.objects.filter(team=team, opened_at__gte=since, simulated=False).order_by("opened_at")
    still = Incident.objects.filter(team=team, simulated=False).exclude(state=Incident.State.RESOLVED)
    endpoints = Endpoint.objects.filter(team=team, archived_at=None, simulated=False)
    valid = Baseline.objects.filter(series__endpoint__in=endpoints, state=Baseline.State.VALID)
    text = [
        gettext("{time}: {title} ({state})").format(
            time=at(each.opened_at), title=each.title, state=each.get_state_display().lower()
        )
        for each in happened[:20]
    ]
    watched = endpoints.filter(monitors__active=True).distinct().count()
    changed = happened.count()
    title = (
        gettext("This week: {incidents}, {endpoints} watched")
        if changed
        else gettext("A quiet week: nothing changed at {endpoints}")
    ).format(incidents=figures.plural(changed, "incident"), endpoints=figures.plural(watched, "endpoint"))
    text.append(
        gettext("{baselines} valid; {incidents} open.").format(
            baselines=figures.plural(valid.count(), "baseline"), incidents=figures.plural(still.count(), "incident")
        )
    )
    return {
        "kind": "summary",
        "severity": Severity.LOW,
        "severity_word": Severity.LOW.word,
        "simulated": False,
        "subject": title,
        "title": title,
        "text": text,
        "links": [
            {"label": gettext("Overview"), "url": absolute("overview")},
            {"label": gettext("Incidents"), "url": absolute("incidents")},
        ],
    }
