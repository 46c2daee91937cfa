"""Tokens for programs and links for guests: made, shown once, revoked."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from dashboard.access import find, require_editor, team_of, team_rows
from dashboard.team_forms import LinkForm, TokenForm
from dashboard.views.endpoint_forms import person
from drift import tokens
from drift.models import ApiToken, AuditEntry, StatusLink

ENTRIES = 200


@never_cache
@require_POST
def add_token(request: HttpRequest) -> HttpResponse:
    """The answer shows the token's text: the only time that anyone sees it."""
    require_editor(request)
    form = TokenForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("A token needs a name of at most 80 characters, and what it may do."))
        return redirect("team")
    days = form.cleaned_data["days"]
    token, text = tokens.issue(
        team=team_of(request),
        user=person(request),
        name=form.cleaned_data["name"],
        scope=form.cleaned_data["scope"],
        expires_at=timezone.now() + timedelta(days=int(days)) if days else None,
    )
    return render(request, "dashboard/team/token.html", {"token": token, "text": text}, status=201)


@require_POST
def revoke_token(request: HttpRequest, token: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, ApiToken, token)
    tokens.revoke(found, timezone.now())
    messages.success(request, _("%(name)s is revoked: it opens nothing any more.") % {"name": found.name})
    return redirect("team")


@require_POST
def add_link(request: HttpRequest) -> HttpResponse:
    require_editor(request)
    form = LinkForm(request.POST)
    if form.is_valid():
        StatusLink.objects.create(team=team_of(request), name=form.cleaned_data["name"], created_by=person(request))
        messages.success(request, _("Whoever has the link sees the states of your endpoints, and nothing else."))
    else:
        messages.error(request, _("A link needs a name of at most 80 characters."))
    return redirect("team")


@require_POST
def revoke_link(request: HttpRequest, link: UUID) -> HttpResponse:
    require_editor(request)
    found = find(request, StatusLink, link)
    StatusLink.objects.filter(pk=found.pk).update(revoked_at=timezone.now())
    messages.success(request, _("The link for %(name)s shows nothing any more.") % {"name": found.name})
    return redirect("team")


def audit(request: HttpRequest) -> HttpResponse:
    entries = team_rows(request, AuditEntry).order_by("-at", "-id")[:ENTRIES]
    return render(request, "dashboard/team/audit.html", {"entries": entries, "most": ENTRIES})
