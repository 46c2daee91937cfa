"""Performs one eval run for a while: asks what is missing, grades it, and hands the rest back."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext_noop

from drift.evals import runs
from drift.evals.plan import cases_of
from drift.measure.evals.anytime import Discordance, discordance
from drift.models import EvalAnswer, EvalArm, EvalCase, EvalRun
from drift.said import said
from workers.evals.asking import Budget, CapReachedError, Round, ask_open
from workers.evals.caching import settle
from workers.evals.grading import grade_open
from workers.evals.order import Place, places, rounds
from workers.evals.shares import WaitError
from workers.probe.holding import ClaimLostError

log = logging.getLogger(__name__)

SLICE = timedelta(minutes=5)  # then the run goes back into the queue, and others get their turn
ALPHA = 0.05


def perform(run_id: int) -> None:
    """Does some of the run, if it is due. A failure of our own gives it back; an endpoint's failure is a result."""
    claimed = runs.claim(run_id, timezone.now())
    if claimed is None:
        return
    run, token = claimed
    try:
        _advance(run, token, timezone.now() + SLICE)
    except ClaimLostError:
        log.info("eval run %s was paused, stopped or taken over", run.public_id)
    except WaitError as waiting:
        runs.wait(run, token, timezone.now(), waiting.why, waiting.after)
    except CapReachedError as cap:
        _grade_what_is_there(run, token)
        runs.hold(run, token, str(cap))
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        runs.put_back(run, token, timezone.now(), why, timedelta(seconds=30), brought=False)
        raise


def _advance(run: EvalRun, token: UUID, until: datetime) -> None:
    """Round by round where the evidence may stop the run early, else all rounds in one go."""
    arms = list(run.arms.select_related("endpoint").order_by("position"))
    cases = cases_of(run.version, run.only_cases)
    every = range(1, rounds(cases, run.repeats) + 1)
    stages = [[number] for number in every] if run.stop_early else [list(every)]
    for stage in stages:
        _ask_stage(run, token, arms, cases, stage, until)
        settle(run)
        grade_open(run, token, until)
        if _open(run, arms, cases, stage) or EvalAnswer.objects.filter(arm__run=run, graded_at=None).exists():
            runs.put_back(run, token, timezone.now(), "", timedelta(0), brought=True)
            return
        if run.stop_early and stage[-1] < every[-1]:
            found = evidence(arms)
            if found.decided(ALPHA):
                decided = said(
                    gettext_noop("stopped after round {stage} of {every}: the evidence is {evidence} to 1"),
                    stage=stage[-1],
                    every=every[-1],
                    evidence=f"{found.evidence:,.0f}",
                )
                runs.end(run, token, timezone.now(), EvalRun.State.FINISHED, decided)
                return
    runs.end(run, token, timezone.now(), EvalRun.State.FINISHED)


def _ask_stage(
    run: EvalRun, token: UUID, arms: Sequence[EvalArm], cases: Sequence[EvalCase], stage: Sequence[int], until: datetime
) -> None:
    left = _open(run, arms, cases, stage)
    if left:
        budget = Budget(run.cost_cap, run.token_cap, run.cost, run.tokens)
        ask_open(Round(run, token, until, budget), arms, left)
        run.refresh_from_db(fields=["cost", "tokens"])


def _open(run: EvalRun, arms: Sequence[EvalArm], cases: Sequence[EvalCase], stage: Sequence[int]) -> list[Place]:
    answered = EvalAnswer.objects.filter(arm__run=run, repeat__in=stage)
    done = set(answered.values_list("arm_id", "case_id", "repeat"))
    return places(arms, cases, run.repeats, stage, done, run.pk)


def _grade_what_is_there(run: EvalRun, token: UUID) -> None:
    """A run that its cap stops still has figures for what was asked."""
    try:
        settle(run)
        grade_open(run, token, timezone.now() + SLICE)
    except (WaitError, ClaimLostError) as error:
        log.info("eval run %s: grading waits: %s", run.public_id, error)


def evidence(arms: Sequence[EvalArm]) -> Discordance:
    """Discordant pairs of the two arms so far, over the same case and round."""
    a, b = (
        {
            (case, repeat): score
            for case, repeat, score in arm.answers.values_list("case_id", "repeat", "score")
            if score is not None
        }
        for arm in arms
    )
    return discordance((a[key], b[key]) for key in a if key in b)
