"""Check-ups of simulated endpoints without sockets, and what their figures should come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import prod

from drift.answers import Ask, Target
from drift.checkup.plan import Kind, StagePlan, Wish, make_plan, order_of
from drift.checkup.questions import Question, default_questions
from drift.checkup.taken import Examination, StageAnswers, Taken
from workers.probe.caching import mark_cached
from workers.probe.decode import decode
from workers.simulate.draws import draw
from workers.simulate.exchange import exchange_at
from workers.simulate.language import _tie_positions
from workers.simulate.scenario import Phase, Scenario, Version

BEGIN = datetime(2026, 11, 20, 9, tzinfo=UTC)
PARAMETERS: Mapping[str, object] = {"temperature": 0, "seed": 42, "logprobs": True, "top_logprobs": 2}


@dataclass(frozen=True)
class World:
    """A simulated endpoint whose flips grow with the requests in flight, and whose first answer to a fresh prefix may
    be another: `cold` is the share of prompts for which it is.
    """

    scenario: Scenario
    flips: Mapping[int, float]  # by concurrency
    cold: float = 0.0

    def at(self, concurrency: int) -> Scenario:
        (phase,) = self.scenario.phases
        version = replace(phase.version, flip_rate=self.flips[concurrency])
        return replace(self.scenario, phases=(replace(phase, version=version),))

    def cold_for(self, prompt: str) -> bool:
        return draw(self.scenario.seed, "cold", prompt) < self.cold


def world(
    seed: int, flips: Mapping[int, float], *, cold: float = 0.0, version: Version | None = None, **fields
) -> World:
    version = version or Version(length=24)
    return World(Scenario(f"made-{seed}", seed=seed, phases=(Phase(0.0, version),), **fields), flips, cold)


def examine(
    made: World, wish: Wish, questions: Sequence[Question] | None = None, parameters: Mapping[str, object] = PARAMETERS
) -> Examination:
    asked = tuple(questions or default_questions())
    stages = make_plan(parameters, asked, wish, mark=f"check-up {made.scenario.seed}")
    index, answers = 0, []
    for stage in stages:
        taken, index = _stage(made, stage, index)
        answers.append(
            StageAnswers(stage.kind, stage.kind, stage.concurrency, stage.max_tokens, taken, "", stage.parameters)
        )
    names = {q.key: q.name for stage in stages for q in stage.questions}
    return Examination(made.scenario.name, made.scenario.model, BEGIN, names, tuple(answers), asked=parameters)


def _stage(made: World, stage: StagePlan, index: int) -> tuple[tuple[Taken, ...], int]:
    target = Target("http://simulated/v1", made.scenario.model, parameters=stage.parameters)
    scenario, places, exchanges = made.at(stage.concurrency), [], []
    for question, repeat in order_of(stage.kind, stage.questions, stage.repeats, made.scenario.seed):
        here = scenario
        if stage.kind == Kind.PREFIX and repeat == 0 and made.cold_for(question.key):
            (phase,) = scenario.phases
            here = replace(scenario, phases=(replace(phase, version=replace(phase.version, salt=99)),))
        at = BEGIN + timedelta(seconds=3 * index)
        ask = Ask(question.messages, stage.max_tokens)
        exchanges.append(exchange_at(here, target, ask, at=at, begin=BEGIN, index=index))
        places.append((question, repeat))
        index += 1
    read = mark_cached([decode(exchange) for exchange in exchanges], exchanges)
    return tuple(
        Taken(question.key, repeat, decoded, exchange.started_at, exchange.latency_ms)
        for (question, repeat), exchange, decoded in zip(places, exchanges, read, strict=True)
    ), index


@dataclass(frozen=True)
class Truth:
    """The exact figures over these questions, from the scenario's own rules."""

    made: World
    questions: Sequence[Question]
    cap: int

    def _ties(self, question: Question) -> tuple[int, int]:
        """(near-ties within the answer, its length)."""
        prompt = "\n".join(f"{m['role']}: {m['content']}" for m in question.messages)
        version = self.made.scenario.phases[0].version
        length = max(4, round(version.length * (0.5 + draw(self.made.scenario.seed, "length", version.salt, prompt))))
        end = min(length, self.cap)
        return sum(position < end for position in _tie_positions(self.made.scenario, prompt)), end

    def divergence(self, concurrency: int, heat: float = 0.0) -> float:
        """Mean over questions of P(two answers differ); `heat`: chance that sampling takes the other token."""
        f = self.made.flips[concurrency]
        tie, plain = (_part(f * (1 - heat) + heat * (1 - f)), _part(heat))
        shares = [
            1 - prod([1 - tie] * ties + [1 - plain] * (end - ties)) for ties, end in map(self._ties, self.questions)
        ]
        return sum(shares) / len(shares)

    def survival(self, concurrency: int, length: int) -> float:
        """P(the first `length` tokens of two answers agree), mean over the questions."""
        part = _part(self.made.flips[concurrency])
        agreed = []
        for question in self.questions:
            prompt = "\n".join(f"{m['role']}: {m['content']}" for m in question.messages)
            _, end = self._ties(question)
            met = sum(at < min(length, end) for at in _tie_positions(self.made.scenario, prompt))
            agreed.append((1 - part) ** met)
        return sum(agreed) / len(agreed)


def _part(flip: float) -> float:
    return 2 * flip * (1 - flip)
