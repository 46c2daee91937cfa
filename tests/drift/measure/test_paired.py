import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.measure.paired import (
    NO_PILOT,
    DifferenceNoise,
    Verdict,
    best_repeats,
    cases_needed,
    difference_noise,
    difference_on_these_cases,
    discordant_evidence,
    paired_difference,
    sign_flip,
    smallest_difference,
    unpaired_difference,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(80)


def test_the_published_example_needs_969_questions() -> None:
    assert cases_needed(DifferenceNoise(1 / 9, 0, 0), 0.03, 1) == 969
    assert 100 * smallest_difference(NO_PILOT, 198, 1) == pytest.approx(13.27, abs=0.01)
    assert 100 * smallest_difference(NO_PILOT, 198, 10) == pytest.approx(7.57, abs=0.01)
    with pytest.raises(ValueError, match="nothing"):
        cases_needed(NO_PILOT, 0, 1)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=10))
def test_swapping_the_arms_mirrors_the_difference(pairs: list[tuple[float, float]]) -> None:
    a, b = zip(*pairs, strict=True)
    one, other = paired_difference(a, b, rng()), paired_difference(b, a, rng())
    assert one is not None
    assert other is not None
    assert one.difference.low == pytest.approx(-other.difference.high)
    assert one.sign_flip_p == pytest.approx(other.sign_flip_p)


def test_all_sign_patterns_are_counted_where_there_are_few_cases() -> None:
    assert sign_flip([1, 1, 1, 1, 1], rng()) == pytest.approx(2 / 32)
    assert sign_flip([0, 0, 0], rng()) == 1
    assert 0 < sign_flip(np.ones(40), rng()) < 2e-4


def test_equal_differences_keep_a_width() -> None:
    found = paired_difference([1.0] * 10, [1.0] * 10, rng())
    assert found is not None
    assert (found.difference.value, found.p) == (0, 1)
    assert found.difference.high == pytest.approx(0.2589, abs=1e-3)
    assert found.verdict(margin=0.05) == Verdict.INCONCLUSIVE
    assert paired_difference([1.0], [0.0], rng()) is None


def test_verdicts_follow_the_intervals() -> None:
    draw = rng()
    base = draw.random(400)
    noise = 0.05 * draw.normal(size=400)
    better, alike = paired_difference(base + 0.1 + noise, base, draw), paired_difference(base + noise, base, draw)
    wild = paired_difference(draw.random(12), draw.random(12), draw)
    assert better is not None
    assert alike is not None
    assert wild is not None
    assert better.verdict(0.03) == Verdict.BETTER
    worse = paired_difference(base, base + 0.1 + noise, draw)
    assert worse is not None
    assert worse.verdict(0.03) == Verdict.WORSE
    assert alike.verdict(0.03) == Verdict.EQUIVALENT
    assert wild.verdict(0.03) == Verdict.INCONCLUSIVE


def test_the_paired_test_keeps_its_level_and_finds_a_shift() -> None:
    draw = rng()
    rejected = {"same": 0, "shift": 0}
    for _ in range(600):
        p = draw.beta(0.9, 0.3, size=50)
        lower = np.where(np.arange(50) % 2 == 0, np.maximum(p - 0.2, 0), p)
        arms = [draw.binomial(5, rates) / 5 for rates in (p, p, lower)]
        for name, other in (("same", arms[1]), ("shift", arms[2])):
            found = paired_difference(arms[0], other, draw, permutations=1)
            assert found is not None
            rejected[name] += found.p <= 0.05
    assert rejected["same"] / 600 <= 0.075
    assert rejected["shift"] / 600 >= 0.7


def test_on_exactly_these_cases_the_test_keeps_its_level() -> None:
    draw = rng()
    rejected = []
    for _ in range(200):
        p = draw.beta(0.9, 0.3, size=30)[:, None]
        a, b = (draw.binomial(1, p, size=(30, 5)).astype(float) for _ in range(2))
        found = difference_on_these_cases(a, b, draw, permutations=199)
        assert found is not None
        rejected.append(found[1] <= 0.05)
    assert np.mean(rejected) <= 0.09


def test_arms_without_repeats_or_cases_are_unknown() -> None:
    assert difference_on_these_cases([[1]], [[0]], rng()) is None
    assert difference_noise([[1, 0]], [[1, 1]]) is None
    assert unpaired_difference([1.0], [0.0, 1.0]) is None
    assert unpaired_difference([1.0, 1.0], [0.0, 0.0]) is None


def test_more_repeats_pay_where_answers_are_noisier_than_cases() -> None:
    assert best_repeats(DifferenceNoise(0.01, 0.16, 50), 1, 1) == 4
    assert best_repeats(DifferenceNoise(0.16, 0.01, 50), 1, 1) == 1
    assert best_repeats(DifferenceNoise(0.0, 0.1, 50), 1, 1) is None


@pytest.mark.parametrize(
    ("only_a", "only_b", "evidence"),
    [(5, 0, 7.875), (6, 0, 14.4375), (8, 0, 50.273), (10, 1, 16.402), (28, 19, 0.2755)],
)
def test_evidence_from_discordant_pairs(only_a: int, only_b: int, evidence: float) -> None:
    assert discordant_evidence(only_a, only_b) == pytest.approx(evidence, rel=1e-3)
    assert discordant_evidence(only_b, only_a) == pytest.approx(evidence, rel=1e-3)
