"""Who is told, once, and by whom it is looked after."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from drift import alerts, incidents, silences
from drift.findings.kinds import Kind
from drift.messages import PAGES, message_for
from drift.models import Channel, Delivery, Endpoint, Event, Finding, Incident, Silence, Team, User
from tests.drift.findings.simulated import fp

NOW = timezone.now()
MINUTE = timedelta(minutes=1)


@pytest.fixture
def channel(team: Team) -> Channel:
    return Channel.objects.create(team=team, kind="email", name="Mail", address="a@example.org", address_hint="a@…")


@pytest.fixture
def found(endpoint: Endpoint) -> Callable[..., Incident | None]:
    def make(kind: Kind = Kind.NEW_IDENTITY, where: Endpoint | None = None, at: Any = NOW) -> Incident | None:
        there = where or endpoint
        finding = Finding(
            team_id=there.team_id,
            endpoint=there,
            kind=kind,
            severity=kind.severity,
            began_at=at - 5 * MINUTE,
            found_at=at,
            voids=kind.voids,
            facts={"new": [fp("fp_b")], "old": [fp("fp_a")], "taken_over": True},
        )
        incidents.file([finding], at)
        finding.refresh_from_db()
        return finding.incident

    return make


def beside(endpoint: Endpoint, number: int, **fields: Any) -> Endpoint:
    return Endpoint.objects.create(
        team=endpoint.team,
        name=f"gpt-{number}",
        provider=fields.pop("provider", endpoint.provider),
        base_url="http://x/v1",
        model="m",
        **fields,
    )


def test_fifty_endpoints_of_one_provider_are_one_incident_and_one_message(
    endpoint: Endpoint, channel: Channel, found: Callable[..., Incident]
) -> None:
    first = found()
    for number in range(50):
        assert found(where=beside(endpoint, number), at=NOW + timedelta(seconds=number * 5)) == first

    assert Incident.objects.count() == 1
    first.refresh_from_db()
    assert first.title == "51 endpoints of Example: new identity"
    assert Delivery.objects.count() == 1, "all within the time the first message waits for its neighbours"
    message = message_for(Delivery.objects.get(), NOW)
    assert len(message["endpoints"]) == 10
    assert message["more_endpoints"] == 41


def test_another_provider_is_another_incident(endpoint: Endpoint, found: Callable[..., Incident]) -> None:
    assert found() != found(where=beside(endpoint, 1, provider="Other"))


def test_a_later_change_of_the_same_endpoint_is_another_incident(
    channel: Channel, found: Callable[..., Incident]
) -> None:
    first = found()
    second = found(at=NOW + timedelta(hours=3))

    assert first != second
    assert Delivery.objects.filter(kind="alert").count() == 2


def test_what_follows_from_a_change_joins_its_incident_and_is_told_as_an_update(
    channel: Channel, found: Callable[..., Incident]
) -> None:
    incident = found()
    Delivery.objects.update(state="sent", sent_at=NOW, message={"title": "x"})
    assert found(Kind.BEHAVIOURAL, at=NOW + 40 * MINUTE) == incident

    update = Delivery.objects.get(kind="update")
    message = message_for(update, NOW + 41 * MINUTE)
    assert message["title"] == "More on gpt-x: new identity, answers moved"


def test_a_new_name_seen_once_is_a_line_in_the_feed(channel: Channel, found: Callable[..., Incident | None]) -> None:
    assert found(Kind.IDENTITY_SEEN) is None
    assert not Delivery.objects.exists()
    assert Event.objects.get().text.startswith("gpt-x: fp_b was seen for the first time")


def test_an_outage_ends_with_all_of_its_endpoints(
    endpoint: Endpoint, channel: Channel, found: Callable[..., Incident]
) -> None:
    other = beside(endpoint, 1)
    incident = found(Kind.OUTAGE)
    found(Kind.OUTAGE, where=other)
    found(Kind.RECOVERY, at=NOW + 9 * MINUTE)
    incident.refresh_from_db()
    assert incident.state == Incident.State.OPEN
    found(Kind.RECOVERY, where=other, at=NOW + 12 * MINUTE)

    incident.refresh_from_db()
    assert incident.state == Incident.State.RESOLVED
    assert Delivery.objects.filter(kind="resolved").count() == 1


def test_reminders_say_still_and_stop_when_somebody_looks_after_it(
    alice: User, channel: Channel, found: Callable[..., Incident]
) -> None:
    incident = found()
    assert alerts.remind(NOW + timedelta(hours=23)) == 0
    assert alerts.remind(NOW + timedelta(hours=25)) == 1
    assert alerts.remind(NOW + timedelta(hours=26)) == 0
    message = message_for(Delivery.objects.get(kind="reminder"), NOW + timedelta(hours=25))
    assert message["subject"].startswith("Still: ")

    incidents.acknowledge(incident, alice, "asked OpenAI", NOW + timedelta(days=3), NOW + timedelta(hours=27))
    assert alerts.remind(NOW + timedelta(days=2)) == 0
    assert incidents.end_acknowledgements(NOW + timedelta(days=2)) == 0
    assert incidents.end_acknowledgements(NOW + timedelta(days=3)) == 1
    assert alerts.remind(NOW + timedelta(days=3, hours=1)) == 1


@pytest.mark.parametrize("covers", ["endpoint", "provider", "tag"])
def test_a_silence_tells_nobody_and_what_is_still_open_when_it_ends_is_told(
    covers: str, endpoint: Endpoint, alice: User, channel: Channel, found: Callable[..., Incident]
) -> None:
    endpoint.tags = ["prod"]
    endpoint.save()
    chosen: dict[str, Any] = {"endpoint": endpoint, "provider": "example", "tag": "prod"}
    silences.silence(
        endpoint.team,
        alice,
        starts_at=NOW - MINUTE,
        ends_at=NOW + timedelta(hours=1),
        reason="upgrade",
        now=NOW,
        **{covers: chosen[covers]},
    )
    incident = found()

    assert not Delivery.objects.exists()
    assert Finding.objects.count() == 1, "measuring goes on"
    assert alerts.catch_up(NOW + 30 * MINUTE) == 0
    assert alerts.catch_up(NOW + 61 * MINUTE) == 1
    assert Delivery.objects.get().incident == incident


def test_a_weekly_window_holds_at_its_time_and_not_between(endpoint: Endpoint, alice: User) -> None:
    window = silences.silence(
        endpoint.team,
        alice,
        starts_at=NOW,
        ends_at=NOW + timedelta(hours=2),
        reason="Sunday work",
        every_week=True,
        endpoint=endpoint,
        now=NOW,
    )

    assert window.kind == Silence.Kind.MAINTENANCE
    assert silences.holds(window, NOW + timedelta(days=7, hours=1))
    assert not silences.holds(window, NOW + timedelta(days=7, hours=3))
    silences.end(window, alice, NOW)
    window.refresh_from_db()
    assert not silences.holds(window, NOW + timedelta(days=7, hours=1))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, True),
        ({"least_severity": "high"}, True),
        ({"providers": ["EXAMPLE"]}, True),
        ({"providers": ["Other"]}, False),
        ({"tags": ["prod"]}, True),
        ({"tags": ["staging"]}, False),
    ],
)
def test_routing_by_severity_provider_and_tag(
    fields: dict[str, Any], told: bool, endpoint: Endpoint, channel: Channel, found: Callable[..., Incident]
) -> None:
    endpoint.tags = ["prod"]
    endpoint.save()
    Channel.objects.filter(pk=channel.pk).update(**fields)
    found()

    assert Delivery.objects.exists() is told


def test_quiet_hours_hold_back_what_is_not_severe(channel: Channel, found: Callable[..., Incident]) -> None:
    at_two = NOW.replace(hour=1, minute=30)  # 02:30 in Berlin
    channel.quiet_from, channel.quiet_to, channel.time_zone = "22:00", "07:00", "Europe/Berlin"
    channel.save()
    found(Kind.LOGPROBS, at=at_two)
    held = Delivery.objects.get()
    found(Kind.OUTAGE, at=at_two)
    severe = Delivery.objects.exclude(pk=held.pk).get()

    assert held.due_at > at_two + timedelta(hours=3)
    assert severe.due_at - at_two < MINUTE


def test_an_alert_says_what_since_when_how_sure_what_it_voids_and_what_to_do(
    channel: Channel, found: Callable[..., Incident]
) -> None:
    found()
    message = message_for(Delivery.objects.get(), NOW)

    assert "every answer carries fp_b; before it was fp_a" in message["text"][0]
    assert (message["before"], message["after"]) == (["fp_a"], ["fp_b"])
    assert message["advice"]
    assert [link["label"] for link in message["links"]] == ["See what changed", "The figures around that time"]
    assert "from=" in message["links"][1]["url"]


def test_the_weekly_summary_is_written_once(channel: Channel, found: Callable[..., Incident]) -> None:
    channel.weekly_summary = True
    channel.save()
    monday = NOW - timedelta(days=NOW.weekday()) + timedelta(days=7)
    monday = monday.replace(hour=9)
    assert alerts.summarise(monday - timedelta(days=1)) == 0
    assert alerts.summarise(monday) == 1
    assert alerts.summarise(monday + MINUTE) == 0

    message = message_for(Delivery.objects.get(kind="summary"), monday)
    assert message["title"].startswith("A quiet week")


def test_messages_name_pages_that_exist() -> None:
    from django.urls import resolve

    for name, path in PAGES.items():
        assert resolve(path.format("12345678-1234-5678-1234-567812345678")).url_name == name
