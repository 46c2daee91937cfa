"""A fire drill from beginning to end: simulator, prober, rules, deliveries, receivers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from drift import alerts, drills
from drift.models import Channel, Delivery, Drill, Endpoint, Incident, Team
from tests.workers.notify.receivers import Mailbox, Receiver
from workers import drill


@pytest.mark.django_db(transaction=True)
def test_a_drill_tells_every_channel_and_how_long_it_took(
    team: Team,
    channel: Callable[..., Channel],
    receiver: Receiver,
    mailbox: Mailbox,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(alerts, "GATHER", timedelta(seconds=1))
    channel("webhook", receiver.url, name="Hook")
    channel("slack", receiver.url, name="Slack", providers=["OpenAI"])
    channel("email", "alice@example.org", name="Mail")

    call_command("drill")

    shown = capsys.readouterr().out
    report = Drill.objects.get().report
    assert report["all_sent"], report
    assert report["seconds"] < 30
    assert all(name in shown for name in ("Hook", "Slack", "Mail"))
    assert mailbox.mails[0]["Subject"].startswith("[simulated] Fire drill: new identity")
    assert receiver.got[0].json["simulated"] is True
    assert Incident.objects.get().state == Incident.State.RESOLVED
    assert Endpoint.objects.get().archived_at is not None
    assert Delivery.objects.filter(kind=Delivery.Kind.ALERT).count() == 3


@pytest.mark.django_db(transaction=True)
def test_a_drill_without_a_channel_says_that_nobody_was_told(team: Team) -> None:
    with pytest.raises(CommandError, match="nobody was told"):
        call_command("drill")


def test_a_second_drill_is_the_first(team: Team) -> None:
    now = timezone.now()
    assert drills.ask(team, None, now) == drills.ask(team, None, now)


def test_a_drill_whose_worker_is_gone_has_failed(team: Team) -> None:
    now = timezone.now()
    asked = drills.ask(team, None, now)
    assert drills.to_publish(now) == [asked.pk]
    assert drills.claim(asked.pk, now)
    drill.perform(asked.pk)
    assert drills.reap(now + drills.LEASE + timedelta(seconds=1)) == 1
    asked.refresh_from_db()

    assert asked.state == Drill.State.FAILED
