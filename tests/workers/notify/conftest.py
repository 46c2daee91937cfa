"""A team with an incident, and receivers to tell it to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from drift import incidents
from drift.findings.kinds import Kind
from drift.models import Channel, Endpoint, Finding, Incident, Team
from tests.drift.findings.simulated import fp
from tests.workers.notify.receivers import Mailbox, Receiver


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    box = Mailbox()
    box.controller.start()
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", box.port
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
    settings.DEFAULT_FROM_EMAIL = "Tidegauge <gauge@example.org>"
    yield box
    box.controller.stop()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        yield server


@pytest.fixture
def channel(team: Team) -> Callable[..., Channel]:
    def make(kind: str, address: str, **fields: Any) -> Channel:
        number = Channel.objects.filter(team=team).count()
        return Channel.objects.create(
            team=team,
            kind=kind,
            name=fields.pop("name", f"{kind} {number}"),
            address=address,
            address_hint=address[:12],
            signing_secret=fields.pop("signing_secret", "s3cret"),
            **fields,
        )

    return make


@pytest.fixture
def incident(endpoint: Endpoint) -> Callable[..., Incident]:
    """Files a finding (a fingerprint that took over, unless said otherwise) and gives its incident."""

    def make(kind: Kind = Kind.NEW_IDENTITY, where: Endpoint | None = None, **facts: Any) -> Incident:
        now = timezone.now()
        there = where or endpoint
        finding = Finding(
            team_id=there.team_id,
            endpoint=there,
            kind=kind,
            severity=kind.severity,
            began_at=now - timedelta(minutes=5),
            found_at=now,
            voids=kind.voids,
            chance=1e-4,
            facts={"new": [fp("fp_b")], "old": [fp("fp_a")], "taken_over": True, "answers": 80} | facts,
        )
        incidents.file([finding], now)
        assert finding.incident is not None
        return finding.incident

    return make
