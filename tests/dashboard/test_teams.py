"""People come by invitation, act in one team at a time, and a team keeps an owner."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from drift import teams
from drift.models import ApiToken, AuditEntry, Endpoint, Invitation, Membership, Monitor, Role, Team, User
from tests.conftest import PASSWORD


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def invited(alice: User, email: str = "eve@example.org") -> str:
    """The path of the link in the e-mail."""
    signed_in(alice).post("/team/invitations", {"email": email, "role": "editor"})
    found = re.search(r"https?://[^/]+(/join/\S+)", mail.outbox[-1].body)
    assert found
    return found[1]


def test_an_invited_person_makes_an_account_and_is_in(alice: User, team: Team) -> None:
    link = invited(alice)
    assert mail.outbox[0].to == ["eve@example.org"]
    client = Client()
    assert "Make the account" in client.get(link).content.decode()
    assert client.post(link, {"username": "eve", "password": "ebb and flow 7"}).status_code == 302
    assert Membership.objects.get(user__username="eve").role == Role.EDITOR
    assert client.get("/").status_code == 200
    assert Client().get(link).status_code == 404, "a link works once"


def test_a_weak_password_and_a_taken_name_are_refused(alice: User) -> None:
    link = invited(alice)
    assert Client().post(link, {"username": "ALICE", "password": "ebb and flow 7"}).status_code == 400
    assert Client().post(link, {"username": "eve", "password": "12345"}).status_code == 400
    assert not User.objects.filter(username="eve").exists()


def test_someone_with_an_account_joins_with_it(alice: User, mallory: User, team: Team) -> None:
    link = invited(alice, mallory.email)
    client = signed_in(mallory)
    assert "Join as mallory" in client.get(link).content.decode()
    client.post(link)
    assert set(mallory.teams.values_list("name", flat=True)) == {"Another team", "Eval team"}


@pytest.mark.parametrize("way", ["forged", "expired", "withdrawn"])
def test_a_link_that_does_not_hold_opens_nothing(alice: User, way: str) -> None:
    link = invited(alice)
    if way == "forged":
        link = link[:-2] + ("aa" if not link.endswith("aa") else "bb")
    if way == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    if way == "withdrawn":
        signed_in(alice).post(f"/team/invitations/{Invitation.objects.get().public_id}/withdraw")
    assert Client().get(link).status_code == 404


def test_only_owners_manage_people(bob: User, vera: User, alice: User) -> None:
    for someone in (bob, vera):
        client = signed_in(someone)
        for path, form in (
            ("/team/invitations", {"email": "x@example.org", "role": "owner"}),
            ("/team/members/alice/role", {"role": "viewer"}),
            ("/team/members/alice/remove", {}),
            ("/team/rename", {"name": "Ours"}),
        ):
            assert client.post(path, form).status_code == 403, (someone.username, path)


def test_a_team_keeps_an_owner(alice: User, bob: User) -> None:
    client = signed_in(alice)
    client.post("/team/members/alice/role", {"role": "viewer"})
    client.post("/team/leave")
    assert Membership.objects.get(user=alice).role == Role.OWNER
    client.post("/team/members/bob/role", {"role": "owner"})
    client.post("/team/leave")
    assert not Membership.objects.filter(user=alice).exists()


def test_one_acts_in_the_team_one_chose(alice: User, monitor: Monitor) -> None:
    client = signed_in(alice)
    client.post("/team/new", {"name": "Second"})
    assert b"gpt-x" not in client.get("/").content
    client.post("/team/switch", {"team": str(monitor.endpoint.team.public_id)})
    assert b"gpt-x" in client.get("/").content
    other = Team.objects.create(name="Not mine")
    assert client.post("/team/switch", {"team": str(other.public_id)}).status_code == 404


def test_a_token_is_shown_once_and_revoked(bob: User) -> None:
    client = signed_in(bob)
    page = client.post("/team/tokens", {"name": "ci", "scope": "write", "days": "30"}).content.decode()
    text = re.search(r"tgw_[\w-]{40}", page)
    assert text
    assert text[0] not in client.get("/team/").content.decode()
    program = Client(headers={"Authorization": f"Bearer {text[0]}"})
    assert program.get("/api/v1/team").status_code == 200
    client.post(f"/team/tokens/{ApiToken.objects.get().public_id}/revoke")
    assert program.get("/api/v1/team").status_code == 401


def test_the_audit_log_names_who_changed_what(alice: User, monitor: Monitor) -> None:
    client = signed_in(alice)
    client.post(f"/monitors/{monitor.public_id}/pause")
    entry = AuditEntry.objects.filter(subject="monitor").latest("at")
    assert (entry.actor_name, entry.via, entry.action) == ("alice", "page", "changed")
    assert entry.changes["active"] == [True, False]
    Endpoint.objects.update(api_key="sk-secret-secret", name="gpt-z")
    entry = AuditEntry.objects.filter(subject="endpoint").latest("at")
    assert entry.actor_name == "", "what the service does itself carries no name left over from the request"
    assert entry.changes["api_key"] == ["hidden", "hidden"]
    assert "alice" in client.get("/team/audit").content.decode()
    with pytest.raises(Exception, match="only added to"):
        AuditEntry.objects.all().delete()


def test_sessions_are_listed_and_ended_from_another_browser(alice: User) -> None:
    here, there = Client(), Client()
    for client, agent in ((here, "Firefox"), (there, "Phone")):
        done = client.post("/login", {"login": "alice", "password": PASSWORD}, headers={"user-agent": agent})
        assert done.status_code == 302
    page = here.get("/you/", headers={"user-agent": "Firefox"}).content.decode()
    assert "Phone" in page
    handles = re.findall(r"/you/sessions/([0-9a-f-]+)/end", page)
    assert len(handles) == 2
    row = next(part for part in page.split("<tr>") if "Phone" in part)
    here.post(re.search(r"/you/sessions/[0-9a-f-]+/end", row)[0])  # type: ignore[index]
    assert there.get("/").status_code == 302
    assert here.get("/").status_code == 200


def test_someone_elses_session_is_not_found(alice: User, bob: User) -> None:
    Client().post("/login", {"login": "alice", "password": PASSWORD})
    from allauth.usersessions.models import UserSession

    from dashboard.views.you import handle

    assert signed_in(bob).post(f"/you/sessions/{handle(UserSession.objects.get(user=alice))}/end").status_code == 404


def test_guessing_passwords_is_slowed_down(alice: User) -> None:
    client = Client()
    for _ in range(6):
        answer = client.post("/login", {"login": "alice", "password": "wrong"})
    assert "Too many" in answer.content.decode()
    refused = Client().post("/login", {"login": "alice", "password": PASSWORD})
    assert refused.status_code != 302, "even the right password waits, from anywhere"


def test_nobody_signs_up_by_themselves(db: None) -> None:
    Client().post(
        "/account/signup/",
        {"username": "eve", "email": "e@example.org", "password1": "ebb and flow 7", "password2": "ebb and flow 7"},
    )
    assert not User.objects.exists()


def test_an_authenticator_app_is_asked_for_and_its_secret_encrypted(alice: User) -> None:
    from allauth.mfa.models import Authenticator
    from allauth.mfa.totp.internal import auth as totp

    secret = totp.generate_totp_secret()
    made = totp.TOTP.activate(alice, secret)
    assert secret not in str(made.instance.data)
    client = Client()
    asked = client.post("/login", {"login": "alice", "password": PASSWORD})
    assert asked["Location"].startswith("/account/2fa/authenticate")
    assert client.get("/").status_code == 302, "the password alone opens nothing"
    code = totp.format_hotp_value(totp.hotp_value(secret, next(iter(totp.yield_hotp_counters_from_time()))))
    assert client.post("/account/2fa/authenticate/", {"code": code}).status_code == 302
    assert client.get("/").status_code == 200
    assert Authenticator.objects.count() == 1


def test_last_owner_cannot_be_removed_by_the_rules(alice: User, team: Team) -> None:
    with pytest.raises(teams.EntryError, match="needs an owner"):
        teams.remove(Membership.objects.get(user=alice))
