"""A team's people: members, roles, invitations; changing from one team to another, and leaving."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.core.mail import EmailMessage
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dashboard.access import find, membership_of, person_of, require_owner, team_of, team_rows
from dashboard.team_forms import InvitationForm, LinkForm, TeamForm, TokenForm
from drift import teams
from drift.entered import EntryError
from drift.models import ApiToken, Invitation, Membership, Role, StatusLink, Team
from drift.public import status_signature


def show(request: HttpRequest) -> HttpResponse:
    """People and invitations, tokens and links of the team that the person acts in."""
    return _page(request)


def _page(request: HttpRequest, status: int = 200, **forms: object) -> HttpResponse:
    own = membership_of(request)
    now = timezone.now()
    pending = team_rows(request, Invitation).filter(accepted_at=None, revoked_at=None, expires_at__gt=now)
    links = team_rows(request, StatusLink).filter(revoked_at=None)
    edits = own.role != Role.VIEWER
    context = {
        "team": own.team,
        "own": own,
        "owns": own.role == Role.OWNER,
        "edits": edits,
        "roles": Role.choices,
        "members": team_rows(request, Membership).select_related("user").order_by("user__username"),
        "invitations": pending.order_by("created_at"),
        "tokens": team_rows(request, ApiToken).filter(revoked_at=None).order_by("-created_at"),
        "links": [(link, _address("status-page", status_signature(link)) if edits else "") for link in links],
        "others": Team.objects.filter(members=own.user_id).exclude(pk=own.team_id).order_by("name"),
        "invitation_form": InvitationForm(),
        "team_form": TeamForm(initial={"name": own.team.name}),
        "token_form": TokenForm(auto_id="token_%s"),
        "link_form": LinkForm(auto_id="link_%s"),
        **forms,
    }
    return render(request, "dashboard/team/page.html", context, status=status)


@require_POST
def rename(request: HttpRequest) -> HttpResponse:
    require_owner(request)
    form = TeamForm(request.POST)
    if not form.is_valid():
        return _page(request, 400, team_form=form)
    team = team_of(request)
    team.name = form.cleaned_data["name"]
    team.save(update_fields=["name"])
    messages.success(request, _("The team is called %(name)s now.") % {"name": team.name})
    return redirect("team")


@require_POST
def new(request: HttpRequest) -> HttpResponse:
    """A team of one's own; one acts in it from now on."""
    form = TeamForm(request.POST)
    if not form.is_valid():
        return _page(request, 400, team_form=form)
    team = teams.found(form.cleaned_data["name"], person_of(request))
    request.session["team"] = str(team.public_id)
    return redirect("team")


@require_POST
def switch(request: HttpRequest) -> HttpResponse:
    """Acts in another of the person's own teams from now on."""
    wanted = request.POST.get("team", "")
    own = Membership.objects.filter(user=request.user.pk).select_related("team")
    if wanted not in {str(membership.team.public_id) for membership in own}:
        raise Http404(_("You are not in that team."))
    request.session["team"] = wanted
    return redirect("overview")


@require_POST
def leave(request: HttpRequest) -> HttpResponse:
    own = membership_of(request)
    try:
        teams.remove(own)
    except EntryError as error:
        messages.error(request, str(error))
        return redirect("team")
    request.session.pop("team", None)
    messages.success(request, _("You left %(team)s.") % {"team": own.team.name})
    return redirect("overview")


@require_POST
def role(request: HttpRequest, member: str) -> HttpResponse:
    require_owner(request)
    membership = _member(request, member)
    try:
        if request.POST.get("role") not in Role.values:
            raise EntryError(_("Choose owner, editor or viewer."))
        teams.change_role(membership, request.POST["role"])
    except EntryError as error:
        messages.error(request, str(error))
    else:
        words = {"name": member, "role": membership.get_role_display().lower()}
        messages.success(request, _("%(name)s is %(role)s now.") % words)
    return redirect("team")


@require_POST
def remove(request: HttpRequest, member: str) -> HttpResponse:
    require_owner(request)
    try:
        teams.remove(_member(request, member))
    except EntryError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("%(name)s is no longer in the team.") % {"name": member})
    return redirect("team")


@require_POST
def invite(request: HttpRequest) -> HttpResponse:
    require_owner(request)
    form = InvitationForm(request.POST)
    if form.is_valid():
        try:
            made = teams.invite(team_of(request), form.cleaned_data["email"], form.cleaned_data["role"],
                                person_of(request), timezone.now())  # fmt: skip
        except EntryError as error:
            form.add_error("email", str(error))
        else:
            _send(request, made)
            return redirect("team")
    return _page(request, 400, invitation_form=form)


@require_POST
def withdraw(request: HttpRequest, invitation: object) -> HttpResponse:
    require_owner(request)
    found = find(request, Invitation, invitation)  # type: ignore[arg-type]
    Invitation.objects.filter(pk=found.pk, accepted_at=None).update(revoked_at=timezone.now())
    messages.success(request, _("The invitation of %(email)s is withdrawn.") % {"email": found.email})
    return redirect("team")


def _send(request: HttpRequest, invitation: Invitation) -> None:
    """By e-mail, or, where the service cannot send any, as a link to pass on."""
    link = _address("invitation", teams.signature_of(invitation))
    if not settings.EMAIL_HOST and "locmem" not in settings.EMAIL_BACKEND:
        words = {"email": invitation.email, "link": link}
        messages.success(request, _("No mail server is set up. Give %(email)s this link yourself: %(link)s") % words)
        return
    context = {"invitation": invitation, "link": link}
    subject = _("Join %(team)s on Tidegauge") % {"team": invitation.team.name}
    mail = EmailMessage(" ".join(subject.split()), render_to_string("mail/invitation.txt", context),
                        to=[invitation.email])  # fmt: skip
    try:
        mail.send()
    except OSError as error:
        words = {"error": type(error).__name__, "email": invitation.email, "link": link}
        messages.error(
            request, _("The e-mail could not be sent (%(error)s). Give %(email)s this link: %(link)s") % words
        )
    else:
        messages.success(
            request, _("%(email)s was invited; the link is valid for 7 days.") % {"email": invitation.email}
        )


def _member(request: HttpRequest, name: str) -> Membership:
    found = team_rows(request, Membership).filter(user__username=name).select_related("user").first()
    if found is None:
        raise Http404(_("There is no such person in your team."))
    return found


def _address(name: str, *words: str) -> str:
    return settings.SITE_URL.rstrip("/") + reverse(name, args=words)
