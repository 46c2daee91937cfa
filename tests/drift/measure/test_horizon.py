from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lifelines import KaplanMeierFitter

from drift.measure.agreement import first_divergence
from drift.measure.horizon import agreement_curve, agreement_lengths, horizon

OUTPUTS = st.lists(st.text("ab", max_size=7), min_size=1, max_size=7, unique=True)


def rng() -> np.random.Generator:
    return np.random.default_rng(20)


@given(OUTPUTS, st.data())
def test_agreement_lengths_are_what_comparing_every_pair_gives(outputs: list[str], data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(1, 4), min_size=len(outputs), max_size=len(outputs)))
    expected: dict[tuple[int, bool], int] = {}
    answers = [output for output, count in zip(outputs, counts, strict=True) for _ in range(count)]
    for a, b in combinations(answers, 2):
        index = first_divergence(a, b)
        key = (len(a), True) if index is None else (index, False)
        expected[key] = expected.get(key, 0) + 1
    found = agreement_lengths(outputs, counts)
    rows = zip(found.lengths.tolist(), found.censored.tolist(), found.weights.tolist(), strict=True)
    assert {(length, censored): weight for length, censored, weight in rows} == expected


def test_an_answer_cut_by_its_cap_says_at_least_this_long() -> None:
    cut = agreement_lengths(["abc", "abcde"], [1, 1], capped=[True, False])
    ended = agreement_lengths(["abc", "abcde"], [1, 1], capped=[False, True])
    assert (cut.lengths.tolist(), cut.censored.tolist()) == ([3], [True])
    assert (ended.lengths.tolist(), ended.censored.tolist()) == ([3], [False])


def test_an_unreadable_token_ends_what_can_be_known() -> None:
    lost = b"\xef\xbf\xbd"
    found = agreement_lengths([[b"a", lost, b"x"], [b"a", lost, b"y"]], [2, 1])
    assert found.lengths.tolist() == [1]
    assert found.censored.tolist() == [True]
    assert found.pairs == 3


def test_outputs_of_the_same_tokens_agree_to_their_end() -> None:
    found = agreement_lengths([["a", "b"], ["a", "b"]], [1, 1])
    assert (found.lengths.tolist(), found.censored.tolist(), found.weights.tolist()) == ([2], [True], [1.0])


def test_the_curve_of_one_canary_is_the_kaplan_meier_of_lifelines() -> None:
    draw = rng()
    outputs = sorted({"".join(draw.choice(list("ab"), p=[0.93, 0.07], size=draw.integers(5, 40))) for _ in range(40)})
    counts = draw.integers(1, 4, size=len(outputs))
    found = agreement_lengths(outputs, counts)
    curve = agreement_curve([found])
    assert curve is not None
    fitted = KaplanMeierFitter().fit(found.lengths + ~found.censored, ~found.censored, weights=found.weights)
    theirs = fitted.survival_function_at_times(curve.lengths).to_numpy()
    assert curve.after == pytest.approx(theirs, abs=1e-9)


def test_the_horizon_is_the_last_length_with_95_percent_agreement() -> None:
    # 20 answers, one of which parts at its sixth token: 19 of 190 pairs differ there
    short = agreement_lengths(["aaaaabb", "aaaaaaa"], [1, 19])
    found = horizon([short], rng())
    assert found is not None
    assert (found.length, found.limit_seen, found.recommended_cap) == (5, True, 5)
    assert (found.low, found.high) == (None, None), "one canary cannot give an interval over canaries"
    assert found.pairs == 190


def test_a_horizon_that_was_not_reached_says_at_least() -> None:
    found = horizon([agreement_lengths(["a" * 64], [20])] * 5, rng())
    assert found is not None
    assert (found.length, found.limit_seen, found.low, found.high) == (64, False, 64, None)
    assert found.recommended_cap == 64


def test_no_cap_helps_where_first_tokens_differ() -> None:
    found = horizon([agreement_lengths(["a", "b"], [5, 5])] * 4, rng())
    assert found is not None
    assert found.length == 0
    assert found.recommended_cap is None


def test_a_horizon_without_pairs_is_unknown() -> None:
    assert horizon([], rng()) is None
    assert horizon([agreement_lengths(["abc"], [1])], rng()) is None
    assert agreement_curve([agreement_lengths([], [])]) is None


@given(OUTPUTS)
def test_the_horizon_does_not_depend_on_the_order_of_outputs(outputs: list[str]) -> None:
    counts = list(range(1, len(outputs) + 1))
    one = horizon([agreement_lengths(outputs, counts)], rng())
    other = horizon([agreement_lengths(outputs[::-1], counts[::-1])], rng())
    assert one == other


def test_asking_for_more_agreement_never_lengthens_the_horizon() -> None:
    draw = rng()
    canaries = [
        agreement_lengths(["".join(draw.choice(list("ab"), p=[0.97, 0.03], size=60)) for _ in range(9)], [1] * 9)
        for _ in range(6)
    ]
    limits = [horizon(canaries, rng(), agreement=level) for level in (0.5, 0.8, 0.9, 0.95, 0.99)]
    lengths = [found.length for found in limits if found is not None]
    assert lengths == sorted(lengths, reverse=True)


def test_the_interval_over_canaries_covers_the_true_horizon() -> None:
    # each token flips a pair with the same small hazard, so P(agree on L tokens) = mean over canaries of (1 - h)^L
    draw = np.random.default_rng(5)
    hazards = draw.gamma(2.0, 0.004, size=200_000)
    truth = max(length for length in range(1, 200) if np.mean((1 - hazards) ** length) >= 0.95)
    covered, trials = 0, 120
    for _ in range(trials):
        canaries = []
        for hazard in draw.choice(hazards, size=24):
            # answers branch off one trunk; each answer's own branch point is geometric with half the pair's hazard
            branch = np.minimum(draw.geometric(1 - np.sqrt(1 - hazard), size=8) - 1, 120)
            outputs = ["t" * int(at) + (chr(200 + i) * (120 - int(at))) for i, at in enumerate(branch)]
            unique = sorted(set(outputs))
            canaries.append(agreement_lengths(unique, [outputs.count(output) for output in unique]))
        found = horizon(canaries, draw, resamples=300)
        assert found is not None
        assert found.low is not None
        covered += found.low <= truth and (found.high is None or truth <= found.high)
    assert covered / trials >= 0.88, f"covered {covered} of {trials}"
