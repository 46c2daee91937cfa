"""One row of each kind that addresses name, all of one team."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID, uuid4

from django.utils import timezone

from drift import tokens
from drift.models import (
    Annotation,
    AnswerFile,
    Baseline,
    Canary,
    Channel,
    Checkup,
    Drill,
    EvalAnswer,
    EvalArm,
    EvalCase,
    EvalRun,
    EvalSet,
    EvalUpload,
    EvalVersion,
    Incident,
    Invitation,
    Run,
    Sample,
    Silence,
    StatusLink,
    Trial,
    User,
)

WORDS = {
    "chart": "divergence",
    "form": "csv",
    "slug": "divergence",
    "kind": "uploads",
    "table": "arms",
    "arm": "0",
}


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
    checkup = Checkup.objects.create(team=team, endpoint=endpoint, name="row", requested_by=owner)
    trial = Trial.objects.create(team=team, endpoint=endpoint, kind="dry_run", name="row", requested_at=now)
    mark = Annotation.objects.create(team=team, endpoint=endpoint, at=now, text="row")
    made = {
        "trial": trial.public_id,
        "annotation": mark.public_id,
        **_of_evals(run, owner),
        "checkup": checkup.public_id,
        "answer_file": AnswerFile.objects.create(team=team, name="row", raw=b"x").public_id,
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


def _of_evals(run: Run, owner: User) -> dict[str, UUID]:
    endpoint, now = run.monitor.endpoint, timezone.now()
    version = EvalVersion.objects.create(eval_set=EvalSet.objects.create(team=endpoint.team, name="row"))
    case = EvalCase.objects.create(version=version, position=0)
    made = EvalRun.objects.create(version=version, requested_by=owner, state="paused")
    arm = EvalArm.objects.create(run=made, position=0, name="A", endpoint=endpoint)
    answer = EvalAnswer.objects.create(
        arm=arm, case=case, repeat=1, prompt_digest="0", outcome="text", started_at=now, latency_ms=1, kind="chat",
        transport="whole", request=b"{}", raw=b"{}", decoder_version=1,
    )  # fmt: skip
    upload = EvalUpload.objects.create(
        team=endpoint.team, name="row.csv", raw=b"item_id,model,score,epoch\na,m,1,1\na,n,0,1\n"
    )
    return {
        "version": version.public_id,
        "evals:run": made.public_id,
        "eval_run": made.public_id,
        "eval_set": version.eval_set.public_id,
        "answer": answer.public_id,
        "upload": upload.public_id,
        "source": upload.public_id,
    }
