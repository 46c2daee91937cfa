"""A person's own page: address and time zone, ways of signing in, sessions."""

from __future__ import annotations

from uuid import UUID

from allauth.mfa.utils import is_mfa_enabled
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dashboard.access import person_of
from dashboard.team_forms import ProfileForm
from drift.models import User


def show(request: HttpRequest) -> HttpResponse:
    own = person_of(request)
    form = ProfileForm(request.POST or None, instance=own)
    if request.method == "POST" and form.is_valid():
        saved = form.save()
        translation.activate(saved.language or translation.get_language_from_request(request))
        messages.success(request, _("Saved."))
        response = redirect("you")
        if not saved.language:
            response.delete_cookie(settings.LANGUAGE_COOKIE_NAME)  # what the switch left would speak for the browser
        return response
    person = User.objects.get(pk=own.pk)
    context = {
        "form": form,
        "person": person,
        "second_factor": is_mfa_enabled(person),
        "sessions": [(handle(one), one) for one in _sessions(request)],
    }
    return render(request, "dashboard/you/page.html", context, status=400 if form.errors else 200)


@require_POST
def end_session(request: HttpRequest, session: UUID) -> HttpResponse:
    """Signs out one of the person's own sessions, wherever it is."""
    found = next((one for one in _sessions(request) if handle(one) == session), None)
    if found is None:
        raise Http404(_("There is no such session of yours."))
    here = found.is_current()
    found.end()
    if here:
        return redirect("login")
    messages.success(request, _("That session is signed out."))
    return redirect("you")


def handle(session: UserSession) -> UUID:
    """A public id of a session: neither its number nor its key."""
    return UUID(salted_hmac("tidegauge.session", session.session_key, algorithm="sha256").hexdigest()[:32])


def _sessions(request: HttpRequest) -> list[UserSession]:
    own: list[UserSession] = UserSession.objects.purge_and_list(request.user)
    return sorted(own, key=lambda one: one.last_seen_at, reverse=True)
