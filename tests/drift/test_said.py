"""What is stored is said in the language of whoever reads it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import translation
from django.utils.translation import gettext_noop

from drift import figures, incidents, monitors
from drift.findings.kinds import Kind
from drift.messages import message_for
from drift.models import AuditEntry, Channel, Delivery, Endpoint, Event, Finding, Incident, Monitor, Run, Team
from drift.said import Counted, found, said, say
from tests.drift.findings.simulated import fp

NOON = datetime(2026, 11, 29, 14, 5, tzinfo=UTC)
CHINESE = "zh-hans"


@pytest.fixture
def incident(endpoint: Endpoint) -> Incident:
    finding = Finding(
        team_id=endpoint.team_id,
        endpoint=endpoint,
        kind=Kind.NEW_IDENTITY,
        severity=Kind.NEW_IDENTITY.severity,
        began_at=NOON,
        found_at=NOON + timedelta(minutes=5),
        facts={"new": [fp("fp_b")], "old": [fp("fp_a")], "taken_over": True},
    )
    incidents.file([finding], NOON + timedelta(minutes=5))
    assert finding.incident is not None
    return finding.incident


def test_a_stored_sentence_reads_in_every_language(monitor: Monitor) -> None:
    monitors.pause(monitor, said(gettext_noop("paused by {name}"), name="alice"))
    assert Monitor.objects.get().paused_reason == "paused by alice"
    with translation.override(CHINESE):
        assert Monitor.objects.get().paused_reason == "由 alice 暂停"
        read = Monitor.objects.get()
        read.save()  # in another language than it was written in
    assert Monitor.objects.get().paused_reason == "paused by alice"


def test_what_a_person_wrote_stays_as_it_was_written(monitor: Monitor) -> None:
    monitors.pause(monitor, "endpoint archived {name}")
    with translation.override(CHINESE):
        assert Monitor.objects.get().paused_reason == "endpoint archived {name}"


def test_nobody_can_write_a_message_by_hand(monitor: Monitor) -> None:
    forged = '\x1e{"text": "paused by {name}", "with": {"name": "root"}}'
    monitors.pause(monitor, forged)
    with translation.override(CHINESE):
        assert Monitor.objects.get().paused_reason == forged[1:]


def test_sentences_hold_sentences_numbers_times_and_names() -> None:
    text = said(
        gettext_noop("{title}. Resolved: {resolution}"),
        title=said(gettext_noop("{who}: {what}"), who=Counted(2, "endpoint"), what=said(Kind.NEW_IDENTITY.text)),
        resolution=found(Kind.RECOVERY, NOON, {"down_for": {"seconds": 10_800}}),
    )
    assert text == "2 endpoints: new identity. Resolved: It answers again, after 3 h."
    with translation.override(CHINESE):
        assert say(text) == "2 个端点：新身份。已解决：3 小时后恢复回应。"


def test_an_incident_and_its_line_in_the_feed_are_told_in_chinese(incident: Incident, endpoint: Endpoint) -> None:
    name = endpoint.name
    with translation.override(CHINESE):
        assert Incident.objects.get().title == f"{name}：新身份"
        told = Event.objects.get(kind=Event.Kind.FINDING).text
    assert told == f"{name}：自 11月29日 14:05 UTC 起每个回答都带有 fp_b；之前是 fp_a。"
    assert Event.objects.get(kind=Event.Kind.OPENED).text == f"Incident opened: {name}: new identity"


def test_a_channel_is_told_in_its_language(incident: Incident, team: Team) -> None:
    delivered = {}
    for language in ("en", CHINESE):
        channel = Channel.objects.create(
            team=team, kind="email", name=language, address="a@example.org", address_hint="a@…", language=language
        )
        delivery = Delivery.objects.create(
            channel=channel, incident=incident, kind="alert", created_at=NOON, due_at=NOON
        )
        delivered[language] = message_for(delivery, NOON)
    assert delivered["en"]["severity_word"] == "Severe"
    assert delivered["en"]["title"].endswith(": new identity")
    assert delivered[CHINESE]["severity_word"] == "严重"
    assert delivered[CHINESE]["title"].endswith("：新身份")
    assert delivered[CHINESE]["advice"].startswith("不要与之前的结果比较")


def test_a_reason_can_be_looked_for(monitor: Monitor) -> None:
    from drift.schedule import STILL_GOING

    common = {"monitor": monitor, "state": Run.State.SKIPPED, "repeats": 2, "concurrency": 1}
    Run.objects.create(scheduled_for=NOON, problem=said(STILL_GOING), **common)
    Run.objects.create(scheduled_for=NOON + timedelta(hours=1), problem=STILL_GOING, **common)
    assert Run.objects.filter(problem__in=[said(STILL_GOING), STILL_GOING]).count() == 2


def test_the_audit_log_reads_in_the_reader_s_language(monitor: Monitor) -> None:
    monitors.pause(monitor, said(gettext_noop("paused by {name}"), name="alice"))
    entry = AuditEntry.objects.filter(subject="monitor", action="changed").latest("at")
    with translation.override(CHINESE):
        assert entry.told["paused_reason"] == ["", "由 alice 暂停"]


def test_figures_follow_the_language() -> None:
    with translation.override(CHINESE):
        assert figures.percent(0.312) == "31.2%"
        assert figures.interval(0.27, 0.3564) == "27.0–35.6%"
        assert figures.duration(timedelta(hours=3)) == "3 小时"
        assert figures.ago(NOON, NOON + timedelta(seconds=40)) == "40 秒前"
        assert figures.cadence(300) == "每 5 分钟"
        assert figures.plural(1204, "endpoint") == "1,204 个端点"
        assert figures.day_time(NOON) == "11月29日 14:05"
        assert figures.date(NOON) == "2026年11月29日"
        assert figures.words("http_error") == "HTTP 错误"
