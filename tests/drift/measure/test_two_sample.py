import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from drift.measure.agreement import whitespace_normalised
from drift.measure.two_sample import (
    Difference,
    Table,
    compare,
    compare_shares,
    discrepancy,
    equality_kernel,
    excess_divergence,
    hamming_kernel,
    kind_of_difference,
    tabulate,
    total_variation,
)

ANSWERS = st.lists(st.text("ab", max_size=4), min_size=2, max_size=8)


def rng() -> np.random.Generator:
    return np.random.default_rng(30)


@given(ANSWERS, ANSWERS)
def test_the_discrepancy_is_what_comparing_every_pair_gives(a: list[str], b: list[str]) -> None:
    table = tabulate(a, b)
    kernel = hamming_kernel(table.outputs)
    k = {(x, y): kernel[i, j] for i, x in enumerate(table.outputs) for j, y in enumerate(table.outputs)}
    expected = (
        np.mean([k[x, y] for i, x in enumerate(a) for j, y in enumerate(a) if i != j])
        + np.mean([k[x, y] for i, x in enumerate(b) for j, y in enumerate(b) if i != j])
        - 2 * np.mean([k[x, y] for x in a for y in b])
    )
    assert discrepancy(table.a.sum(axis=0), table.b.sum(axis=0), kernel) == pytest.approx(expected)
    assert discrepancy(table.b.sum(axis=0), table.a.sum(axis=0), kernel) == pytest.approx(expected)


@given(st.lists(st.text("abc", max_size=6), min_size=1, max_size=6, unique=True))
def test_the_hamming_kernel_is_symmetric_with_ones_on_the_diagonal(outputs: list[str]) -> None:
    kernel = hamming_kernel(outputs)
    assert (kernel == kernel.T).all()
    assert (np.diag(kernel) == 1).all()
    assert ((kernel >= 0) & (kernel <= 1)).all()


def test_total_variation_is_half_the_distance_between_shares() -> None:
    assert total_variation(np.array([5, 5, 0]), np.array([0, 5, 5])) == 0.5
    assert total_variation(np.array([4, 0]), np.array([8, 0])) == 0


def test_the_permutation_p_value_agrees_with_scipy() -> None:
    a, b = list("aabbbccaab"), list("bbbcccccab")
    table = tabulate(a, b)
    kernel = equality_kernel(table.outputs)
    ours = compare([table], lambda outputs: equality_kernel(outputs), rng(), permutations=20_000)
    order = {output: index for index, output in enumerate(table.outputs)}
    x, y = (np.array([order[answer] for answer in side]) for side in (a, b))

    def statistic(left: np.ndarray, right: np.ndarray) -> float:
        counts = [np.bincount(side.astype(int), minlength=3) for side in (left, right)]
        return float(discrepancy(counts[0], counts[1], kernel))

    theirs = stats.permutation_test(
        (x, y), statistic, n_resamples=4000, alternative="greater", vectorized=False, rng=np.random.default_rng(1)
    )
    assert ours is not None
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p == pytest.approx(theirs.pvalue, abs=0.02)


def test_p_is_never_zero_and_never_above_one() -> None:
    apart = compare([tabulate(["a"] * 9, ["b"] * 9)] * 5, hamming_kernel, rng(), permutations=200)
    alike = compare([tabulate(["a"] * 9, ["a"] * 9)] * 5, hamming_kernel, rng(), permutations=200)
    assert apart is not None
    assert alike is not None
    assert apart.p == 1 / 201
    assert alike.p == 1


def test_a_daily_rhythm_shared_by_both_sides_is_no_difference() -> None:
    # side a was asked mostly at night, b mostly by day, and answers depend on the hour only
    draw = rng()
    tables, flat = [], []
    for _ in range(8):
        hours_a, hours_b = [0] * 15 + [1] * 5, [0] * 5 + [1] * 15
        answers = [["x" if draw.random() < (0.9, 0.2)[hour] else "y" for hour in h] for h in (hours_a, hours_b)]
        tables.append(tabulate(answers[0], answers[1], hours_a, hours_b))
        flat.append(tabulate(answers[0], answers[1]))
    stratified, pooled = compare(tables, equality_kernel, draw), compare(flat, equality_kernel, draw)
    assert stratified is not None
    assert pooled is not None
    assert stratified.p > 0.05
    assert pooled.p < 0.01


def test_alike_sides_are_called_different_no_more_often_than_the_level() -> None:
    draw = rng()
    rejected = {"kernel": 0, "shares": 0}
    for _ in range(300):
        tables = [
            Table(
                ("a", "b", "c"), draw.multinomial(6, [0.7, 0.2, 0.1])[None], draw.multinomial(6, [0.7, 0.2, 0.1])[None]
            )
            for _ in range(5)
        ]
        by_kernel = compare(tables, equality_kernel, draw, permutations=99)
        by_shares = compare_shares(tables, draw, permutations=99)
        assert by_kernel is not None
        assert by_shares is not None
        rejected["kernel"] += by_kernel.p <= 0.05
        rejected["shares"] += by_shares.p <= 0.05
    assert max(rejected.values()) / 300 <= 0.075, rejected


def test_a_moderate_change_is_found_with_its_size() -> None:
    draw = rng()
    tables = [
        Table(("a", "b"), draw.multinomial(10, [0.9, 0.1])[None], draw.multinomial(10, [0.4, 0.6])[None])
        for _ in range(25)
    ]
    for found in (compare(tables, equality_kernel, draw), compare_shares(tables, draw)):
        assert found is not None
        assert found.p < 0.01
        assert found.effect is not None
        true = (0.9 * 0.6 + 0.1 * 0.4) - (2 * 0.9 * 0.1 + 2 * 0.4 * 0.6) / 2
        assert found.effect.low < true < found.effect.high


def test_the_effect_needs_two_canaries_and_keeps_a_width_where_all_are_equal() -> None:
    table = tabulate(["a"] * 5, ["a"] * 5)
    assert excess_divergence([table]) is None
    same = excess_divergence([table] * 10)
    assert same is not None
    assert same.value == 0
    assert same.high > 0.2


def test_sides_with_too_few_answers_are_unknown() -> None:
    assert compare([tabulate(["a"], ["b", "b"])], hamming_kernel, rng()) is None
    assert compare_shares([tabulate([], ["b"])], rng()) is None
    assert hamming_kernel(["", ""]).tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (lambda text: text, Difference.NOT_FOUND),
        (lambda text: " " + text, Difference.FORMATTING),
        (lambda text: text.replace("tide", "flood"), Difference.CONTENT),
        (lambda text: " " + text.replace("tide", "flood"), Difference.CONTENT),
    ],
)
def test_a_leading_space_is_formatting_and_another_word_is_content(changed: object, expected: Difference) -> None:
    assert callable(changed)
    draw = rng()
    raw, normalised = [], []
    for canary in range(12):
        a, b = ([f"the tide {draw.integers(2)} of {canary}" for _ in range(8)] for _ in range(2))
        b = [changed(text) for text in b]
        raw.append(tabulate(a, b))
        normalised.append(tabulate([whitespace_normalised(t) for t in a], [whitespace_normalised(t) for t in b]))
    results = [compare(tables, equality_kernel, draw) for tables in (raw, normalised)]
    assert results[0] is not None
    assert results[1] is not None
    assert kind_of_difference(results[0], results[1]) == expected
