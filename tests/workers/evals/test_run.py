"""An eval run from its start to its figures, over a real HTTP server."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from drift.evals import runs
from drift.evals.case import Case
from drift.evals.errors import EvalError
from drift.evals.plan import ArmPlan, deepen, start
from drift.evals.read import results_of_run
from drift.evals.report import report
from drift.evals.store import save_version
from drift.models import EvalAnswer, EvalRun, EvalScore
from tests.stack import wait_until
from tests.workers.evals.conftest import Reply
from workers.evals import asking
from workers.evals.run import perform

State = EvalRun.State


@pytest.fixture(autouse=True)
def loopback(settings) -> None:
    settings.ALLOW_PRIVATE_TARGETS = ["127.0.0.0/8"]


def done(run: EvalRun) -> EvalRun:
    run.refresh_from_db()
    return run


def test_every_answer_is_stored_graded_and_its_bytes_kept(chat, endpoint_at, version) -> None:
    server = chat(lambda body, number: Reply("yes" if "Question 1" not in body["messages"][-1]["content"] else "no"))
    run = start(version, [ArmPlan(endpoint_at(server.url))], repeats=3)
    perform(run.pk)
    assert done(run).state == State.FINISHED, run.problem
    assert (run.wanted, run.answered, run.graded) == (18, 18, 18)
    assert run.tokens == 18 * 15
    answer = EvalAnswer.objects.filter(arm__run=run, case__key="case-1").first()
    assert answer is not None
    assert answer.score == 0.0
    assert b'"no"' in bytes(answer.raw)
    assert b"Question 1?" in bytes(answer.request)
    assert answer.identity_label == "fp_one · gpt-x"
    found = report(results_of_run(run).arms[0])
    assert found.score is not None
    assert found.score.estimate.value == pytest.approx(5 / 6)
    assert found.spread is not None
    assert found.spread.run_sd == 0


def test_arms_are_asked_beside_each_other_and_each_case_once_a_round(chat, endpoint_at, version) -> None:
    server = chat()
    endpoint = endpoint_at(server.url)
    arms = [ArmPlan(endpoint, "plain"), ArmPlan(endpoint, "polite", template="Please: {{input}}")]
    run = start(version, arms, repeats=2, concurrency=1)
    perform(run.pk)
    questions = server.questions()
    for i in range(0, 24, 2):
        pair = {text.removeprefix("Please: ") for text in questions[i : i + 2]}
        assert len(pair) == 1, "the arms of a case follow each other"
    assert Counter(text.removeprefix("Please: ") for text in questions[:12]) == {f"Question {i}?": 2 for i in range(6)}


def test_an_arms_parameters_go_out_and_null_takes_one_away(chat, endpoint_at, version) -> None:
    server = chat()
    run = start(version, [ArmPlan(endpoint_at(server.url), parameters={"seed": None, "top_p": 0.5})], repeats=1)
    perform(run.pk)
    assert all("seed" not in body and body["top_p"] == 0.5 and body["temperature"] == 0 for body in server.asked)


def test_a_providers_error_is_unscored_and_never_a_fail(chat, endpoint_at, version) -> None:
    server = chat(
        lambda body, number: Reply(status=400) if "Question 2" in body["messages"][-1]["content"] else Reply()
    )
    run = start(version, [ArmPlan(endpoint_at(server.url))], repeats=2)
    perform(run.pk)
    assert done(run).state == State.FINISHED
    found = report(results_of_run(run).arms[0])
    assert found.score is not None
    assert found.score.estimate.value == 1.0
    assert [case.key for case in found.unscored_cases] == ["case-2"]
    assert found.unscored[0][1] == 2


def test_a_cache_never_answers_a_repeat(chat, endpoint_at, version) -> None:
    server = chat(lambda body, number: Reply(id="chatcmpl-same" + body["messages"][-1]["content"]))
    run = start(version, [ArmPlan(endpoint_at(server.url))], repeats=3)
    perform(run.pk)
    outcomes = Counter(EvalAnswer.objects.filter(arm__run=run).values_list("outcome", flat=True))
    assert outcomes == {"text": 6, "cached": 12}
    found = report(results_of_run(run).arms[0])
    assert found.scored == 6
    assert found.unscored == (("cached", 12),)


def test_a_run_whose_worker_died_asks_only_what_is_missing(chat, endpoint_at, version, monkeypatch) -> None:
    server = chat()
    run = start(version, [ArmPlan(endpoint_at(server.url))], repeats=3, concurrency=1)
    original, stored = asking.Round.flush, []

    def die(self: asking.Round) -> None:
        original(self)
        stored.append(self.brought)
        if self.brought:
            raise SystemExit("killed")

    monkeypatch.setattr(asking, "STORE_EVERY_S", 0.02)
    monkeypatch.setattr(asking.Round, "flush", die)
    with pytest.raises(SystemExit):
        perform(run.pk)
    assert done(run).state == State.RUNNING, "as a killed worker leaves it"
    before = EvalAnswer.objects.filter(arm__run=run).count()
    assert 0 < before <= 18
    monkeypatch.setattr(asking.Round, "flush", original)
    assert runs.reap(timezone.now() + timedelta(hours=1)) == 1
    asked_before = len(server.asked)
    perform(run.pk)
    assert done(run).state == State.FINISHED
    assert EvalAnswer.objects.filter(arm__run=run).count() == 18
    assert len(server.asked) - asked_before == 18 - before


def test_pause_lets_go_and_resume_goes_on(chat, endpoint_at, version, monkeypatch) -> None:
    paused = threading.Event()

    def reply(body, number: int) -> Reply:
        if number == 5:
            EvalRun.objects.filter(pk=run.pk).update(state=State.PAUSED, claim=None, lease_until=None)
            paused.set()
        if number >= 5:
            threading.Event().wait(0.05)
        return Reply()

    monkeypatch.setattr(asking, "STORE_EVERY_S", 0.02)
    server = chat(reply)
    run = start(version, [ArmPlan(endpoint_at(server.url))], repeats=5, concurrency=1)
    perform(run.pk)
    assert paused.is_set()
    assert done(run).state == State.PAUSED
    assert len(server.asked) < 30
    assert runs.resume(run)
    perform(run.pk)
    assert done(run).state == State.FINISHED
    assert run.answered == 30


def test_a_cap_pauses_with_the_figures_so_far(chat, endpoint_at, version) -> None:
    endpoint = endpoint_at(chat().url, price_in=Decimal(100), price_out=Decimal(1000))
    run = start(version, [ArmPlan(endpoint)], repeats=5, concurrency=1, cost_cap=Decimal("0.03"))
    perform(run.pk)
    assert done(run).state == State.PAUSED
    assert "cap of $ 0.03 is reached" in run.problem
    assert run.answered == run.graded == 5, "each costs $ 0.006"
    assert runs.resume(run)
    perform(run.pk)
    assert done(run).answered == 5, "nothing more is asked until the cap is raised"


def test_an_endpoint_that_is_down_makes_the_run_wait(chat, endpoint_at, version) -> None:
    endpoint = endpoint_at("http://127.0.0.1:1/v1")
    run = start(version, [ArmPlan(endpoint)], repeats=5, concurrency=2)
    perform(run.pk)
    assert done(run).state == State.DUE
    assert run.not_before is not None
    assert "rest" in run.problem
    assert run.answered < 30
    perform(run.pk)
    assert done(run).attempts == 0, "waiting is no failed try"


def test_repeats_can_be_set_per_case(chat, endpoint_at, team) -> None:
    cases = [
        Case("often", messages=({"role": "user", "content": "a"},), targets=("yes",), repeats=4),
        Case("usual", messages=({"role": "user", "content": "b"},), targets=("yes",)),
    ]
    version = save_version(team=team, name="Two", cases=cases, grader_descriptions=[{"kind": "exact"}])
    server = chat()
    run = start(version, [ArmPlan(endpoint_at(server.url))], repeats=2)
    perform(run.pk)
    assert Counter(server.questions()) == {"a": 4, "b": 2}
    assert done(run).wanted == 6


def test_stopping_early_by_evidence(chat, endpoint_at, version) -> None:
    server = chat(lambda body, number: Reply("yes" if body["messages"][0]["role"] == "system" else "no"))
    endpoint = endpoint_at(server.url)
    run = start(
        version, [ArmPlan(endpoint, "a", system="Say yes."), ArmPlan(endpoint, "b")], repeats=20, stop_early=True
    )
    perform(run.pk)
    assert done(run).state == State.FINISHED
    assert "stopped after round 2 of 20" in run.problem
    assert run.answered == 24


def test_flipping_cases_can_be_asked_deeper(chat, endpoint_at, version) -> None:
    server = chat(lambda body, number: Reply("yes" if number % 2 else "no"))
    run = start(version, [ArmPlan(endpoint_at(server.url))], repeats=3)
    perform(run.pk)
    deeper = deepen(run, None, ["case-1", "case-3"], 20)
    perform(deeper.pk)
    assert done(deeper).answered == 40
    assert deeper.deepens == run
    assert {case.key for case in results_of_run(deeper).arms[0].cases} == {"case-1", "case-3"}


def test_a_judge_speaks_several_times_and_its_noise_is_told_apart(chat, endpoint_at, team) -> None:
    judge = endpoint_at(chat(lambda body, number: Reply(f"Hm.\nGRADE: {'C' if number % 3 else 'I'}")).url, "judge")
    cases = [Case(f"c{i}", messages=({"role": "user", "content": f"q{i}"},)) for i in range(4)]
    grader = {
        "kind": "model_graded",
        "rubric": "Says yes.",
        "endpoint": str(judge.public_id),
        "repeats": 3,
        "threshold": 0.5,
    }
    version = save_version(team=team, name="Judged", cases=cases, grader_descriptions=[grader])
    run = start(version, [ArmPlan(endpoint_at(chat().url))], repeats=2)
    perform(run.pk)
    assert done(run).state == State.FINISHED, run.problem
    assert EvalScore.objects.filter(answer__arm__run=run).count() == 24
    assert all(bytes(row.raw or b"") for row in EvalScore.objects.filter(answer__arm__run=run))
    found = report(results_of_run(run).arms[0])
    assert found.judge is not None
    assert found.judge.answers == 8
    assert found.judge.sd > 0


def test_a_judge_that_says_no_grade_leaves_the_answer_unscored(chat, endpoint_at, team) -> None:
    judge = endpoint_at(chat(Reply("I would rather not.")).url, "judge")
    cases = [Case("c", messages=({"role": "user", "content": "q"},))]
    grader = {"kind": "model_graded", "rubric": "Says yes.", "endpoint": str(judge.public_id), "repeats": 2}
    version = save_version(team=team, name="Judged", cases=cases, grader_descriptions=[grader])
    run = start(version, [ArmPlan(endpoint_at(chat().url))], repeats=1)
    perform(run.pk)
    assert report(results_of_run(done(run)).arms[0]).score is None


def test_a_judge_of_another_team_is_refused(chat, endpoint_at, team, mallory) -> None:
    stranger = endpoint_at("http://127.0.0.1:1/v1", "theirs")
    stranger.team = mallory.teams.get()
    stranger.save()
    cases = [Case("c", messages=({"role": "user", "content": "q"},))]
    grader = {"kind": "model_graded", "rubric": "x", "endpoint": str(stranger.public_id)}
    version = save_version(team=team, name="Judged", cases=cases, grader_descriptions=[grader])
    with pytest.raises(EvalError, match="not one of this team"):
        start(version, [ArmPlan(endpoint_at("http://127.0.0.1:1/v1", "mine"))])
    with pytest.raises(EvalError, match="another team"):
        start(version, [ArmPlan(stranger)])


def test_kill_nine_loses_nothing_that_was_stored(chat, endpoint_at, version, processes) -> None:
    """GIVEN a worker that is killed in the middle WHEN its claim has run out THEN another asks only what is missing."""

    def slow(body, number: int) -> Reply:
        threading.Event().wait(0.25)
        return Reply()

    server = chat(slow)
    run = start(version, [ArmPlan(endpoint_at(server.url))], repeats=20, concurrency=2)
    script = f"import django; django.setup(); from workers.evals.run import perform; perform({run.pk})"
    worker = processes.start("eval", "-c", script, ALLOW_PRIVATE_TARGETS="127.0.0.0/8")
    wait_until(lambda: done(run).answered >= 6, 60, "some answers to be stored")
    worker.kill()
    worker.wait()
    kept, asked = done(run).answered, len(server.asked)
    assert run.state == State.RUNNING
    wait_until(lambda: runs.reap(timezone.now()) == 1, 30, "the claim to run out")
    perform(run.pk)
    assert done(run).state == State.FINISHED, run.problem
    assert EvalAnswer.objects.filter(arm__run=run).count() == 120
    assert len(server.asked) - asked <= 120 - kept
