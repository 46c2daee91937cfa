"""What this pilot says about the next run: what it would see, and how to spend the same money better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drift.evals.comparison import compare
from drift.evals.read import results_of_run
from drift.measure.evals.planning import Split, splits
from drift.measure.paired import NO_PILOT, DifferenceNoise, best_repeats, cases_needed, smallest_difference
from drift.models import EvalRun, EvalVersion

REPEATS = (1, 3, 5, 10, 20)
FEWEST_CASES = 20
CASE_COST = 5.0  # one more case costs as much as this many answers of each arm, unless told otherwise


@dataclass(frozen=True, slots=True)
class Step:
    """`smallest`: difference seen four times in five with these cases; `cases`: how many are needed for the goal."""

    repeats: int
    smallest: float
    cases: int


@dataclass(frozen=True, slots=True)
class Outlook:
    """`same_money`: the best split of what this run cost into cases and repeats, new cases allowed. `usual`: the
    repeats that two-stage sampling asks for; None: cases add no noise that could be seen, so repeats are as good.
    """

    goal: float
    steps: tuple[Step, ...]
    case_cost: float
    same_money: Split | None
    usual: int | None


def outlook(noise: DifferenceNoise, cases: int, repeats: float, goal: float, case_cost: float = CASE_COST) -> Outlook:
    """From the noise of a comparison of `cases` cases at `repeats` each. Costs are counted in answers of each arm."""
    budget = cases * (case_cost + repeats) + 1e-9
    return Outlook(
        goal=goal,
        steps=tuple(Step(k, smallest_difference(noise, cases, k), cases_needed(noise, goal, k)) for k in REPEATS),
        case_cost=case_cost,
        same_money=_best(splits(noise, budget, case_cost, 1.0, least=min(cases, FEWEST_CASES))),
        usual=best_repeats(noise, case_cost, 1.0),
    )


def _best(found: Sequence[Split]) -> Split | None:
    return found[0] if found else None


def expected(noise: DifferenceNoise | None, cases: int, repeats: int) -> float | None:
    """The smallest difference that a run would see four times in five; by rule of thumb where there is no pilot."""
    return smallest_difference(noise or NO_PILOT, cases, repeats) if cases else None


def pilot_of(version: EvalVersion) -> DifferenceNoise | None:
    """The noise between the first two arms of the set's latest finished run; None before there is one."""
    last = (
        EvalRun.objects.filter(version__eval_set=version.eval_set, state=EvalRun.State.FINISHED, repeats__gte=2)
        .order_by("-finished_at")
        .first()
    )
    if last is None:
        return None
    arms = results_of_run(last, full=False).arms
    return compare(arms[0], arms[1], permutations=1).noise if len(arms) > 1 else None
