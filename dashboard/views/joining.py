"""The page behind an invitation's link: join with the account one has, or make one."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from dashboard.access import person_of
from dashboard.team_forms import NewAccountForm
from drift import teams
from drift.audit import acting
from drift.entered import EntryError
from drift.models import Invitation, User


@login_not_required
@never_cache
def show(request: HttpRequest, signature: str) -> HttpResponse:
    invitation = teams.invitation_behind(signature, timezone.now())
    if invitation is None:
        return render(request, "dashboard/team/no_invitation.html", status=404)
    request.session["invitation"] = signature
    if request.user.is_authenticated:
        return _as_member(request, invitation)
    taken = User.objects.filter(email__iexact=invitation.email).exists()
    form = None if taken else NewAccountForm(request.POST or None)
    if form is not None and request.method == "POST" and form.is_valid():
        with acting(name=form.cleaned_data["username"], via="page"):
            user = User.objects.create_user(
                form.cleaned_data["username"], invitation.email, form.cleaned_data["password"]
            )
            return _join(request, invitation, user, fresh=True)
    context = {"invitation": invitation, "form": form}
    return render(request, "dashboard/team/join.html", context, status=400 if form is not None and form.errors else 200)


def _as_member(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    if request.method == "POST":
        return _join(request, invitation, person_of(request), fresh=False)
    return render(request, "dashboard/team/join.html", {"invitation": invitation, "form": None})


def _join(request: HttpRequest, invitation: Invitation, user: User, *, fresh: bool) -> HttpResponse:
    try:
        teams.accept(invitation, user, timezone.now())
    except EntryError as error:
        messages.error(request, str(error))
        return redirect("overview")
    if fresh:
        login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    request.session.pop("invitation", None)
    request.session["team"] = str(invitation.team.public_id)
    messages.success(request, _("Welcome to %(team)s.") % {"team": invitation.team.name})
    return redirect("overview")
