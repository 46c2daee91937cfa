"""Begins a check-up: its questions, stages and estimate, and the row that a worker will find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import uuid4

from django.db import transaction
from django.utils.translation import gettext

from drift import endpoints
from drift.checkup.errors import CheckupError
from drift.checkup.plan import CONCURRENCIES, Estimate, StagePlan, Wish, estimate, make_plan
from drift.checkup.questions import Question, default_questions
from drift.models import Checkup, CheckupStage, Endpoint, Suite, User
from drift.said import in_facts
from drift.suites import CanaryText, next_version

MOST_CONCURRENT = 64
MOST_REQUESTS = 20_000
IN_HOUSE_PREFIX_WORDS = 40


@dataclass(frozen=True, slots=True)
class Caps:
    """No request goes out that could pass one of them. None: no limit."""

    cost: Decimal | None = None
    tokens: int | None = None


def usual(endpoint: Endpoint) -> Wish:
    """What to ask of an endpoint when nothing else is wished."""
    fitting = tuple(c for c in CONCURRENCIES if c <= endpoint.max_concurrency)
    wish = Wish(concurrencies=fitting or (1,))
    # our own worker computes a long prefix on a processor, and can score given tokens
    return replace(wish, prefix_words=IN_HOUSE_PREFIX_WORDS, scored=True) if endpoint.in_house else wish


def checked(wish: Wish) -> Wish:
    """The wish, if it can be met. Raises CheckupError."""
    if not 2 <= wish.repeats <= 200:
        raise CheckupError(gettext("A question is asked 2 to 200 times, not {repeats}.").format(repeats=wish.repeats))
    if not wish.concurrencies or not all(1 <= one <= MOST_CONCURRENT for one in wish.concurrencies):
        raise CheckupError(
            gettext("Name one or more numbers of requests in flight between 1 and {most_concurrent}.").format(
                most_concurrent=MOST_CONCURRENT
            )
        )
    if not 1 <= wish.max_tokens <= 32_768:
        raise CheckupError(
            gettext("The cap is 1 to 32,768 tokens, not {max_tokens}.").format(max_tokens=wish.max_tokens)
        )
    return replace(wish, concurrencies=tuple(sorted(set(wish.concurrencies))))


def preview(endpoint: Endpoint, wish: Wish, suite: Suite | None = None) -> tuple[tuple[StagePlan, ...], Estimate]:
    """What would be asked, and what it costs at most. Raises CheckupError."""
    questions = questions_of(suite) if suite is not None else default_questions()
    stages = make_plan(endpoint.parameters, questions, checked(wish), "preview")
    return stages, estimate(endpoint, stages)


def questions_of(suite: Suite) -> tuple[Question, ...]:
    return tuple(
        Question(str(canary.public_id), canary.name, tuple(canary.messages))
        for canary in suite.canaries.order_by("places__position")
    )


def start(
    endpoint: Endpoint, wish: Wish, *, user: User | None = None, suite: Suite | None = None, caps: Caps | None = None
) -> Checkup:
    """A check-up that is due. Its questions become a suite at its cap, so that it can be watched as it was asked.

    Raises CheckupError.
    """
    wish, caps = checked(wish), caps or Caps()
    if not endpoints.is_checked(endpoint):
        raise CheckupError(
            gettext("This endpoint has not passed a check yet. Check it first: it says what can be asked.")
        )
    if Checkup.objects.filter(endpoint=endpoint, state__in=[Checkup.State.DUE, Checkup.State.RUNNING]).exists():
        raise CheckupError(gettext("A check-up of this endpoint is going on already. Wait for it, or stop it."))
    planned = _affordable(endpoint, wish, suite, caps)
    with transaction.atomic():
        asked = _suite_at_cap(endpoint, suite, wish.max_tokens)
        checkup = Checkup(
            team=endpoint.team,
            endpoint=endpoint,
            suite=asked,
            name=endpoint.name,
            repeats=wish.repeats,
            concurrencies=list(wish.concurrencies),
            max_tokens=wish.max_tokens,
            cost_cap=caps.cost,
            token_cap=caps.tokens,
            requested_by=user,
            public_id=uuid4(),
            capabilities=[
                {"name": one.name, "state": one.state, "value": one.value, "evidence": in_facts(one.evidence)}
                for one in endpoint.capabilities.all()
            ],
        )
        stages = make_plan(endpoint.parameters, questions_of(asked), wish, str(checkup.public_id))
        everything = {question.key: question for stage in stages for question in stage.questions}
        checkup.questions = {
            key: {"name": question.name, "messages": list(question.messages)} for key, question in everything.items()
        }
        checkup.wanted = planned.requests
        checkup.save()
        CheckupStage.objects.bulk_create(
            CheckupStage(
                checkup=checkup,
                position=position,
                kind=stage.kind,
                concurrency=stage.concurrency,
                max_tokens=stage.max_tokens,
                parameters=dict(stage.parameters),
                repeats=stage.repeats,
                only=[question.key for question in stage.questions],
            )
            for position, stage in enumerate(stages)
        )
    return checkup


def _affordable(endpoint: Endpoint, wish: Wish, suite: Suite | None, caps: Caps) -> Estimate:
    _, planned = preview(endpoint, wish, suite)
    if planned.requests > MOST_REQUESTS:
        raise CheckupError(
            gettext("{number} requests are more than {most}: ask for fewer repeats.").format(
                number=f"{planned.requests:,}", most=f"{MOST_REQUESTS:,}"
            )
        )
    if caps.cost is not None and planned.cost is None:
        raise CheckupError(gettext("A cap in dollars needs the endpoint's prices. Enter them, or set a cap in tokens."))
    return planned


def _suite_at_cap(endpoint: Endpoint, suite: Suite | None, max_tokens: int) -> Suite:
    if suite is not None and suite.team_id != endpoint.team_id:
        raise CheckupError(gettext("This suite belongs to another team."))
    named = suite.name if suite is not None else "Check-up"
    ending = f" at {max_tokens} tokens"
    base = named.removesuffix(ending)[: 80 - len(ending)]
    asked = questions_of(suite) if suite is not None else default_questions()
    texts = [CanaryText(one.name, [dict(message) for message in one.messages], max_tokens) for one in asked]
    return next_version(endpoint.team, base + ending, texts)


def questions_in(checkup: Checkup) -> Mapping[str, Question]:
    """The questions of a check-up by key, as they were fixed at its start."""
    return {key: Question(key, one["name"], tuple(one["messages"])) for key, one in checkup.questions.items()}
