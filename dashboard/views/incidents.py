"""Incidents, what people do with them, silences, and the feed of everything that happened."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django.views.decorators.http import require_POST

from dashboard.access import find, may_edit, require_editor, team_of, team_rows
from dashboard.alert_forms import AcknowledgeForm, NoteForm, ResolveForm, SilenceForm
from dashboard.links import back_to, with_query
from dashboard.views.endpoint_forms import person
from drift import alerts, incidents, silences
from drift.cards import Card, card, cards, mark_of
from drift.findings.kinds import Kind
from drift.findings.words import label, sentence, sureness
from drift.messages import window_query
from drift.models import Event, Finding, Incident, Silence
from drift.said import said
from drift.voided import evals_on

PAGE = 50
FEED_KINDS = (
    ("", gettext_lazy("everything")),
    ("finding", gettext_lazy("findings")),
    ("baseline", gettext_lazy("baselines")),
    ("marked", gettext_lazy("marks")),
    ("note", gettext_lazy("notes")),
    ("silence", gettext_lazy("silences")),
    ("channel", gettext_lazy("channels")),
)


def index(request: HttpRequest) -> HttpResponse:
    show_all = request.GET.get("state") == "all"
    rows = team_rows(request, Incident)
    if not show_all:
        rows = rows.filter(state__in=incidents.UNRESOLVED)
    chosen = list(rows.order_by("-opened_at")[: PAGE * 2])
    context = {
        "cards": cards(chosen)
        if not show_all
        else sorted(cards(chosen), key=lambda c: c.incident.opened_at, reverse=True),
        "show_all": show_all,
        "links": {"open": with_query(request, state=None), "all": with_query(request, state="all")},
        "silences": silences.in_force(team_of(request), timezone.now()),
        "unreachable": alerts.without_a_channel(team_of(request)),
        "can_edit": may_edit(request),
    }
    return render(request, "dashboard/incidents/index.html", context)


def show(request: HttpRequest, incident: UUID) -> HttpResponse:
    found = find(request, Incident, incident)
    findings = list(
        found.findings.select_related("endpoint", "baseline__series__endpoint", "series", "run").order_by(
            "found_at", "pk"
        )
    )
    context: dict[str, Any] = {
        "incident": found,
        "mark": mark_of(found),
        "card": card(found, findings),
        "findings": [told(finding) for finding in findings],
        "example": example_of(findings),
        "void": [{"baseline": each, "evals": evals_on(each)} for each in card(found, findings).void],
        "endpoints": found.endpoints.order_by("name"),
        "events": found.events.select_related("actor").order_by("at", "pk"),
        "deliveries": found.deliveries.select_related("channel", "fallback_for").order_by("created_at", "pk"),
        "acknowledge": AcknowledgeForm(prefix="acknowledge"),
        "resolve": ResolveForm(prefix="resolve"),
        "note": NoteForm(),
        "can_edit": may_edit(request),
        "silenced": silences.over_all(found.endpoints.all(), timezone.now()),
    }
    return render(request, "dashboard/incidents/page.html", context)


def newest_first(each: Card) -> float:
    return -each.incident.opened_at.timestamp()


def told(finding: Finding) -> dict[str, Any]:
    """One finding as the page shows it."""
    facts = finding.facts
    return {
        "finding": finding,
        "title": Kind(finding.kind).headline,
        "text": sentence(finding.kind, finding.began_at, facts),
        "sure": sureness(finding.chance),
        "old": _labels(facts.get("old")),
        "new": _labels(facts.get("new")),
        "window": window_query(finding),
    }


def _labels(keys: Any) -> list[str]:
    return list(dict.fromkeys(label(key) for key in keys))[:4] if isinstance(keys, list) else []


def example_of(findings: list[Finding]) -> dict[str, Any] | None:
    """The clearest pair of answers, with the finding that holds it."""
    for finding in findings:
        if finding.facts.get("token") is not None and finding.facts.get("canary"):
            return {**finding.facts, "endpoint": finding.endpoint, "series": finding.series}
    return None


@require_POST
def acknowledge(request: HttpRequest, incident: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Incident, incident)
    form = AcknowledgeForm(request.POST, prefix="acknowledge")
    if found.state != Incident.State.RESOLVED and form.is_valid():
        now = timezone.now()
        hours = form.cleaned_data["hours"]
        until = now + timedelta(hours=int(hours)) if hours else None
        incidents.acknowledge(found, person(request), form.cleaned_data["why"], until, now)
        messages.success(request, gettext("Acknowledged. No reminders meanwhile; it stays in sight."))
    return redirect(back_to(request, f"/incidents/{found.public_id}/"))


@require_POST
def resolve(request: HttpRequest, incident: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Incident, incident)
    form = ResolveForm(request.POST, prefix="resolve")
    if found.state != Incident.State.RESOLVED and form.is_valid():
        incidents.resolve(
            found, person(request), form.cleaned_data["resolution"] or said(gettext_noop("by hand")), timezone.now()
        )
        messages.success(request, gettext("Resolved. The channels that were told are told."))
    return redirect(back_to(request, f"/incidents/{found.public_id}/"))


@require_POST
def reopen(request: HttpRequest, incident: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Incident, incident)
    if found.state != Incident.State.OPEN:
        incidents.reopen(found, person(request), said(gettext_noop("Opened again by hand.")), timezone.now())
    return redirect("incident", found.public_id)


@require_POST
def note(request: HttpRequest, incident: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Incident, incident)
    form = NoteForm(request.POST)
    if form.is_valid():
        incidents.note(found, person(request), form.cleaned_data["text"], timezone.now())
    return redirect("incident", found.public_id)


def feed(request: HttpRequest) -> HttpResponse:
    kind = request.GET.get("kind", "")
    rows = team_rows(request, Event).select_related("endpoint", "incident", "actor").order_by("-at", "-pk")
    if kind in Event.Kind.values:
        rows = rows.filter(kind=kind)
    before = request.GET.get("before", "")
    if before.isdecimal():
        rows = rows.filter(pk__lt=int(before))
    events = list(rows[: PAGE + 1])
    more = events[PAGE - 1].pk if len(events) > PAGE else None
    context = {
        "events": events[:PAGE],
        "kinds": [{"label": words, "url": with_query(request, kind=name or None, before=None), "current": name == kind}
                  for name, words in FEED_KINDS],
        "more": with_query(request, before=more) if more else "",
        "can_edit": may_edit(request),
    }  # fmt: skip
    return render(request, "dashboard/incidents/feed.html", context)


def quiet(request: HttpRequest) -> HttpResponse:
    """Silences and maintenance windows: the list, and a new one."""
    team = team_of(request)
    now = timezone.now()
    posted = request.method == "POST"
    if posted:
        require_editor(request)
    initial = {"covers": f"endpoint:{request.GET['endpoint']}"} if request.GET.get("endpoint") else {}
    form = SilenceForm(request.POST if posted else None, team=team, initial=initial)
    if posted and form.is_valid():
        row = silences.silence(
            team,
            person(request),
            starts_at=form.cleaned_data["starts_at"] or now,
            ends_at=form.cleaned_data["ends_at"],
            reason=form.cleaned_data["reason"],
            every_week=form.cleaned_data["every_week"],
            now=now,
            **form.chosen(),
        )
        messages.success(
            request,
            gettext("No alerts about {covers} in that time. Measuring goes on.").format(covers=silences.covers(row)),
        )
        return redirect("silences")
    rows = team_rows(request, Silence).select_related("endpoint", "created_by").order_by("-starts_at")[:PAGE]
    context = {
        "form": form,
        "silences": [{"row": row, "covers": silences.covers(row), "holds": silences.holds(row, now),
                      "ahead": row.ended_at is None and (row.starts_at > now or row.every_week)} for row in rows],
        "can_edit": may_edit(request),
    }  # fmt: skip
    return render(request, "dashboard/incidents/silences.html", context, status=400 if form.errors else 200)


@require_POST
def end_silence(request: HttpRequest, silence: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Silence, silence)
    silences.end(found, person(request), timezone.now())
    messages.success(request, gettext("Ended. What is still open will be told now."))
    return redirect("silences")
