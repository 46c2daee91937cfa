"""Rules that hold for any scores, and formulas against scipy and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from drift.measure.evals import anytime, arm, exchangeability, noise, planning, scopes, several
from drift.measure.evals.cases import Cases
from drift.measure.evals.verdict import judge
from drift.measure.paired import DifferenceNoise, Verdict

SCORES = st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=6), min_size=1, max_size=12)
PASSES = st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=6), min_size=2, max_size=12)


@given(SCORES)
def test_an_interval_holds_its_figure_and_stays_in_range(per_case: list[list[float]]) -> None:
    score = arm.arm_score(Cases.of(per_case))
    assert score is not None
    assert 0 <= score.estimate.low <= score.estimate.value <= score.estimate.high <= 1
    assert score.estimate.low < score.estimate.high, "an interval of no width claims certainty"


@given(PASSES, st.randoms(use_true_random=False))
def test_the_order_of_cases_and_answers_does_not_matter(per_case: list[list[float]], random) -> None:  # type: ignore[no-untyped-def]
    shuffled = [random.sample(case, len(case)) for case in random.sample(per_case, len(per_case))]
    here, there = arm.arm_score(Cases.of(per_case)), arm.arm_score(Cases.of(shuffled))
    assert here is not None
    assert there is not None
    assert here.estimate.low == pytest.approx(there.estimate.low)
    assert here.estimate.value == pytest.approx(there.estimate.value)


@given(PASSES)
def test_swapping_the_arms_turns_the_difference_round(per_case: list[list[float]]) -> None:
    a = Cases.of(per_case)
    b = Cases.of([[1 - x for x in case] for case in per_case])
    for scope in (scopes.on_cases_like_these, scopes.on_exactly_these_cases):
        one, other = (scope(x, y, np.random.default_rng(1), permutations=50) for x, y in ((a, b), (b, a)))
        assert one is not None
        assert other is not None
        assert one.estimate.value == pytest.approx(-other.estimate.value)
        assert one.estimate.low == pytest.approx(-other.estimate.high)


def test_a_case_without_scores_is_refused() -> None:
    with pytest.raises(ValueError, match="leave it out"):
        Cases.of([[1.0], []])
    with pytest.raises(ValueError, match="outside"):
        Cases.of([[1.5]])


def test_identical_arms_are_never_certain() -> None:
    a = Cases.of([[1.0] * 5] * 20)
    like, these = (
        scopes.on_cases_like_these(a, a, np.random.default_rng(0)),
        scopes.on_exactly_these_cases(a, a, np.random.default_rng(0)),
    )
    assert like is not None
    assert these is not None
    assert like.estimate.high == pytest.approx(1 - 0.05 ** (1 / 20))
    assert these.estimate.high == pytest.approx(1 - 0.05 ** (1 / 100))
    assert judge(like, 0.03) is Verdict.INCONCLUSIVE
    assert judge(these, 0.03) is Verdict.EQUIVALENT


def test_an_interval_that_touches_nothing_is_inconclusive_and_a_margin_is_needed() -> None:
    found = scopes.on_cases_like_these(
        Cases.of([[1.0], [0.0], [1.0], [0.0]]), Cases.of([[0.0], [1.0], [1.0], [0.0]]), np.random.default_rng(0)
    )
    assert found is not None
    assert judge(found, 0.03) is Verdict.INCONCLUSIVE
    with pytest.raises(ValueError, match="margin"):
        judge(found, 0)


def test_correction_can_take_a_verdict_back() -> None:
    rng = np.random.default_rng(3)
    a, b = (Cases.of([[float(x)] for x in rng.random(60) < p]) for p in (0.75, 0.5))
    found = scopes.on_cases_like_these(a, b, rng)
    assert found is not None
    assert judge(found, 0.03, found.p) is Verdict.BETTER
    assert judge(found, 0.03, 0.2) is Verdict.INCONCLUSIVE


def test_clusters_widen_when_groups_stand_or_fall_together() -> None:
    a, b = Cases.of([[float(i // 5 % 2)] for i in range(40)]), Cases.of([[0.0]] * 40)
    groups = [str(i // 5) for i in range(40)]
    plain = scopes.on_cases_like_these(a, b, np.random.default_rng(0))
    grouped = scopes.on_cases_like_these(a, b, np.random.default_rng(0), groups)
    assert plain is not None
    assert grouped is not None
    assert grouped.error is not None
    assert plain.error is not None
    assert grouped.error > 2 * plain.error
    assert grouped.estimate.n == 8


def test_judge_noise_is_the_spread_of_verdicts_about_one_answer() -> None:
    found = noise.judge_noise([[1.0, 0.0], [1.0, 1.0], [0.0], [0.5, 0.5]])
    assert found is not None
    assert found.answers == 3
    assert found.sd == pytest.approx(np.sqrt(0.5 / 3))
    assert found.changed == pytest.approx(1 / 3)
    assert noise.judge_noise([[1.0], [0.0]]) is None


def test_spread_needs_repeats() -> None:
    assert noise.spread(Cases.of([[1.0], [0.0]])) is None
    still = noise.spread(Cases.of([[1.0, 1.0], [0.0, 0.0]]))
    assert still is not None
    assert still.run_sd == 0
    assert still.share == 0


def test_rounds_need_two_and_a_flip() -> None:
    assert exchangeability.rounds_alike(np.array([[1.0], [0.0]])) is None
    still = exchangeability.rounds_alike(np.array([[1.0, 1.0], [0.0, np.nan]]))
    assert still is not None
    assert still.p is None
    assert still.n == 1


def test_repeats_needed_is_the_inverse_of_the_smallest_difference() -> None:
    pilot = DifferenceNoise(0.02, 0.3, 100)
    needed = planning.repeats_needed(pilot, 0.05, 200)
    assert needed is not None
    assert planning.detectable_by(pilot.standard_error(200, needed)) <= 0.05
    assert planning.detectable_by(pilot.standard_error(200, needed - 1)) > 0.05
    assert planning.repeats_needed(DifferenceNoise(0.5, 0.3, 100), 0.01, 50) is None


def test_the_best_split_asks_more_repeats_where_sampling_is_most_of_the_noise() -> None:
    noisy = planning.splits(DifferenceNoise(0.01, 0.4, 50), 1000, cost_of_case=5, cost_of_answers=1)
    settled = planning.splits(DifferenceNoise(0.2, 0.05, 50), 1000, cost_of_case=5, cost_of_answers=1)
    assert noisy[0].repeats > settled[0].repeats
    assert all(split.cost <= 1000 for split in noisy)
    assert planning.splits(DifferenceNoise(0.2, 0.05, 50), 5, cost_of_case=5, cost_of_answers=1) == []


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_corrections_are_those_of_statsmodels(p: list[float]) -> None:
    assert several.holm(p) == pytest.approx(multipletests(p, method="holm")[1].tolist())
    assert several.benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1].tolist())


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_fisher_is_scipys(n_a: int, n_b: int, data: st.DataObject) -> None:
    a, b = data.draw(st.integers(0, n_a)), data.draw(st.integers(0, n_b))
    reference = stats.fisher_exact([[a, n_a - a], [b, n_b - b]]).pvalue
    assert several.fisher_p(a, n_a, b, n_b) == pytest.approx(reference, abs=1e-9)


def test_only_five_against_none_or_one_reaches_five_per_cent() -> None:
    assert several.fisher_p(5, 5, 0, 5) == pytest.approx(0.008, abs=5e-4)
    assert several.fisher_p(5, 5, 1, 5) == pytest.approx(0.048, abs=5e-4)
    assert several.fisher_p(5, 5, 2, 5) > 0.05


def test_discordant_pairs_are_counted_by_passes() -> None:
    counted = anytime.discordance([(1.0, 0.0), (1.0, 0.5), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0)])
    assert (counted.a_only, counted.b_only) == (2, 1)
    assert not counted.decided(0.05)
