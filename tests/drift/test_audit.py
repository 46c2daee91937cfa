"""What people change leaves a line, whichever table it is in; what the service does all day does not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from drift import baselines, drills, incidents
from drift.audit import acting
from drift.evals import plan, runs
from drift.evals.case import Case
from drift.evals.store import save_version
from drift.fit import thresholds
from drift.models import AnswerFile, AuditEntry, Endpoint, EvalUpload, Incident, Monitor, Run, Team, User

QUESTION = ({"role": "user", "content": "Capital of France?"},)


def lines(**fields: object) -> list[tuple[str, str, str, list[str]]]:
    """(action, subject, name, changed fields), the oldest first."""
    rows = AuditEntry.objects.filter(**fields).order_by("pk")
    return [(row.action, row.subject, row.subject_name, sorted(row.changes)) for row in rows]


@pytest.fixture
def by_alice(alice: User) -> Callable[[], object]:
    return lambda: acting(user_id=alice.pk, name="alice", via="page")


def test_an_eval_is_noted_from_its_set_to_its_end_but_not_its_own_steps(
    team: Team, endpoint: Endpoint, alice: User, by_alice: Callable[[], acting]
) -> None:
    with by_alice():
        case = Case("fr", messages=QUESTION, targets=("Paris",))
        version = save_version(team=team, name="Capitals", cases=[case], grader_descriptions=[{"kind": "includes"}])
        run = plan.start(version, [plan.ArmPlan(endpoint)], user=alice, repeats=2)
    claimed = runs.claim(run.pk, timezone.now())
    assert claimed is not None
    runs.renew(*claimed, timezone.now())
    with by_alice():
        runs.pause(run)
        type(version.eval_set).objects.filter(pk=version.eval_set_id).update(archived_at=timezone.now())
    noted = [line for line in lines() if line[1].startswith("eval")]
    assert [line[:3] for line in noted] == [
        ("created", "evalset", "Capitals"),
        ("created", "evalversion", "Capitals v1"),
        ("created", "evalrun", "Capitals v1"),
        ("changed", "evalrun", "Capitals v1"),
        ("changed", "evalset", "Capitals"),
    ]
    assert noted[3][3] == ["state"]
    assert AuditEntry.objects.get(subject="evalrun", action="changed").team_id == team.pk


def test_files_are_noted_without_their_bytes(team: Team, by_alice: Callable[[], acting]) -> None:
    with by_alice():
        EvalUpload.objects.create(team=team, name="scores.csv", raw=b"very private scores")
        AnswerFile.objects.create(team=team, name="answers.jsonl", raw=b"very private answers")
    for subject, name in (("evalupload", "scores.csv"), ("answerfile", "answers.jsonl")):
        entry = AuditEntry.objects.get(subject=subject)
        assert (entry.subject_name, entry.team_id) == (name, team.pk)
        assert "raw" not in entry.changes


def test_baselines_and_incidents_are_noted_where_a_person_decided(
    team: Team, monitor: Monitor, alice: User, by_alice: Callable[[], acting], record_answers: Callable[..., Run]
) -> None:
    run = record_answers(monitor, [["a b", "a b"], ["x", "x"]])
    assert run.series is not None
    now = timezone.now()
    incident = Incident.objects.create(
        team=team, family="change", provider="Example", severity="high", title="t", began_at=now, opened_at=now,
        last_finding_at=now,
    )  # fmt: skip
    assert not AuditEntry.objects.filter(subject__in=["baseline", "incident"]).exists()
    with by_alice():
        baselines.pin(baselines.take_now(run.series, alice, now), True)
        incidents.acknowledge(incident, alice, "asked the provider", now + timedelta(hours=1), now)
        drills.ask(team, alice, now)
        thresholds.change(team, alice, {"audit_cap": 512})
    noted = {line[1]: line for line in lines(subject__in=["incident", "drill", "fitthresholds"])}
    assert noted["incident"] == ("changed", "incident", "Example", ["acknowledged_until", "acknowledged_why", "state"])
    assert {"drill", "fitthresholds"} <= set(noted)
    assert ("changed", "baseline", monitor.endpoint.name, ["pinned"]) in lines(subject="baseline")
