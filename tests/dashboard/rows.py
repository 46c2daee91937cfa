"""One row of each kind that addresses name, all of one team."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from django.utils import timezone

from drift import tokens
from drift.models import Baseline, Canary, Channel, Drill, Incident, Invitation, Run, Sample, Silence, StatusLink, User

WORDS = {"chart": "divergence", "form": "csv", "slug": "divergence"}


def rows_of(run: Run, owner: User) -> dict[str, str]:
    """What stands in an address for each parameter name."""
    monitor = run.monitor
    team = monitor.endpoint.team
    sample = Sample.objects.filter(run=run).order_by("canary_id", "repeat")[0]
    token, _ = tokens.issue(team=team, user=owner, name="row")
    invitation = Invitation.objects.create(
        team=team, email="guest@example.org", invited_by=owner, expires_at=timezone.now() + timedelta(days=1)
    )
    link = StatusLink.objects.create(team=team, name="row", created_by=owner)
    now = timezone.now()
    endpoint = monitor.endpoint
    incident = Incident.objects.create(
        team=team,
        family="change",
        provider="Example",
        severity="high",
        title="gpt-x: new identity",
        began_at=now,
        opened_at=now,
        last_finding_at=now,
    )
    silence = Silence.objects.create(
        team=team, endpoint=endpoint, starts_at=now, ends_at=now + timedelta(hours=1), reason="row"
    )
    channel = Channel.objects.create(team=team, kind="webhook", name="row", address="https://example.org/gpt-x")
    drill = Drill.objects.create(team=team, requested_at=now)
    made = {
        "incident": incident.public_id,
        "silence": silence.public_id,
        "channel": channel.public_id,
        "drill": drill.public_id,
        "baseline": Baseline.objects.filter(series=run.series)[0].public_id,
        "endpoint": monitor.endpoint.public_id,
        "monitor": monitor.public_id,
        "suite": monitor.suite.public_id,
        "canary": Canary.objects.get(pk=sample.canary_id).public_id,
        "run": run.public_id,
        "sample": sample.public_id,
        "token": token.public_id,
        "invitation": invitation.public_id,
        "link": link.public_id,
        "member": owner.username,
        "session": uuid4(),
        "team": team.public_id,
        "signature": "x",
    }
    return {**WORDS, **{name: str(value) for name, value in made.items()}}
