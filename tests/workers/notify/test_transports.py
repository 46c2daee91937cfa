"""Messages as they arrive at real servers."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from drift import alerts, deliveries
from drift.findings.kinds import Kind
from drift.models import Channel, Delivery, Incident
from tests.workers.notify.receivers import Mailbox, Receiver
from workers.notify import http, slack
from workers.notify.deliver import perform

EXAMPLE = {
    "canary": "Fact",
    "token": 3,
    "tokens_known": True,
    "shared": "He was",
    "old_token": " an",
    "new_token": " a",
    "old_rest": " American <b>physicist</b>",
    "new_rest": " physicist <!channel>",
}


def send_now(channel: Channel) -> Delivery:
    Delivery.objects.filter(channel=channel, state="due").update(due_at=timezone.now() - timedelta(seconds=1))
    delivery = Delivery.objects.get(channel=channel)
    perform(delivery.pk)
    delivery.refresh_from_db()
    return delivery


def test_mail_arrives_plain_and_html_with_the_delivery_as_its_id(
    channel: Callable[..., Channel], incident: Callable[..., Incident], mailbox: Mailbox
) -> None:
    to = channel("email", "alice@example.org")
    incident(**EXAMPLE)
    delivery = send_now(to)

    assert delivery.state == Delivery.State.SENT
    [mail] = mailbox.mails
    assert mail["Subject"] == "gpt-x: new identity"
    assert mail["Message-ID"] == f"<{delivery.public_id}@example.org>"
    plain, html = (part.get_payload(decode=True).decode() for part in mail.get_payload())
    for text in (plain, html):
        assert "fp_b" in text
        assert "Chance of a false alarm under 1 in" in text
        assert "He was" in text
    assert "[ an]" in plain
    assert "&lt;b&gt;physicist" in html, "what a model said is text, never markup"


def test_slack_gets_blocks_that_mention_nobody(
    channel: Callable[..., Channel], incident: Callable[..., Incident], receiver: Receiver
) -> None:
    to = channel("slack", receiver.url)
    incident(**EXAMPLE)
    send_now(to)

    [got] = receiver.got
    assert got.json["blocks"][0]["type"] == "header"
    assert "<!channel>" not in got.body.decode()
    assert "&lt;!channel&gt;" in got.body.decode()
    buttons = next(block for block in got.json["blocks"] if block["type"] == "actions")["elements"]
    assert [button["text"]["text"] for button in buttons] == ["See what changed", "The figures around that time"]
    assert len(got.json["blocks"]) <= 50


def test_slack_layout_keeps_to_its_limits() -> None:
    message = {"title": "x" * 400, "text": ["y" * 9000], "severity_word": "Severe", "links": []}
    blocks = slack.layout(message)["blocks"]

    assert len(blocks[0]["text"]["text"]) <= 150
    assert len(blocks[1]["text"]["text"]) <= 3000


def test_a_webhook_is_signed_and_carries_its_idempotency_key(
    channel: Callable[..., Channel], incident: Callable[..., Incident], receiver: Receiver
) -> None:
    to = channel("webhook", receiver.url, signing_secret="tide")
    raised = incident()
    delivery = send_now(to)

    [got] = receiver.got
    assert got.headers["idempotency-key"] == str(delivery.public_id)
    moment, mac = (part.split("=")[1] for part in got.headers["x-tidegauge-signature"].split(","))
    assert mac == hmac.new(b"tide", f"{moment}.".encode() + got.body, hashlib.sha256).hexdigest()
    assert abs(int(moment) - timezone.now().timestamp()) < 60
    assert got.json["incident"] == str(raised.public_id)
    assert got.json["findings"][0]["kind"] == "new_identity"


def test_a_repeat_says_the_same_under_the_same_key(
    channel: Callable[..., Channel], incident: Callable[..., Incident], receiver: Receiver
) -> None:
    receiver.plan = [503]
    to = channel("webhook", receiver.url)
    raised = incident()
    send_now(to)
    raised.title = "something else by now"
    raised.save()
    delivery = send_now(to)

    assert delivery.state == Delivery.State.SENT
    first, second = receiver.got
    assert first.body == second.body
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert [attempt.ok for attempt in delivery.attempts.all()] == [False, True]


@pytest.mark.parametrize("step", [500, 429, 403, "drop", 302])
def test_a_passing_failure_is_tried_again_later(
    step: object, channel: Callable[..., Channel], incident: Callable[..., Incident], receiver: Receiver
) -> None:
    receiver.plan = [step]
    to = channel("webhook", receiver.url)
    incident()
    delivery = send_now(to)

    assert delivery.state == Delivery.State.DUE
    assert delivery.due_at > timezone.now() + timedelta(seconds=10)
    assert delivery.problem
    to.refresh_from_db()
    assert to.disabled_at is None
    assert to.last_error == delivery.problem
    assert "secret-path" not in delivery.problem


def test_a_receiver_that_stalls_costs_a_bounded_time(
    channel: Callable[..., Channel],
    incident: Callable[..., Incident],
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http, "DEADLINE_S", 0.3)
    receiver.plan = ["stall"]
    to = channel("webhook", receiver.url)
    incident()
    delivery = send_now(to)

    assert delivery.state == Delivery.State.DUE
    assert "did not answer" in delivery.problem or "could not be reached" in delivery.problem


def test_waits_double_up_to_an_hour(channel: Callable[..., Channel], incident: Callable[..., Incident]) -> None:
    delivery = Delivery(attempts_count=1)
    waits = []
    for number in range(1, 12):
        delivery.attempts_count = number
        waits.append(deliveries.wait_after(delivery).total_seconds())

    assert waits[:3] == [15, 30, 60]
    assert max(waits) == 3600


@pytest.mark.parametrize(
    ("kind", "step"), [("slack", (404, "no_service")), ("slack", (403, "action_prohibited")), ("webhook", 410)]
)
def test_a_permanent_refusal_disables_the_channel_and_falls_back(
    kind: str,
    step: object,
    channel: Callable[..., Channel],
    incident: Callable[..., Incident],
    receiver: Receiver,
    mailbox: Mailbox,
) -> None:
    receiver.plan = [step]
    broken = channel(kind, receiver.url, name="Broken", least_severity="low")
    other = channel("email", "bob@example.org", name="Mail", least_severity="high")
    incident(Kind.LOGPROBS)
    assert not other.deliveries.exists(), "it does not want this severity"
    delivery = send_now(broken)

    broken.refresh_from_db()
    assert delivery.state == Delivery.State.FAILED
    assert broken.disabled_at is not None
    assert str(step[0] if isinstance(step, tuple) else step) in broken.disabled_why
    send_now(other)
    [mail] = mailbox.mails
    assert "because Broken could not be used" in mail.get_payload()[0].get_payload(decode=True).decode()


def test_a_mailbox_that_does_not_exist_is_permanent_and_a_full_one_is_not(
    channel: Callable[..., Channel], incident: Callable[..., Incident], mailbox: Mailbox
) -> None:
    to = channel("email", "nobody@example.org")
    incident()
    mailbox.refuses = "452 mailbox full"
    assert send_now(to).state == Delivery.State.DUE
    mailbox.refuses = "550 no such user"
    assert send_now(to).state == Delivery.State.FAILED
    to.refresh_from_db()

    assert "550 no such user" in to.disabled_why


def test_without_a_mail_server_the_channel_says_so_and_stays(
    channel: Callable[..., Channel], incident: Callable[..., Incident], settings: Any
) -> None:
    settings.EMAIL_HOST = ""
    to = channel("email", "alice@example.org")
    incident()
    delivery = send_now(to)

    assert delivery.state == Delivery.State.DUE
    assert "EMAIL_HOST" in delivery.problem


def test_an_address_inside_is_refused_for_good_before_anything_is_sent(
    channel: Callable[..., Channel], incident: Callable[..., Incident], receiver: Receiver, settings: Any
) -> None:
    settings.ALLOW_PRIVATE_TARGETS = []
    to = channel("webhook", receiver.url)
    incident()
    delivery = send_now(to)

    assert delivery.state == Delivery.State.FAILED
    assert "loopback" in delivery.problem
    assert not receiver.got


def test_two_notifiers_send_one_message(
    channel: Callable[..., Channel], incident: Callable[..., Incident], receiver: Receiver
) -> None:
    to = channel("webhook", receiver.url)
    incident()
    delivery = send_now(to)

    assert perform(delivery.pk) is False
    assert len(receiver.got) == 1


def test_a_notifier_that_died_is_taken_over(
    channel: Callable[..., Channel], incident: Callable[..., Incident], receiver: Receiver
) -> None:
    to = channel("webhook", receiver.url)
    incident()
    delivery = Delivery.objects.get(channel=to)
    Delivery.objects.update(due_at=timezone.now())
    assert deliveries.claim(delivery.pk, timezone.now())

    assert deliveries.reap(timezone.now()) == 0
    assert deliveries.reap(timezone.now() + timedelta(seconds=91)) == 1
    assert send_now(to).state == Delivery.State.SENT


def test_a_test_message_repairs_nothing_and_disables_nothing(
    channel: Callable[..., Channel], receiver: Receiver, db: None
) -> None:
    receiver.plan = [404]
    to = channel("webhook", receiver.url)
    delivery = alerts.write_test(to, timezone.now() - timedelta(seconds=1))
    perform(delivery.pk)
    delivery.refresh_from_db()
    to.refresh_from_db()

    assert delivery.state == Delivery.State.FAILED
    assert to.disabled_at is None
    assert "404" in to.last_error
