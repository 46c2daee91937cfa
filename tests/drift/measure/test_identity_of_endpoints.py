from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.measure.fingerprints import read
from drift.measure.identity import (
    IdentityEvent,
    IdentityKind,
    chance_of_new,
    chance_of_vanishing,
    identity_changes,
    mix_shift,
    profile,
    unseen_mass,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(60)


def runs(draw: np.random.Generator, count: int, shares: dict[str, float], answers: int = 5) -> list[Counter[str]]:
    names, weights = list(shares), list(shares.values())
    return [Counter(draw.choice(names, p=weights, size=answers).tolist()) for _ in range(count)]


def test_endpoints_are_classed_by_what_their_names_can_tell() -> None:
    assert profile([None] * 20).kind == IdentityKind.ABSENT
    assert profile(["fp_ollama"] * 20).kind == IdentityKind.CONSTANT
    assert profile(["a", "b"] * 10).kind == IdentityKind.STABLE_SET
    assert profile([f"fp_{i}" for i in range(8)]).kind == IdentityKind.CHURNING, "eight values in eight calls"
    assert profile(["a"] * 3).kind == IdentityKind.UNKNOWN
    assert profile([]).unseen is None


def test_gpt_4o_with_40_flips_in_190_calls_is_a_stable_set() -> None:
    values = ["a"] * 191
    for index in range(4, 191, 9):
        values[index] = "b"
    found = profile(values)
    assert found.kind == IdentityKind.STABLE_SET
    assert found.flips == pytest.approx(42 / 190)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=20))
def test_the_unseen_mass_lies_in_its_interval_and_is_never_thought_impossible(counts: list[int]) -> None:
    found = unseen_mass(counts)
    if sum(counts) == 0:
        assert found is None
    else:
        assert found is not None
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.high > 0


def test_the_interval_of_the_unseen_mass_covers() -> None:
    draw = rng()
    shares = draw.dirichlet(np.full(40, 0.3))
    covered = []
    for _ in range(500):
        counts = draw.multinomial(60, shares)
        found = unseen_mass(counts.tolist())
        assert found is not None
        covered.append(found.low <= shares[counts == 0].sum() <= found.high)
    assert np.mean(covered) >= 0.92


def test_chances_of_new_and_vanished_names_are_shares_of_orderings() -> None:
    assert chance_of_new(99, 1, 1) == pytest.approx(1 / 100)
    assert chance_of_new(99, 1, 1, alike=30) == pytest.approx(30 / 100)
    assert chance_of_new(288, 2, 2) == pytest.approx(2 / (290 * 289))
    assert chance_of_vanishing(10, 10, 10) == pytest.approx(1 / 184756)
    draw, hits = rng(), 0
    for _ in range(20_000):
        hits += draw.permutation(12)[:3].min() >= 8  # a name of three runs, all among the last four of twelve
    assert hits / 20_000 == pytest.approx(chance_of_new(8, 4, 3), abs=0.004)
    with pytest.raises(ValueError, match="1 to 2"):
        chance_of_new(10, 2, 3)
    with pytest.raises(ValueError, match="1 to 10"):
        chance_of_vanishing(10, 2, 0)


def test_two_slots_of_a_new_constant_name_are_enough() -> None:
    draw = rng()
    before, since = runs(draw, 100, {"fp_a": 1.0}), runs(draw, 2, {"fp_b": 1.0})
    found = {change.event: change for change in identity_changes(before, since, draw)}
    assert found[IdentityEvent.NEW].value == "fp_b"
    assert found[IdentityEvent.VANISHED].value == "fp_a"


def test_a_single_new_value_in_a_flapping_set_is_no_event() -> None:
    draw = rng()
    shares = {"a": 0.6, "b": 0.3, "c": 0.1}
    assert identity_changes(runs(draw, 60, shares), [*runs(draw, 5, shares), Counter(["d"])], draw) == ()


@pytest.mark.parametrize(
    "shares",
    [
        {"a": 150 / 190, "b": 40 / 190},
        {"a": 0.8, "b": 0.2},
        {"a": 0.6, "b": 0.3, "c": 0.1},
        {"a": 0.4, "b": 0.2, "c": 0.2, "d": 0.1, "e": 0.1},
        {"a": 0.9, **{f"rare{i}": 0.005 for i in range(20)}},
    ],
)
def test_documented_flapping_raises_nothing_after_the_learning_period(shares: dict[str, float]) -> None:
    draw = rng()
    events = [
        change
        for _ in range(12)
        for change in identity_changes(runs(draw, 72, shares), runs(draw, 24, shares), draw, level=1e-3)
    ]
    assert events == []


def test_a_new_name_with_each_call_raises_nothing() -> None:
    before = [Counter([f"fp_{run}_{i}" for i in range(5)]) for run in range(40)]
    since = [Counter([f"new_{run}_{i}" for i in range(5)]) for run in range(10)]
    assert identity_changes(before, since, rng()) == ()
    assert identity_changes([Counter({None: 5})] * 40, since, rng()) == ()


def test_a_shift_of_the_mix_is_found_though_no_name_is_new() -> None:
    draw = rng()
    before, since = runs(draw, 72, {"a": 0.8, "b": 0.2}), runs(draw, 24, {"a": 0.3, "b": 0.7})
    assert [change.event for change in identity_changes(before, since, draw)] == [IdentityEvent.MIX_SHIFT]


def test_answers_of_one_run_that_share_a_machine_are_not_taken_for_independent() -> None:
    draw, alarms = rng(), 0
    for _ in range(100):
        sticky = [Counter({name: 5}) for name in draw.choice(["a", "b"], p=[0.7, 0.3], size=48).tolist()]
        p = mix_shift(sticky[:36], sticky[36:], draw, permutations=199)
        assert p is not None
        alarms += p <= 0.05
    assert alarms <= 11
    assert mix_shift([], [Counter("a")], draw) is None
    assert mix_shift([Counter()], [Counter("a")], draw) is None


def test_fingerprints_that_say_something_are_taken_apart() -> None:
    vllm = read("vllm-0.24.0-tp4-pp2-1a2b3c4d")
    assert vllm.server == "vLLM"
    assert dict(vllm.parts) == {"version": "0.24.0", "layout": "tp4-pp2", "configuration": "1a2b3c4d"}
    assert dict(read("vllm-0.19.1-deadbeef").parts) == {"version": "0.19.1", "configuration": "deadbeef"}
    assert dict(read("vllm-deadbeef").parts) == {"configuration": "deadbeef"}
    deepseek = read("fp_8b330d02d0_prod0820_fp8_kvcache_20260402")
    assert deepseek.server == "DeepSeek"
    assert dict(deepseek.parts)["cache date"] == "20260402"
    assert dict(read("fp_8802369eaa_prod0623_fp8_kvcache").parts)["cache"] == "fp8"
    assert read("b4321-1a2b3c4d").server == "llama.cpp"
    assert read("3.0.1-sha-bb9095a").server == "Text Generation Inference"
    assert read("fp_ollama").server == "Ollama"
    assert read("fp_ollama").moves_with == ""
    assert read("fp_44709d6fcb").server == ""
