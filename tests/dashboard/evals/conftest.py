"""A finished run of two arms, and uploads, to look at."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.test import Client

from drift.answers import ScoredToken
from drift.evals import record
from drift.evals.case import Case
from drift.evals.plan import ArmPlan, start
from drift.evals.store import save_version
from drift.models import Endpoint, EvalAnswer, EvalRun, EvalUpload, EvalVersion, Team, User
from tests.conftest import exchange, read_text

AT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
QUESTIONS = ("What is 12 * 12?", "Name a sea.", "Is 91 prime?", "Capital of France?", "Spell 'tide'.", "2 + 2?")


@pytest.fixture
def as_bob(bob: User) -> Client:
    client = Client()
    client.force_login(bob)
    return client


@pytest.fixture
def version(team: Team) -> EvalVersion:
    cases = [
        Case(f"q{i}", messages=({"role": "user", "content": text},), targets=("yes",))
        for i, text in enumerate(QUESTIONS)
    ]
    return save_version(team=team, name="Six questions", cases=cases, grader_descriptions=[{"kind": "includes"}])


def answered(run: EvalRun, texts, fingerprint="fp_one") -> EvalRun:
    """Stores and grades an answer at every place: `texts(arm, case, repeat)`."""
    token = uuid4()
    EvalRun.objects.filter(pk=run.pk).update(
        state="running", claim=token, lease_until=AT + timedelta(hours=1), started_at=AT
    )
    rows = []
    for arm in run.arms.select_related("endpoint"):
        for case in run.version.cases.all():
            for repeat in range(1, run.repeats + 1):
                text = texts(arm.position, case.position, repeat)
                decoded = read_text(text, fingerprint=fingerprint)
                assert decoded.tokens is None or isinstance(decoded.tokens[0], ScoredToken)
                rows.append(record.Asked(arm, case, repeat, "d" * 16, exchange(AT), decoded))
    assert record.store(run, token, rows)
    for answer in EvalAnswer.objects.filter(arm__run=run):
        record.store_scores(answer, [], float("yes" in answer.text), answer.text, "", AT)
    record.count_progress(run)
    EvalRun.objects.filter(pk=run.pk).update(state="finished", claim=None, lease_until=None, finished_at=AT)
    run.refresh_from_db()
    return run


@pytest.fixture
def run(version: EvalVersion, endpoint: Endpoint) -> EvalRun:
    made = start(
        version, [ArmPlan(endpoint, "new prompt", system="Be kind."), ArmPlan(endpoint, "old prompt")], repeats=5
    )
    return answered(
        made,
        lambda arm, case, repeat: (
            "the answer is yes"
            if arm == 0 and case
            else f"the answer is {'yes' if (case + repeat) % 3 else 'no, sorry'}"
        ),
    )


@pytest.fixture
def upload(team: Team) -> EvalUpload:
    rows = "".join(
        f"c{i},{model},{int((i + k) % 3 > 0)},{k}\n" for i in range(20) for model in ("a", "b") for k in range(1, 6)
    )
    return EvalUpload.objects.create(team=team, name="scores.csv", raw=b"item_id,model,score,epoch\n" + rows.encode())
