"""Where alerts go: adding, changing, testing and disabling channels; the false-alarm budget; fire drills."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_POST

from dashboard.access import find, may_edit, require_editor, team_of, team_rows
from dashboard.alert_forms import BudgetForm, ChannelForm
from dashboard.views.endpoint_forms import person
from drift import alerts, deliveries, drills
from drift.findings.budgets import STATISTICS, budget_of, in_words
from drift.models import AlertRules, Channel, Delivery, Drill, Monitor
from drift.said import said

RECENT = 20


def index(request: HttpRequest) -> HttpResponse:
    team = team_of(request)
    rules = AlertRules.objects.filter(team=team).first() or AlertRules(team=team)
    posted = request.method == "POST"
    if posted:
        require_editor(request)
    form = BudgetForm(request.POST if posted else None, instance=rules)
    if posted and form.is_valid():
        form.save()
        messages.success(
            request,
            gettext("The budget is {budget}, over all endpoints together.").format(budget=in_words(budget_of(team))),
        )
        return redirect("channels")
    context = {
        "channels": team_rows(request, Channel).order_by("disabled_at", "name"),
        "kinds": Channel.Kind.choices,
        "deliveries": latest(team_rows(request, Delivery).select_related("channel")),
        "budget": in_words(budget_of(team)),
        "form": form,
        "watched": Monitor.objects.filter(endpoint__team=team, active=True).count() * STATISTICS,
        "mail_ready": bool(settings.EMAIL_HOST),
        "drills": team_rows(request, Drill).order_by("-requested_at")[:3],
        "can_edit": may_edit(request),
    }
    return render(request, "dashboard/channels/index.html", context, status=400 if form.errors else 200)


def add(request: HttpRequest) -> HttpResponse:
    require_editor(request)
    kind = request.GET.get("kind", "")
    if kind not in Channel.Kind.values:
        raise Http404(gettext("Choose e-mail, Slack or webhook."))
    form = ChannelForm(request.POST or None, kind=kind, team=team_of(request))
    if request.method == "POST" and form.is_valid():
        channel = form.save()
        alerts.write_test(channel, timezone.now())
        messages.success(request, gettext("{name} is set up. A test message is on its way.").format(name=channel.name))
        return redirect("channel", channel.public_id)
    context = {"form": form, "kind": Channel.Kind(kind).label}
    return render(request, "dashboard/channels/form.html", context, status=400 if form.errors else 200)


def show(request: HttpRequest, channel: UUID) -> HttpResponse:
    found = find(request, Channel, channel)
    context = {
        "channel": found,
        "deliveries": latest(found.deliveries.all()),
        "can_edit": may_edit(request),
        "waiting": found.deliveries.filter(state__in=[Delivery.State.DUE, Delivery.State.SENDING]).exists(),
        "mail_ready": bool(settings.EMAIL_HOST),
    }
    return render(request, "dashboard/channels/page.html", context)


def edit(request: HttpRequest, channel: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Channel, channel)
    form = ChannelForm(request.POST or None, instance=found, kind=found.kind, team=found.team)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, gettext("Saved. Send a test to be sure."))
        return redirect("channel", found.public_id)
    context = {
        "form": form,
        "channel": found,
        "kind": found.get_kind_display(),
        "mail_ready": bool(settings.EMAIL_HOST),
    }
    return render(request, "dashboard/channels/form.html", context, status=400 if form.errors else 200)


def latest(rows: QuerySet[Delivery]) -> QuerySet[Delivery]:
    return rows.select_related("incident", "fallback_for").order_by("-created_at")[:RECENT]


@require_POST
def test(request: HttpRequest, channel: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Channel, channel)
    alerts.write_test(found, timezone.now())
    messages.success(request, gettext("A test message is on its way; what came of it appears below."))
    return redirect("channel", found.public_id)


@require_POST
def disable(request: HttpRequest, channel: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Channel, channel)
    deliveries.disable(found, said(gettext_noop("switched off by {name}"), name=str(request.user)), timezone.now())
    return redirect("channel", found.public_id)


@require_POST
def enable(request: HttpRequest, channel: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, Channel, channel)
    deliveries.enable(found, timezone.now())
    messages.success(request, gettext("{name} is used again.").format(name=found.name))
    return redirect("channel", found.public_id)


@require_POST
def start_drill(request: HttpRequest) -> HttpResponse:
    require_editor(request)
    drill = drills.ask(team_of(request), person(request), timezone.now())
    return redirect("drill", drill.public_id)


def show_drill(request: HttpRequest, drill: UUID) -> HttpResponse:
    found = find(request, Drill, drill)
    return render(request, "dashboard/channels/drill.html", {"drill": found, "live": found.state in drills.OPEN})
