"""A real run of 20 cases on both in-house endpoints: same weights, same prompts, temperature 0."""

from __future__ import annotations

import pytest
from django.utils import timezone

from drift.evals import runs
from drift.evals.case import Case
from drift.evals.plan import ArmPlan, start
from drift.evals.read import results_of_run
from drift.evals.report import report
from drift.evals.store import save_version
from drift.models import EvalRun, Team
from drift.provision import ensure_in_house
from tests.workers.test_in_house import worker
from workers.evals.run import perform
from workers.probe.check import perform as check

pytestmark = [pytest.mark.model, pytest.mark.timeout(1200)]

QUESTIONS = (
    ("What is the capital of France?", "Paris"),
    ("What is the capital of Japan?", "Tokyo"),
    ("Name the largest planet of the solar system.", "Jupiter"),
    ("What is 7 times 8?", "56"),
    ("Who wrote Hamlet?", "Shakespeare"),
    ("What do bees make?", "honey"),
    ("Which metal has the symbol Fe?", "iron"),
    ("What is the opposite of hot?", "cold"),
    ("How many days does a week have?", "seven"),
    ("Which ocean is the largest?", "Pacific"),
    ("Who was Richard Feynman?", "physicist"),
    ("Explain why the sky is blue.", "scatter"),
    ("Make up a riddle.", "What"),
    ("Make up a magic spell.", "spell"),
    ("Make up a pen name.", "name"),
    ("Make up ten strange passwords.", "password"),
    ("Write five nonsense words.", "1."),
    ("Write a fictional planet.", "planet"),
    ("Invent a dream.", "dream"),
    ("Invent a random serial number.", "number"),
)


def test_the_invariant_worker_never_flips_and_has_no_noise(processes, team: Team, settings) -> None:
    settings.ALLOW_PRIVATE_TARGETS = ["127.0.0.0/8"]
    arms = []
    for mode in ("fast", "invariant"):
        endpoint = ensure_in_house(team, mode, worker(processes, mode), "smollm2-135m-instruct")
        check(endpoint.checks.get().pk)
        endpoint.refresh_from_db()
        arms.append(ArmPlan(endpoint, mode))
    cases = [
        Case(f"q{i:02}", messages=({"role": "user", "content": text},), targets=(target,))
        for i, (text, target) in enumerate(QUESTIONS)
    ]
    version = save_version(team=team, name="Twenty", cases=cases, grader_descriptions=[{"kind": "includes"}])
    run = start(version, arms, repeats=5, concurrency=6, max_tokens=20)
    while run.state not in (EvalRun.State.FINISHED, EvalRun.State.FAILED):
        EvalRun.objects.filter(pk=run.pk).update(not_before=timezone.now())
        perform(run.pk)
        run.refresh_from_db()
    assert run.state == EvalRun.State.FINISHED, run.problem
    assert (run.answered, run.graded) == (200, 200)
    assert runs.reap(timezone.now()) == 0

    fast, invariant = (report(arm) for arm in results_of_run(run).arms)
    for found in (fast, invariant):
        assert found.scored == 100, found.unscored
        assert found.spread is not None
        assert found.raw_agreement is not None
        print(
            f"{found.name}: {found.score.estimate if found.score else None}; run SD {found.spread.run_sd:.4f}; "
            f"flips {len(found.flipping)}; TARr {found.raw_agreement.value:.3f}"
        )
    assert invariant.flipping == ()
    assert invariant.spread is not None
    assert invariant.spread.run_sd == 0
    assert invariant.raw_agreement is not None
    assert invariant.raw_agreement.value == 1.0, "every answer is the same, token for token"
    assert fast.raw_agreement is not None
    assert fast.raw_agreement.value < 1.0, "stock kernels answer otherwise when the batch does"
