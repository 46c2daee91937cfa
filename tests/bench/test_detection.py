import numpy as np
import pytest

from drift.measure import shares
from drift.measure.budget import allot
from tests.bench.detection.endpoints import (
    ANSWERS,
    BASELINE_HOURS,
    CHANGES,
    HOURS,
    NULLS,
    RATE,
    USUAL,
    WATCHED_HOURS,
    simulate,
)
from tests.bench.detection.outcomes import delay, false_alarms
from tests.bench.detection.rules import BUDGET, QUARTERS, RULES, Rule, evidence


def test_the_benchmark_watches_with_the_same_numbers_as_one_call_per_run() -> None:
    simulation = simulate(USUAL, CHANGES[1], 6, np.random.default_rng(1))
    (share,) = allot(BUDGET, [1.0])
    all_at_once = evidence(simulation, np.inf)
    n, days = np.full(BASELINE_HOURS, ANSWERS), np.arange(BASELINE_HOURS) // 24
    for row, (k, ties) in enumerate(zip(simulation.differing, simulation.ties, strict=True)):
        watch = shares.begin(k[:BASELINE_HOURS], n, QUARTERS[:BASELINE_HOURS], days, share.miss)
        assert watch is not None
        for hour in range(60):
            watch = watch.look(int(QUARTERS[BASELINE_HOURS + hour]), k[BASELINE_HOURS + hour], ANSWERS, ties[hour])
            assert watch.evidence == pytest.approx(all_at_once[row, hour], rel=1e-9)


@pytest.mark.parametrize("background", NULLS, ids=lambda background: background.name)
def test_simulated_endpoints_differ_as_often_as_they_say(background: object) -> None:
    assert background in NULLS
    chosen = NULLS[NULLS.index(background)]  # type: ignore[arg-type]
    simulation = simulate(chosen, None, 200, np.random.default_rng(2))
    assert simulation.differing.shape == (200, HOURS)
    assert simulation.differing.mean() / ANSWERS == pytest.approx(chosen.rate, rel=0.06, abs=1e-9)
    assert (simulation.changed_at == WATCHED_HOURS).all()


@pytest.mark.parametrize(("index", "rate"), [(0, 0.1), (2, 0.3), (4, 0.9), (6, 0.25 * 0.9 + 0.75 * RATE)])
def test_simulated_changes_reach_the_rate_in_their_name(index: int, rate: float) -> None:
    simulation = simulate(USUAL, CHANGES[index], 300, np.random.default_rng(3))
    after = [
        row[BASELINE_HOURS + at :].mean() for row, at in zip(simulation.differing, simulation.changed_at, strict=True)
    ]
    assert np.mean(after) / ANSWERS == pytest.approx(rate, rel=0.05)


def test_a_rule_that_speaks_at_the_change_has_a_delay_of_one_hour_and_no_false_alarms() -> None:
    simulation = simulate(USUAL, CHANGES[4], 50, np.random.default_rng(4))

    def oracle(seen: object, restart: float) -> np.ndarray:
        return (np.arange(WATCHED_HOURS)[None, :] >= simulation.changed_at[:, None]).astype(float)

    rule = Rule("oracle", oracle, 1.0)
    found = delay(rule, simulation, 1.0)
    assert (found.median, found.low, found.high, found.found.value) == (1, 1, 1, 1)
    silent = Rule("silent", lambda seen, restart: np.zeros((50, WATCHED_HOURS)), 1.0)
    assert delay(silent, simulation, 1.0).median == np.inf
    assert false_alarms(silent, simulation).per_month == 0
    assert false_alarms(rule, simulation).share.value == 1


def test_shipped_rules_find_a_large_change() -> None:
    simulation = simulate(USUAL, CHANGES[4], 40, np.random.default_rng(5))
    for rule in RULES:
        assert delay(rule, simulation, rule.shipped).found.value >= 0.9, rule.name
