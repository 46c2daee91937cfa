"""Who belongs to a team, who is asked to, and what must stay true: a team always has an owner."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.core import signing
from django.db import transaction
from django.utils.translation import gettext

from drift.entered import EntryError
from drift.models import Invitation, Membership, Role, Team, User

VALID_FOR = timedelta(days=7)
SALT = "tidegauge.invitation"


def found(name: str, user: User) -> Team:
    """A new team with its founder as owner."""
    with transaction.atomic():
        team = Team.objects.create(name=name)
        Membership.objects.create(team=team, user=user, role=Role.OWNER)
    return team


def invite(team: Team, email: str, role: str, by: User, now: datetime) -> Invitation:
    """An open invitation for that address; an earlier one is withdrawn. Raises EntryError for a member's address."""
    email = email.strip().lower()
    if Membership.objects.filter(team=team, user__email__iexact=email).exists():
        raise EntryError(gettext("{email} is in the team already.").format(email=email))
    with transaction.atomic():
        open_ones = Invitation.objects.filter(team=team, email=email, accepted_at=None, revoked_at=None)
        open_ones.update(revoked_at=now)
        return Invitation.objects.create(
            team=team, email=email, role=Role(role), invited_by=by, expires_at=now + VALID_FOR
        )


def signature_of(invitation: Invitation) -> str:
    """What stands in the link of the e-mail."""
    return signing.Signer(salt=SALT).sign(str(invitation.public_id))


def invitation_behind(signature: str, now: datetime) -> Invitation | None:
    """The open invitation that the link belongs to; None for a forged, used, withdrawn or expired one."""
    try:
        public_id = UUID(signing.Signer(salt=SALT).unsign(signature))
    except (signing.BadSignature, ValueError):
        return None
    rows = Invitation.objects.filter(public_id=public_id, accepted_at=None, revoked_at=None, expires_at__gt=now)
    return rows.select_related("team", "invited_by").first()


def accept(invitation: Invitation, user: User, now: datetime) -> Membership:
    """Takes the invitation, once. Who is a member already keeps the role they have."""
    with transaction.atomic():
        taken = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None)
        if not taken.update(accepted_at=now, accepted_by=user):
            raise EntryError(gettext("This invitation was taken or withdrawn meanwhile. Ask for a new one."))
        membership, _ = Membership.objects.get_or_create(
            team=invitation.team, user=user, defaults={"role": invitation.role}
        )
    return membership


def change_role(membership: Membership, role: str) -> None:
    """Raises EntryError if the team would be left without an owner."""
    with transaction.atomic():
        _keep_an_owner(membership, leaves=role != Role.OWNER)
        membership.role = Role(role)
        membership.save(update_fields=["role"])


def remove(membership: Membership) -> None:
    """Raises EntryError if the team would be left without an owner."""
    with transaction.atomic():
        _keep_an_owner(membership, leaves=True)
        membership.delete()


def _keep_an_owner(membership: Membership, *, leaves: bool) -> None:
    Team.objects.select_for_update().get(pk=membership.team_id)  # two who leave at once wait for each other
    others = Membership.objects.filter(team=membership.team_id, role=Role.OWNER).exclude(pk=membership.pk)
    if leaves and membership.role == Role.OWNER and not others.exists():
        raise EntryError(gettext("A team needs an owner: make someone else owner first."))
