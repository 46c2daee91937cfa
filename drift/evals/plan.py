"""What a run will cost before it is started, and the run itself once it is agreed to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from drift.evals import graders
from drift.evals.case import prompt
from drift.evals.errors import EvalError
from drift.evals.store import case_of, graders_of
from drift.measure.agreement import split_text
from drift.models import Endpoint, EvalArm, EvalCase, EvalRun, EvalVersion, User

MOST_ARMS = 8
MOST_ANSWERS = 200_000
PER_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class ArmPlan:
    """One arm as a person asks for it."""

    endpoint: Endpoint
    name: str = ""
    template: str = ""
    system: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Estimate:
    """`cost` None: some endpoint has no price. At most: every answer is taken to use its whole cap.

    Prompt tokens are estimated by an approximate split of the text.
    """

    answers: int
    verdicts: int
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal | None


def estimate(
    version: EvalVersion, arms: Sequence[ArmPlan], repeats: int, max_tokens: int, only: Sequence[str] | None = None
) -> Estimate:
    """The most that a run can cost. Raises EvalError where a prompt cannot be made."""
    answers = verdicts = asked = 0
    cost: Decimal | None = Decimal(0)
    rows = cases_of(version, only)
    for arm in arms:
        tokens = 0
        for row in rows:
            case, times = case_of(row), row.repeats or repeats
            messages = prompt(case, arm.template or ("" if case.messages else version.template), arm.system)
            tokens += times * sum(len(split_text(str(message.get("content", "")))) + 4 for message in messages)
            answers += times
            judges = [d for d in graders_of(row, version) if d["kind"] == "model_graded"]
            verdicts += times * sum(int(d.get("repeats", 3)) for d in judges)
        asked += tokens
        price = price_of(arm.endpoint, tokens, max_tokens * sum(row.repeats or repeats for row in rows))
        cost = None if cost is None or price is None else cost + price
    return Estimate(answers, verdicts, asked, answers * max_tokens, cost)


def refuse_blind_cap(planned: Estimate, cost_cap: Decimal | None) -> None:
    """Raises EvalError where a cap in dollars cannot be kept, because some endpoint has no prices."""
    if planned.cost is None and cost_cap is not None:
        raise EvalError(
            gettext("An endpoint without prices cannot be held to a cap in dollars: set its prices, or cap tokens.")
        )


def price_of(endpoint: Endpoint, prompt_tokens: int, completion_tokens: int) -> Decimal | None:
    """Dollars at the endpoint's prices; 0 for our own worker; None where no price is set."""
    if endpoint.in_house:
        return Decimal(0)
    if endpoint.price_in is None or endpoint.price_out is None:
        return None
    return (endpoint.price_in * prompt_tokens + endpoint.price_out * completion_tokens) / PER_MILLION


def cases_of(version: EvalVersion, only: Sequence[str] | None = None) -> list[EvalCase]:
    rows = version.cases.all()
    return list(rows if only is None else rows.filter(key__in=list(only)))


def start(
    version: EvalVersion,
    arms: Sequence[ArmPlan],
    *,
    user: User | None = None,
    repeats: int = 5,
    only: Sequence[str] | None = None,
    **fields: Any,
) -> EvalRun:
    """Makes a run that a worker will find. `fields`: others of EvalRun. Raises EvalError."""
    if not 1 <= len(arms) <= MOST_ARMS:
        raise EvalError(
            gettext("a run has 1 to {most_arms} arms, not {arms}").format(most_arms=MOST_ARMS, arms=len(arms))
        )
    team = version.eval_set.team_id
    if any(arm.endpoint.team_id != team for arm in arms):
        raise EvalError(gettext("an arm's endpoint belongs to another team"))
    if fields.get("stop_early") and len(arms) != 2:
        raise EvalError(gettext("stopping early compares two arms"))
    _judges(version, team)
    planned = estimate(version, arms, repeats, fields.get("max_tokens", 256), only)
    if not planned.answers:
        raise EvalError(gettext("there is no case to ask"))
    if planned.answers > MOST_ANSWERS:
        raise EvalError(
            gettext("{answers} answers are more than {most_answers}: fewer cases, arms or repeats").format(
                answers=f"{planned.answers:,}", most_answers=f"{MOST_ANSWERS:,}"
            )
        )
    with transaction.atomic():
        run = EvalRun.objects.create(
            version=version,
            repeats=repeats,
            only_cases=list(only) if only is not None else None,
            wanted=planned.answers,
            requested_by=user,
            **fields,
        )
        EvalArm.objects.bulk_create(
            EvalArm(
                run=run,
                position=i,
                name=name,
                endpoint=arm.endpoint,
                template=arm.template,
                system=arm.system,
                parameters=dict(arm.parameters),
            )
            for i, (arm, name) in enumerate(zip(arms, names(arms), strict=True))
        )
    return run


def _judges(version: EvalVersion, team: int) -> None:
    """Raises EvalError unless every judging model is an endpoint of the team."""
    described = [*version.graders, *(d for row in version.cases.exclude(graders=[]) for d in row.graders)]
    for description in described:
        grader = graders.make(description)
        if isinstance(grader, graders.ModelGraded):
            if not grader.endpoint:
                raise EvalError(gettext("a model_graded grader names no endpoint to judge: edit the set's graders"))
            if not Endpoint.objects.filter(team_id=team, public_id=grader.endpoint).exists():
                raise EvalError(
                    gettext("the judging endpoint {endpoint} is not one of this team").format(endpoint=grader.endpoint)
                )


def names(arms: Sequence[ArmPlan]) -> list[str]:
    """A name for each arm, told apart where they would be the same."""
    wanted = [arm.name or arm.endpoint.name for arm in arms]
    found: list[str] = []
    for i, name in enumerate(wanted):
        found.append(name[:110] if wanted.count(name) == 1 else f"{name[:110]} {chr(65 + i)}")
    return found


def deepen(run: EvalRun, user: User | None, keys: Sequence[str], repeats: int) -> EvalRun:
    """A run of just these cases, the arms as they were, asked more often. A fixed number of repeats keeps the verdict
    of the first run clean: it is never mixed with this one.
    """
    arms = [
        ArmPlan(arm.endpoint, arm.name, arm.template, arm.system, arm.parameters)
        for arm in run.arms.select_related("endpoint")
    ]
    return start(
        run.version,
        arms,
        user=user,
        repeats=repeats,
        only=keys,
        concurrency=run.concurrency,
        max_tokens=run.max_tokens,
        margin=run.margin,
        cost_cap=run.cost_cap,
        token_cap=run.token_cap,
        deepens=run,
        name=f"{len(keys)} flipping cases at {repeats}"[:120],
    )
