"""Which questions are asked how often, in which company, with which cap and seed; and what that costs at most."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from drift.checkup.questions import Question, beginnings, prefix_questions
from drift.evals.plan import price_of
from drift.measure.agreement import split_text
from drift.models import Endpoint
from drift.models.checkup import CheckupStage

Kind = CheckupStage.Kind

CONCURRENCIES = (1, 8, 32)
REPEATS = 20
MAX_TOKENS = 256
SHORTEST = 8
PREFIX_QUESTIONS = 12
PREFIX_WORDS = 500  # two tokens and more each
PREFIX_REPEATS = 3
SEED_NAMES = ("seed", "random_seed")
SEED = 20260101


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asks of a check-up. `scored`: also send own answers back to be scored (POST /completions)."""

    repeats: int = REPEATS
    concurrencies: tuple[int, ...] = CONCURRENCIES
    max_tokens: int = MAX_TOKENS
    prefix_words: int = PREFIX_WORDS
    prefix_questions: int = PREFIX_QUESTIONS
    scored: bool = False

    @property
    def side_repeats(self) -> int:
        """Repeats of the stages that answer a side question."""
        return max(3, self.repeats // 2)


@dataclass(frozen=True, slots=True)
class StagePlan:
    """`repeats` includes, in the first stage, one answer per question that may have met a cold cache."""

    kind: str
    concurrency: int
    max_tokens: int
    parameters: Mapping[str, Any]
    repeats: int
    questions: tuple[Question, ...] = field(repr=False)

    @property
    def requests(self) -> int:
        return self.repeats * len(self.questions)


@dataclass(frozen=True, slots=True)
class Estimate:
    """At most: every answer is taken to use its whole cap. `cost` None: the endpoint has no price."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal | None

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


def make_plan(
    parameters: Mapping[str, Any], questions: Sequence[Question], wish: Wish, mark: str
) -> tuple[StagePlan, ...]:
    """The stages in order, the quiet one first. `parameters`: the endpoint's own, as negotiated; `mark`: makes the
    prefixes of this check-up its own.

    What an endpoint was found to refuse is not in `parameters` and not asked: no seed, no stages about seeds.
    """
    asked = tuple(questions)
    quiet, *loads = sorted(set(wish.concurrencies)) or [1]
    zero = dict(parameters)
    seed = next((name for name in SEED_NAMES if name in zero), None)
    side, cap = wish.side_repeats, wish.max_tokens
    stages = [StagePlan(Kind.QUIET, quiet, cap, zero, wish.repeats + 1, asked)]
    stages += [StagePlan(Kind.LOAD, load, cap, zero, wish.repeats, asked) for load in loads]
    if cap // 4 >= SHORTEST:
        stages.append(StagePlan(Kind.SHORT, quiet, cap // 4, zero, side, asked))
    free = {name: value for name, value in zero.items() if name != seed}
    if seed:
        stages.append(StagePlan(Kind.UNSEEDED, quiet, cap, free, wish.repeats, asked))
    if "temperature" in zero:
        if seed:
            fixed = {**zero, "temperature": 1.0, seed: zero[seed] if zero[seed] is not None else SEED}
            stages.append(StagePlan(Kind.HOT_SEEDED, quiet, cap, fixed, side, asked))
        stages.append(StagePlan(Kind.HOT, quiet, cap, {**free, "temperature": 1.0}, side, asked))
    if wish.prefix_questions:
        fresh = prefix_questions(asked, wish.prefix_questions, wish.prefix_words, mark)
        stages.append(StagePlan(Kind.PREFIX, 1, min(cap, 64), zero, PREFIX_REPEATS, fresh))
    if wish.scored:
        stages.append(StagePlan(Kind.SCORED, quiet, min(cap, 64), zero, 2, beginnings()))
    return tuple(stages)


def order_of(kind: str, questions: Sequence[Question], repeats: int, shuffle: int) -> Iterator[tuple[Question, int]]:
    """(question, repeat) in the order of asking: rounds in an order of their own each, so that neighbours vary.

    Where the order is the point (cold before warm, answered before scored) one question is done before the next.
    """
    if kind in (Kind.PREFIX, Kind.SCORED):
        yield from ((question, repeat) for question in questions for repeat in range(repeats))
        return
    rng = random.Random(shuffle)  # noqa: S311  an order, not a secret
    for repeat in range(repeats):
        round_ = list(questions)
        rng.shuffle(round_)
        yield from ((question, repeat) for question in round_)


def estimate(endpoint: Endpoint, stages: Sequence[StagePlan]) -> Estimate:
    """The most that the stages can cost. Prompt tokens by an approximate split of the text."""
    prompt = sum(stage.repeats * sum(prompt_tokens(one) for one in stage.questions) for stage in stages)
    completion = sum(stage.requests * stage.max_tokens for stage in stages)
    return Estimate(
        requests=sum(stage.requests for stage in stages),
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost=price_of(endpoint, prompt, completion),
    )


def prompt_tokens(question: Question) -> int:
    return sum(len(split_text(str(message.get("content", "")))) + 4 for message in question.messages)
