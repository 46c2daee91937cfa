"""Intervals and paired differences on published per-repeat scores, to the published digits."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import cochrans_q

from drift.measure.intervals import modified_wilson, standard_error, student_t, wilson
from drift.measure.paired import (
    Verdict,
    cases_needed,
    difference_noise,
    difference_on_these_cases,
    paired_difference,
    smallest_difference,
    unpaired_difference,
)
from drift.measure.repeats import case_means, flipping, pass_all, pass_at, repeats_exchangeable, suite_score
from tests.reference.published import MADE, published, rows_of


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def score_arrays(path: Path) -> list[np.ndarray]:
    """float[cases, epochs] per model, cases in the same order."""
    scores: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows_of(path):
        scores[row["model_id"]][row["item_id"]][int(row["epoch"])] = float(row["score"])
    items = sorted(next(iter(scores.values())))
    return [np.array([[by[item][epoch] for epoch in sorted(by[item])] for item in items]) for by in scores.values()]


@pytest.fixture(scope="module")
def gpqa() -> list[np.ndarray]:
    return score_arrays(published("gpqa_diamond_scores.csv"))


def test_gpqa_accuracies_and_intervals_are_the_published_ones(gpqa: list[np.ndarray]) -> None:
    nano, mini = gpqa
    means = case_means(nano)
    assert (means.mean(), case_means(mini).mean()) == pytest.approx((0.675758, 0.617172), abs=1e-6)
    assert standard_error(means) == pytest.approx(0.027596, abs=1e-6)
    t, score = student_t(means), suite_score(nano)
    assert t is not None
    assert score is not None
    assert (t.low, t.high) == pytest.approx((0.6213, 0.7302), abs=5e-5)
    assert (score.low, score.high) == pytest.approx((0.6197, 0.7272), abs=5e-5)
    assert score.n == 198


def test_gpqa_arms_overlap_and_the_paired_difference_decides(gpqa: list[np.ndarray]) -> None:
    nano, mini = gpqa
    arms = [student_t(case_means(scores)) for scores in gpqa]
    assert arms[0] is not None
    assert arms[1] is not None
    assert arms[0].low < arms[1].high, "the two intervals overlap"
    found = paired_difference(case_means(nano), case_means(mini), rng())
    assert found is not None
    assert found.difference.value == pytest.approx(0.058586, abs=1e-6)
    assert (found.difference.low, found.difference.high) == pytest.approx((0.00378, 0.11339), abs=5e-6)
    assert found.p == pytest.approx(0.036271, abs=1e-6)
    assert found.sign_flip_p == pytest.approx(0.040, abs=0.006)
    assert found.verdict(margin=0.03) == Verdict.BETTER
    welch = unpaired_difference(case_means(nano), case_means(mini))
    assert welch is not None
    assert (welch[0].low, welch[0].high, welch[1]) == pytest.approx((-0.0210, 0.1382, 0.148646), abs=5e-5)


def test_gpqa_on_exactly_these_cases(gpqa: list[np.ndarray]) -> None:
    found = difference_on_these_cases(gpqa[0], gpqa[1], rng())
    assert found is not None
    assert (found[0].low, found[0].high) == pytest.approx((0.0332, 0.0839), abs=1e-4)
    assert found[1] < 1e-3


def test_gpqa_noise_planning_and_power_are_the_published_ones(gpqa: list[np.ndarray]) -> None:
    noise = difference_noise(gpqa[0], gpqa[1])
    assert noise is not None
    assert (noise.data, noise.prediction) == pytest.approx((0.1190, 0.1657), abs=6e-5)
    errors = [noise.standard_error(198, repeats) for repeats in (1, 5)]
    assert errors == pytest.approx([0.0379, 0.0277], abs=6e-5)
    found = [100 * smallest_difference(noise, 198, repeats) for repeats in (1, 3, 5, 10, 20)]
    assert found == pytest.approx([10.6, 8.3, 7.8, 7.3, 7.1], abs=0.06)
    needed = [cases_needed(noise, 0.06, repeats) for repeats in (1, 3, 5, 10, 20)]
    assert needed == pytest.approx([621, 380, 332, 296, 278], abs=2)


def test_gpqa_pass_rates_and_flipping_cases_are_the_published_ones(gpqa: list[np.ndarray]) -> None:
    passes = gpqa[0].sum(axis=1).astype(int).tolist()
    at = [pass_at(k, passes, [5] * 198) for k in range(1, 6)]
    every = [pass_all(k, passes, [5] * 198) for k in range(1, 6)]
    assert at == pytest.approx([0.6758, 0.7621, 0.8025, 0.8263, 0.8434], abs=5e-5)
    assert every == pytest.approx([0.6758, 0.5894, 0.5434, 0.5141, 0.4949], abs=5e-5)
    assert [len(flipping(scores)) for scores in gpqa] == [69, 66]
    assert [repeats_exchangeable(scores) for scores in gpqa] == pytest.approx([0.98, 0.037], abs=5e-3)


def test_tau_bench_pass_rates_are_the_published_ones() -> None:
    passes: dict[str, list[float]] = defaultdict(list)
    for row in rows_of(published("tau_bench_airline_gpt4o.csv")):
        passes[row["task_id"]].append(float(row["reward"]))
    counts = [round(sum(rewards)) for rewards in passes.values()]
    every = [pass_all(k, counts, [4] * len(counts)) for k in range(1, 5)]
    assert every == pytest.approx([0.420, 0.273, 0.220, 0.200], abs=5e-4)


def test_on_fifteen_problems_the_t_interval_leaves_the_range_and_ours_does_not() -> None:
    rows = rows_of(published("matharena_aime_II.csv"))
    problems: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        problems[int(float(row["Question"]))].append(float(row["o3-mini (high)"]))
    scores = list(problems.values())
    means = case_means(scores)
    assert sum(map(sum, scores)) == 56
    assert standard_error(means) == pytest.approx(0.0383, abs=5e-5)
    t, ours, naive = student_t(means), suite_score(scores), wilson(56, 60)
    assert t is not None
    assert ours is not None
    assert naive is not None
    assert (t.low, t.high) == pytest.approx((0.851, 1.016), abs=5e-4)
    assert (naive.low, naive.high) == pytest.approx((0.841, 0.974), abs=5e-4)
    assert ours.high <= 1
    assert ours.low < naive.low


def test_the_made_scores_agree_with_scipy_and_statsmodels() -> None:
    a, b = score_arrays(MADE / "scores.csv")
    x, y = a.mean(axis=1), b.mean(axis=1)
    cases = np.repeat(np.arange(len(a)), a.shape[1])
    clustered = OLS(a.ravel(), np.ones(a.size)).fit(cov_type="cluster", cov_kwds={"groups": cases})
    # statsmodels corrects by C/(C - 1) * (N - 1)/(N - 1)
    assert standard_error(x) == pytest.approx(float(clustered.bse[0]), rel=1e-9)
    found = paired_difference(x, y, rng())
    theirs = stats.ttest_rel(x, y)
    assert found is not None
    assert found.p == pytest.approx(theirs.pvalue)
    bounds = theirs.confidence_interval()
    assert (found.difference.low, found.difference.high) == pytest.approx((bounds.low, bounds.high))
    flips = stats.permutation_test(
        (x, y),
        lambda u, v, axis: (u - v).mean(axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        rng=np.random.default_rng(2),
    )
    assert found.sign_flip_p == pytest.approx(flips.pvalue, abs=0.02)
    welch = unpaired_difference(x, y)
    assert welch is not None
    assert welch[1] == pytest.approx(stats.ttest_ind(x, y, equal_var=False).pvalue)
    assert repeats_exchangeable(a) == pytest.approx(float(cochrans_q(a).pvalue))
    assert modified_wilson(x, a.size) is not None
