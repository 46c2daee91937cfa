"""Who may see what: log-in everywhere, and one gate through which every lookup passes."""

from __future__ import annotations

from typing import TypeVar
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest
from django.utils.translation import gettext, gettext_noop

from drift.models import (
    Annotation,
    AnswerFile,
    ApiToken,
    AuditEntry,
    Baseline,
    Canary,
    Channel,
    Checkup,
    Delivery,
    Drill,
    Endpoint,
    EndpointCheck,
    EvalAnswer,
    EvalRun,
    EvalSet,
    EvalUpload,
    EvalVersion,
    Event,
    Finding,
    Incident,
    Invitation,
    Membership,
    Monitor,
    Role,
    Run,
    Sample,
    Silence,
    StatusLink,
    Suite,
    Team,
    Trial,
    User,
)

M = TypeVar("M", bound=Model)

PATH_TO_TEAM: dict[type[Model], str] = {
    Annotation: "team",
    AnswerFile: "team",
    ApiToken: "team",
    AuditEntry: "team",
    Baseline: "series__endpoint__team",
    Canary: "team",
    Checkup: "team",
    Channel: "team",
    Delivery: "channel__team",
    Drill: "team",
    Endpoint: "team",
    EndpointCheck: "endpoint__team",
    Event: "team",
    Finding: "team",
    Incident: "team",
    EvalAnswer: "arm__run__version__eval_set__team",
    EvalRun: "version__eval_set__team",
    EvalSet: "team",
    EvalUpload: "team",
    EvalVersion: "eval_set__team",
    Invitation: "team",
    Membership: "team",
    Monitor: "endpoint__team",
    Run: "monitor__endpoint__team",
    Sample: "series__endpoint__team",
    Silence: "team",
    StatusLink: "team",
    Suite: "team",
    Trial: "team",
}

NAMES = (  # of models that name themselves after their class
    gettext_noop("api token"),
    gettext_noop("audit entry"),
    gettext_noop("baseline"),
    gettext_noop("canary"),
    gettext_noop("channel"),
    gettext_noop("delivery"),
    gettext_noop("drill"),
    gettext_noop("endpoint"),
    gettext_noop("endpoint check"),
    gettext_noop("event"),
    gettext_noop("finding"),
    gettext_noop("incident"),
    gettext_noop("invitation"),
    gettext_noop("membership"),
    gettext_noop("monitor"),
    gettext_noop("run"),
    gettext_noop("sample"),
    gettext_noop("silence"),
    gettext_noop("status link"),
    gettext_noop("suite"),
    gettext_noop("annotation"),
    gettext_noop("trial"),
)


def membership_of(request: HttpRequest) -> Membership:
    """The membership the person acts in: the one chosen in the session, else the first. 404 without any."""
    cached = getattr(request, "tidegauge_membership", None)
    if cached is None:
        own = list(Membership.objects.filter(user=request.user.pk).select_related("team").order_by("id"))
        chosen = request.session.get("team")
        cached = next((m for m in own if str(m.team.public_id) == chosen), own[0] if own else None)
        if cached is None:
            raise Http404(gettext("You are not in a team yet. Ask an owner to invite you."))
        request.tidegauge_membership = cached  # type: ignore[attr-defined]
    return cached


def person_of(request: HttpRequest) -> User:
    """Who is signed in. Raises PermissionDenied for nobody."""
    if not isinstance(request.user, User):
        raise PermissionDenied(gettext("Sign in first."))
    return request.user


def token_in(request: HttpRequest) -> ApiToken | None:
    """The token that a program sent with a request to the API."""
    token: ApiToken | None = getattr(request, "tidegauge_token", None)
    return token


def team_of(request: HttpRequest) -> Team:
    """The team acted for: the token's, else that of the person's membership."""
    token = token_in(request)
    return token.team if token is not None else membership_of(request).team


def may_edit(request: HttpRequest) -> bool:
    token = token_in(request)
    if token is not None:
        return token.scope == ApiToken.Scope.WRITE
    return membership_of(request).role != Role.VIEWER


def require_owner(request: HttpRequest) -> None:
    """Raises PermissionDenied for all but owners, tokens included."""
    if token_in(request) is not None or membership_of(request).role != Role.OWNER:
        raise PermissionDenied(gettext("Only an owner of the team can do that."))


def require_editor(request: HttpRequest) -> None:
    """Raises PermissionDenied for viewers."""
    if not may_edit(request):
        raise PermissionDenied(gettext("You can look but not change things here. Ask an owner for the editor role."))


def team_rows(request: HttpRequest, model: type[M]) -> QuerySet[M]:
    """The rows of `model` that the person's team owns."""
    return model._default_manager.filter(**{PATH_TO_TEAM[model]: team_of(request)})


def find(request: HttpRequest, model: type[M], public_id: UUID) -> M:
    """The team's row with that public id. 404 for another team's row and for none alike."""
    row = team_rows(request, model).filter(public_id=public_id).first()
    if row is None:
        raise Http404(
            gettext("There is no such {verbose_name} in your team.").format(
                verbose_name=gettext(str(model._meta.verbose_name))
            )
        )
    return row
