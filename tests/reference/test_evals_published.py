"""What the eval reports say about published scores: errors, scopes, spread, single runs, candidates, plans."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

from drift.measure import paired
from drift.measure.evals import anytime, arm, noise, planning, scopes, several
from drift.measure.evals.cases import Cases
from drift.measure.evals.verdict import judge
from drift.measure.intervals import student_t, wilson
from drift.measure.paired import Verdict
from tests.reference.published import published, rows_of

NANO, MINI = "openai/gpt-5-nano-2025-08-07", "openai/gpt-5.4-mini-2026-03-17"


@pytest.fixture(scope="module")
def gpqa() -> tuple[Cases, Cases]:
    """198 cases x 5 repeats: gpt-5-nano, gpt-5.4-mini."""
    table: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted(
        rows_of(published("gpqa_diamond_scores.csv")), key=lambda row: (row["item_id"], int(row["epoch"]))
    ):
        table[row["model_id"]][row["item_id"]].append(float(row["score"]))
    assert {model: len(cases) for model, cases in table.items()} == {NANO: 198, MINI: 198}
    items = sorted(table[NANO])
    nano, mini = (Cases.of([table[model][item] for item in items]) for model in (NANO, MINI))
    return nano, mini


def test_gpqa_scores_and_their_errors(gpqa: tuple[Cases, Cases]) -> None:
    nano, mini = gpqa
    score = arm.arm_score(nano)
    assert score is not None
    assert score.estimate.value == pytest.approx(0.675758, abs=5e-7)
    assert mini.means.mean() == pytest.approx(0.617172, abs=5e-7)
    assert score.naive_error == pytest.approx(0.014884, abs=5e-7)
    assert score.error == pytest.approx(0.0275955530, abs=5e-11)
    assert score.inflation == pytest.approx(1.854, abs=5e-4)
    assert score.inflation**2 == pytest.approx(3.4373, abs=5e-5)
    assert score.effective_n == pytest.approx(287.7, abs=0.05)
    assert (score.estimate.low, score.estimate.high) == pytest.approx((0.6197, 0.7272), abs=5e-5)


def test_gpqa_clustered_error_is_statsmodels(gpqa: tuple[Cases, Cases]) -> None:
    nano = gpqa[0]
    answers = np.concatenate(nano.scores)
    groups = np.repeat(np.arange(198), 5)
    fit = sm.OLS(answers, np.ones_like(answers)).fit(cov_type="cluster", cov_kwds={"groups": groups})
    ours = arm.clustered_error(answers, [str(group) for group in groups])
    assert ours == pytest.approx(float(fit.bse[0]), rel=1e-3)  # statsmodels adds (N - 1)/(N - k), here 1
    assert ours == pytest.approx(0.027596, abs=5e-7)


def test_gpqa_paired_difference(gpqa: tuple[Cases, Cases]) -> None:
    nano, mini = gpqa
    found = scopes.on_cases_like_these(nano, mini, np.random.default_rng(0))
    assert found is not None
    assert found.estimate.value == pytest.approx(0.058586, abs=5e-7)
    assert (found.estimate.low, found.estimate.high) == pytest.approx((0.00378, 0.11339), abs=6e-6)
    assert found.p == pytest.approx(0.036271, abs=5e-7)
    assert found.error == pytest.approx(0.027788, abs=6e-7)
    assert found.permuted_p == pytest.approx(0.040, abs=0.004)
    reference = stats.ttest_rel(nano.means, mini.means)
    assert found.p == pytest.approx(reference.pvalue, rel=1e-9)
    assert np.corrcoef(nano.means, mini.means)[0, 1] == pytest.approx(0.53, abs=0.005)
    assert judge(found, 0.03) is Verdict.BETTER


def test_gpqa_exactly_these_cases(gpqa: tuple[Cases, Cases]) -> None:
    found = scopes.on_exactly_these_cases(*gpqa, np.random.default_rng(0))
    assert found is not None
    assert found.error == pytest.approx(0.012936, abs=5e-7)
    assert (found.estimate.low, found.estimate.high) == pytest.approx((0.0332, 0.0839), abs=5e-5)
    assert found.p < 0.001


def test_gpqa_equivalence_is_tost(gpqa: tuple[Cases, Cases]) -> None:
    nano, mini = gpqa
    found = scopes.on_cases_like_these(nano, mini, np.random.default_rng(0))
    assert found is not None
    for margin in (0.10, 0.11, 0.15):
        p = float(ttost_paired(nano.means, mini.means, -margin, margin)[0])
        assert (p < 0.05) == (-margin < found.narrow[0] and found.narrow[1] < margin)


def test_gpqa_single_runs_disagree(gpqa: tuple[Cases, Cases]) -> None:
    nano, mini = gpqa
    seen = []
    for epoch in range(5):
        pairs = zip((s[epoch] for s in nano.scores), (s[epoch] for s in mini.scores), strict=True)
        counted = anytime.discordance(pairs)
        p = stats.binomtest(counted.a_only, counted.a_only + counted.b_only).pvalue
        seen.append((counted.a_only, counted.b_only, round(float(p), 3)))
    assert [(a, b) for a, b, _ in seen] == [(28, 19), (34, 28), (37, 23), (30, 24), (45, 22)]
    assert [p for _, _, p in seen] == pytest.approx([0.243, 0.526, 0.093, 0.497, 0.007], abs=1.1e-3)


def test_gpqa_majority_votes(gpqa: tuple[Cases, Cases]) -> None:
    nano, mini = (cases.passes >= 3 for cases in gpqa)
    table = [
        [int((nano & mini).sum()), int((nano & ~mini).sum())],
        [int((~nano & mini).sum()), int((~nano & ~mini).sum())],
    ]
    assert table == [[102, 35], [18, 43]]


def test_gpqa_pass_counts(gpqa: tuple[Cases, Cases]) -> None:
    assert [np.bincount(cases.passes, minlength=6).tolist() for cases in gpqa] == [
        [31, 17, 13, 20, 19, 98],
        [41, 23, 14, 11, 18, 91],
    ]


def test_gpqa_spread_is_pooled(gpqa: tuple[Cases, Cases]) -> None:
    pooled = [noise.spread(cases) for cases in gpqa]
    assert [round(spread.run_sd, 4) for spread in pooled if spread] == [0.0209, 0.0200]
    of_five_means = [float(np.std(np.mean(np.array(cases.scores), axis=0), ddof=1)) for cases in gpqa]
    assert of_five_means == pytest.approx([0.0066, 0.0320], abs=5e-5)


def test_gpqa_noise_and_plan(gpqa: tuple[Cases, Cases]) -> None:
    nano, mini = gpqa
    found = paired.difference_noise(nano.scores, mini.scores)
    assert found is not None
    assert (found.data, found.prediction, found.data + found.prediction) == pytest.approx(
        (0.1190, 0.1657, 0.2846), abs=6e-5
    )
    errors = [found.standard_error(198, 1), found.standard_error(198, 5), (found.data / 198) ** 0.5]
    assert errors == pytest.approx([0.0379, 0.0277, 0.0245], abs=6e-5)
    smallest = [paired.smallest_difference(found, 198, k) for k in (1, 3, 5, 10, 20)]
    assert smallest == pytest.approx([0.106, 0.083, 0.078, 0.073, 0.071], abs=5e-4)
    assert [paired.cases_needed(found, 0.06, k) for k in (1, 3, 5, 10, 20)] == [621, 380, 332, 296, 278]
    assert planning.detectable_by(0.0277885) == pytest.approx(0.078, abs=5e-4)
    assert planning.detectable_by(2**0.5 * 0.0275955530) == pytest.approx(0.109, abs=5e-4)
    assert planning.chance_to_find(0.0277885, 0.058586) == pytest.approx(0.56, abs=5e-3)


def test_gpqa_cases_for_six_points_against_statsmodels(gpqa: tuple[Cases, Cases]) -> None:
    d = gpqa[0].means - gpqa[1].means
    reference = TTestPower().solve_power(effect_size=0.06 / d.std(ddof=1), alpha=0.05, power=0.8)
    assert reference == pytest.approx(335.3, abs=0.1)
    whole = paired.DifferenceNoise(float(d.var(ddof=1)), 0.0, 198)
    assert paired.cases_needed(whole, 0.06, 5) == 334  # normal law, as published


def test_gpqa_no_single_case_is_significant(gpqa: tuple[Cases, Cases]) -> None:
    nano, mini = gpqa
    p = [several.fisher_p(int(a), 5, int(b), 5) for a, b in zip(nano.passes, mini.passes, strict=True)]
    assert sum(value < 0.05 for value in p) == 25
    adjusted = several.benjamini_hochberg(p)
    assert sum(value < 0.05 for value in adjusted) == 0
    assert adjusted == pytest.approx(multipletests(p, method="fdr_bh")[1].tolist())


def test_aime_t_interval_leaves_the_range_and_ours_does_not() -> None:
    table: dict[str, list[float]] = defaultdict(list)
    for row in rows_of(published("matharena_aime_II.csv")):
        table[row["Question"].split(".")[0]].append(float(row["o3-mini (high)"]))
    cases = Cases.of(list(table.values()))
    score = arm.arm_score(cases)
    by_t = student_t(cases.means)
    assert score is not None
    assert by_t is not None
    assert int(cases.passes.sum()) == 56
    assert score.error == pytest.approx(0.0383, abs=5e-5)
    assert score.naive_error == pytest.approx(0.0322, abs=6e-4)
    assert (by_t.low, by_t.high) == pytest.approx((0.851, 1.016), abs=5e-4)
    naive = wilson(56, 60)
    assert naive is not None
    assert (naive.low, naive.high) == pytest.approx((0.841, 0.974), abs=5e-4)
    assert 0 < score.estimate.low < naive.low
    assert score.estimate.high < 1


def test_evidence_golden() -> None:
    golden = {(5, 0): 7.875, (6, 0): 14.4375, (8, 0): 50.273, (10, 1): 16.402, (28, 19): 0.2755}
    for (a, b), value in golden.items():
        assert anytime.Discordance(a, b).evidence == pytest.approx(value, rel=2e-4)


def test_millers_examples() -> None:
    without_noise = paired.DifferenceNoise(1 / 9, 0.0, 1)
    assert paired.cases_needed(without_noise, 0.03, 1) == 969
    assert paired.smallest_difference(paired.NO_PILOT, 198, 1) == pytest.approx(0.1327, abs=5e-5)
    assert paired.smallest_difference(paired.NO_PILOT, 198, 10) == pytest.approx(0.0757, abs=5e-5)
