"""Two hundred simulated endpoints are checked up, and what the report says is held against what was set."""

from __future__ import annotations

from collections import defaultdict
from random import Random

import pytest

from drift.checkup.plan import Wish
from drift.checkup.questions import default_questions, prefix_questions
from drift.checkup.report import Report, report
from drift.measure.intervals import Estimate
from tests.workers.checkup.simulated import Truth, World, examine, world
from workers.simulate.scenario import Support, Version

ENDPOINTS = 200
COVERAGE = 0.93
QUESTIONS = default_questions()[:8]
WISH = Wish(repeats=8, concurrencies=(1, 8), max_tokens=16, prefix_words=3, prefix_questions=8)
HEAT = 0.3  # what the simulator's sampling at temperature 1 does to each token


def made(i: int) -> World:
    """An endpoint with everything drawn: flips, their growth under load, near-ties and their place, seed, cold start."""
    rng = Random(i)
    quiet = rng.choice([0.01, 0.03, 0.06, 0.1, 0.15, 0.2])
    loaded = quiet if i % 2 else min(0.45, quiet + rng.choice([0.05, 0.1, 0.2]))
    return world(
        i,
        {1: quiet, 8: loaded},
        cold=rng.choice([0.0, 0.3, 0.6]),
        version=Version(length=14),
        support=Support(ignored=("seed",)) if i % 3 == 0 else Support(),
        ties=rng.choice([1, 2, 3]),
        first_tie=rng.choice([2, 4]),
    )


def recovered(i: int, found: Report) -> dict[str, bool]:
    """For each figure, whether its own interval holds what was set."""
    here = made(i)
    truth = Truth(here, QUESTIONS, WISH.max_tokens)
    quiet, loaded = truth.divergence(1), truth.divergence(8)
    seeded = 0.0 if i % 3 == 0 else truth.divergence(1, HEAT) - quiet
    assert found.quiet is not None
    assert found.near_ties is not None
    assert found.prefix is not None
    load, limit = found.under_load[0].difference, found.quiet.horizon
    assert load is not None
    assert limit is not None
    assert found.seed.hot is not None
    assert found.seed.zero is not None
    held = {
        "divergence": inside(found.quiet.divergence, quiet),
        "divergence under load": inside(found.loads[0].divergence, loaded),
        "load": inside(load.estimate, loaded - quiet),
        "seed at temperature 1": inside(found.seed.hot.estimate, seeded),
        "seed at temperature 0": inside(found.seed.zero.estimate, 0.0),
        "cold prefix": inside(found.prefix.excess, cold_excess(here)),
        "horizon": (limit.low or 0) <= horizon_of(truth) <= (limit.high or WISH.max_tokens),
    }
    if found.near_ties.flip_rate is not None:
        held["flip rate"] = inside(found.near_ties.flip_rate, here.flips[1])
    return held


def inside(found: Estimate | None, value: float) -> bool:
    assert found is not None
    return found.low - 1e-9 <= value <= found.high + 1e-9


def cold_excess(here: World) -> float:
    """A cold answer is another text altogether, so it differs for certain from warm ones that differ by chance."""
    fresh = prefix_questions(QUESTIONS, WISH.prefix_questions, WISH.prefix_words, f"check-up {here.scenario.seed}")
    by_prompt = [
        1 - Truth(here, [question], WISH.max_tokens).divergence(1) if here.cold_for(question.key) else 0.0
        for question in fresh
    ]
    return sum(by_prompt) / len(by_prompt)


def horizon_of(truth: Truth) -> int:
    lengths = range(1, WISH.max_tokens + 1)
    return next((n - 1 for n in lengths if truth.survival(1, n) < 0.95), WISH.max_tokens)


def check_up_all() -> list[Report]:
    return [report(examine(made(i), WISH, QUESTIONS)) for i in range(ENDPOINTS)]


def coverage(reports: list[Report]) -> dict[str, tuple[int, int]]:
    """(intervals that hold what was set, intervals) by figure."""
    held: dict[str, list[bool]] = defaultdict(list)
    for i, found in enumerate(reports):
        for name, fine in recovered(i, found).items():
            held[name].append(fine)
    return {name: (sum(fine), len(fine)) for name, fine in held.items()}


@pytest.fixture(scope="module")
def reports() -> list[Report]:
    return check_up_all()


@pytest.mark.timeout(600)
def test_what_was_set_lies_within_the_stated_intervals(reports: list[Report]) -> None:
    found = coverage(reports)
    shares = {name: held / of for name, (held, of) in found.items()}
    assert min(shares.values()) >= COVERAGE, sorted(shares.items(), key=lambda item: item[1])
    assert min(of for _, of in found.values()) >= ENDPOINTS * 0.9


def test_a_load_that_changes_nothing_is_hardly_ever_accused(reports: list[Report]) -> None:
    accused = sum(found.under_load[0].matters for i, found in enumerate(reports) if i % 2)
    assert accused <= 0.05 * ENDPOINTS / 2


def test_the_seed_gets_its_word(reports: list[Report]) -> None:
    ignored = [found.seed.word for i, found in enumerate(reports) if i % 3 == 0]
    honoured = [found.seed.word for i, found in enumerate(reports) if i % 3]
    assert sum(word == "no_effect" for word in ignored) >= 0.93 * len(ignored)
    assert set(honoured) <= {"lowers", "repeats"}


def test_no_answer_is_called_cached_that_was_not(reports: list[Report]) -> None:
    assert not any(found.caching.cached for found in reports)
    assert {found.identities.kind for found in reports} == {"constant"}
