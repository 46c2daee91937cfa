"""Sampling that can be repeated, and that samples from the right distribution."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from kernels.sampling import counter_uniform, greedy, sample


def test_ties_go_to_the_lowest_id() -> None:
    logits = np.zeros(100, dtype=np.float32)
    logits[[70, 20, 40]] = 5.0

    assert greedy(logits) == 20
    assert sample(logits, temperature=0.0) == 20
    assert sample(logits, temperature=1.0, top_k=1) == 20


@given(st.integers(-(2**63), 2**64), st.integers(0, 10_000))
def test_the_noise_of_a_token_does_not_depend_on_which_others_are_asked(seed, position) -> None:
    everything = counter_uniform(seed, position, np.arange(50))

    assert np.array_equal(counter_uniform(seed, position, np.asarray([3, 41])), everything[[3, 41]])
    assert np.all((everything > 0) & (everything < 1))


def test_the_noise_is_uniform_and_differs_by_seed_position_and_token() -> None:
    noise = np.stack([counter_uniform(seed, position, np.arange(500)) for seed in (0, 1) for position in (0, 1)])

    assert stats.kstest(noise.ravel(), "uniform").pvalue > 0.001
    correlations = np.corrcoef(noise)[np.triu_indices(4, 1)]
    assert np.all(np.abs(correlations) < 0.2)


def test_frequencies_follow_the_softmax() -> None:
    logits = np.log(np.asarray([0.5, 0.3, 0.15, 0.05], dtype=np.float32))

    draws = [sample(logits, temperature=1.0, seed=5, position=position) for position in range(4000)]

    observed = np.bincount(draws, minlength=4)
    assert stats.chisquare(observed, np.asarray([0.5, 0.3, 0.15, 0.05]) * 4000).pvalue > 0.001


def test_top_p_keeps_the_smallest_set_that_reaches_the_mass() -> None:
    logits = np.log(np.asarray([0.05, 0.5, 0.3, 0.15], dtype=np.float32))

    draws = {sample(logits, temperature=1.0, top_p=0.75, seed=1, position=position) for position in range(500)}

    assert draws == {1, 2}


def test_top_k_keeps_the_k_best() -> None:
    logits = np.asarray([0.1, 0.4, 0.2, 0.3], dtype=np.float32)

    assert {sample(logits, temperature=5.0, top_k=2, seed=1, position=p) for p in range(300)} == {1, 3}


def test_a_candidate_that_changes_rank_keeps_its_noise() -> None:
    """Noise by rank would make a one-ulp swap of two logits change the sample of a third."""
    logits = np.asarray([2.0, 1.0, np.nextafter(np.float32(1.0), np.float32(2.0)), 0.5], dtype=np.float32)
    swapped = logits[[0, 2, 1, 3]]

    for position in range(200):
        first = sample(logits, temperature=1.0, top_p=0.99, seed=3, position=position)
        second = sample(swapped, temperature=1.0, top_p=0.99, seed=3, position=position)
        assert first == second
