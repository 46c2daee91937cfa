"""The in-house worker checked up in both modes, its real weights asked over HTTP: each mode gets the right verdicts."""

from __future__ import annotations

import pytest

from drift.checkup import start, store
from drift.checkup.plan import Wish
from drift.checkup.report import Report
from drift.fit import facts, jobs
from drift.fit.jobs import FIT, NOT_FIT
from drift.fit.thresholds import DEFAULTS
from drift.models import Checkup, Endpoint, Monitor, Suite, Team
from drift.provision import ensure_in_house, make_suite
from tests.workers.test_in_house import UNDECIDED, worker
from workers.checkup.run import perform
from workers.probe.check import perform as check

pytestmark = [pytest.mark.model, pytest.mark.timeout(1800)]

BUSY = Wish(repeats=3, concurrencies=(1, 16), max_tokens=48, prefix_questions=0, scored=True)
WISH = Wish(repeats=3, concurrencies=(1, 8), max_tokens=32, prefix_words=30, prefix_questions=3, scored=True)
# so few answers cannot exclude what many would
LIMITS = {**DEFAULTS, "replay_bound": 0.5, "prefix_excess": 0.7}


@pytest.fixture
def few(team: Team) -> Suite:
    return make_suite(team, "A few undecided", UNDECIDED[:4])


@pytest.fixture
def undecided(team: Team) -> Suite:
    return make_suite(team, "Undecided", UNDECIDED)


def examined(team: Team, suite: Suite, mode: str, base_url: str, wish: Wish) -> tuple[Endpoint, Report]:
    endpoint = ensure_in_house(team, mode, base_url, "smollm2-135m-instruct")
    check(endpoint.checks.get().pk)
    Monitor.objects.filter(endpoint=endpoint).delete()
    Endpoint.objects.filter(pk=endpoint.pk).update(max_concurrency=max(wish.concurrencies))
    endpoint.refresh_from_db()
    checkup = start.start(endpoint, wish, suite=suite)
    while not checkup.over:
        perform(checkup.pk)
        checkup.refresh_from_db()
    assert (checkup.state, checkup.problem) == (Checkup.State.FINISHED, "")
    report = store.report_of(checkup)
    assert report is not None
    return endpoint, report


def verdicts(endpoint: Endpoint) -> dict[str, str]:
    return {one.job: one.word for one in jobs.judge(facts.gather([endpoint])[0], LIMITS)}


def test_invariant_mode_is_exact_in_every_way_that_is_measured(processes, team: Team, few: Suite) -> None:
    endpoint, report = examined(team, few, "invariant", worker(processes, "invariant"), WISH)

    assert report.quiet is not None
    assert report.quiet.pairs_differing == 0
    assert not any(one.matters for one in report.under_load)
    assert max(at.high for at in report.by_batch) >= 2
    assert all(at.divergence is None or at.divergence.value == 0 for at in report.by_batch)
    assert report.scored is not None
    assert (report.scored.unmatched, report.scored.differing) == (0, 0)
    assert report.scored.tokens >= 100
    assert report.prefix is not None
    assert report.prefix.hits is not None
    assert report.prefix.hits.value == 1
    assert report.prefix.excess is not None
    assert report.prefix.excess.value == 0
    assert report.greedy.word == "greedy"
    assert report.seed.word == "repeats"
    judged = verdicts(endpoint)
    assert (judged["replay"], judged["rl"], judged["prefix"]) == (FIT, FIT, FIT)


def test_fast_mode_changes_with_its_company_and_is_told_so(processes, team: Team, undecided: Suite) -> None:
    endpoint, report = examined(team, undecided, "fast", worker(processes, "fast"), BUSY)

    differing = sum(one.pairs_differing for one in (report.quiet, *report.loads) if one is not None)
    assert differing > 0 or any(one.matters for one in report.under_load)
    assert report.near_ties is not None
    assert report.scored is not None
    assert report.scored.differing > 0
    judged = verdicts(endpoint)
    assert (judged["replay"], judged["rl"]) == (NOT_FIT, NOT_FIT)
    assert "invariant" in next(one.price for one in jobs.judge(facts.gather([endpoint])[0], LIMITS) if one.price)
