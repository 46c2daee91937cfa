import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.measure.ranks import EXPONENTS, Ranking, from_numbers, place, ranking, to_numbers
from drift.measure.sequential import Watch

SCORES = st.lists(st.integers(-50, 50).map(float), min_size=1, max_size=60)


def ranked(scores: object) -> Ranking:
    found = ranking(np.asarray(scores, dtype=float))
    assert found is not None
    return found


@given(SCORES, st.lists(st.floats(-60, 60), max_size=20))
def test_e_values_expect_exactly_one_whatever_came_before(base: list[float], new: list[float]) -> None:
    state = ranked(sorted(set(base)))
    for score in new:
        _, state = place(state, score, 0.3)
    urn = np.array(state.gaps) + np.array(state.taken)
    edges = [-99.0, *state.edges, 99.0]
    middles = [(a + b) / 2 for a, b in pairwise(edges)]
    expected = sum(
        chance * np.array(place(state, middle, 0.5)[0]) for chance, middle in zip(urn / urn.sum(), middles, strict=True)
    )
    assert expected == pytest.approx(np.ones(2 * len(EXPONENTS)))


@given(SCORES)
def test_all_gaps_between_baseline_scores_are_kept_and_the_ends_are_finest(base: list[float]) -> None:
    state = ranked(base)
    assert sum(state.gaps) == len(base) + 1
    assert state.gaps[0] == state.gaps[-1] == 1
    assert len(state.gaps) <= 2 * len(base).bit_length() + 1


def test_a_score_above_all_others_argues_for_higher_and_one_below_for_lower() -> None:
    state = ranked(np.linspace(0, 1, 200))
    high, _ = place(state, 2.0, 0.0)
    low, _ = place(state, -1.0, 0.0)
    assert min(high[:3]) > 1 > max(high[3:])
    assert high[:3] == low[3:]


def test_only_the_order_of_scores_matters() -> None:
    rng = np.random.default_rng(3)
    base, new = rng.normal(size=90), rng.normal(size=30)
    plain, squeezed = ranked(base), ranked(np.exp(3 * base))
    for score in new:
        e_plain, plain = place(plain, float(score), 0.0)
        e_squeezed, squeezed = place(squeezed, float(np.exp(3 * score)), 0.0)
        assert e_plain == e_squeezed


def test_a_ranking_survives_storage() -> None:
    _, state = place(ranked([1.0, 2.5, 3.0]), 2.7, 0.0)
    assert from_numbers(json.loads(json.dumps(to_numbers({0: state})))) == {0: state}


def test_unknown_scores_are_refused_and_an_empty_baseline_is_no_ranking() -> None:
    assert ranking([]) is None
    with pytest.raises(ValueError, match="finite"):
        ranking([1.0, float("nan")])
    with pytest.raises(ValueError, match="tie"):
        place(ranked([1.0]), 0.5, 1.0)


@pytest.mark.parametrize("values", ["continuous", "tied"])
def test_false_alarms_stay_within_the_promise_with_a_baseline_of_two_dozen_scores(values: str) -> None:
    rng = np.random.default_rng(9)
    series, looks, threshold = 300, 250, 1250.0
    alarms = 0
    for _ in range(series):
        scores = rng.normal(size=24 + looks) if values == "continuous" else rng.binomial(5, 0.3, size=24 + looks)
        state, watch = ranked(scores[:24]), Watch.begin(3)
        for score in scores[24:]:
            e, state = place(state, float(score), float(rng.random()))
            watch = watch.look(e[:3])
            if watch.evidence >= threshold:
                alarms += 1
                break
    assert alarms / series <= looks / threshold, f"{alarms} of {series}"


def test_a_shift_of_three_standard_deviations_is_found_within_a_dozen_scores() -> None:
    rng = np.random.default_rng(10)
    delays = []
    for _ in range(40):
        state, watch = ranked(rng.normal(size=84)), Watch.begin(3)
        for look in range(200):
            e, state = place(state, float(rng.normal() + 3 * (look >= 50)), 0.0)
            watch = watch.look(e[:3])
            if watch.evidence >= 1e4:
                break
        delays.append(watch.looks - 50)
    assert 0 < np.median(delays) <= 12
