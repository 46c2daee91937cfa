import numpy as np
import pytest

from drift.measure.logprob_drift import LogprobState, compare_bits, logprob_drift, readable, run_score, table

MEANS = dict(zip("abcdefgh", -np.arange(8.0), strict=True))


def rng() -> np.random.Generator:
    return np.random.default_rng(40)


def answers(draw: np.random.Generator, count: int, shift: float = 0.0, noise: float = 0.05) -> list[dict[str, float]]:
    return [
        {token: mean - 0.1 + (shift if token == "c" else 0) + noise * draw.normal() for token, mean in MEANS.items()}
        for _ in range(count)
    ]


@pytest.mark.parametrize("value", [None, float("-inf"), float("nan"), -9999.0, -100.0, -3.4e38])
def test_what_is_no_log_probability_is_censored(value: float | None) -> None:
    assert readable(value) is None


def test_readable_values_are_clipped_to_what_can_be_told_apart() -> None:
    assert readable(-55.0) == -40.0
    assert readable(-1.5) == -1.5
    assert readable(1e-9) == 0.0


def test_a_missing_token_gets_the_smallest_value_of_its_answer() -> None:
    tokens, (values,) = table([{"a": -0.1, "b": -3.0}, {"a": -0.2, "c": -2.0}, {"a": -9999.0, "b": None}])
    assert tokens == ("a", "b", "c")
    assert values.tolist() == [[-0.1, -3.0, -3.0], [-0.2, -2.0, -2.0]]


def test_the_statistic_is_the_mean_distance_of_means() -> None:
    found = logprob_drift([{"a": -1.0, "b": -2.0}] * 2, [{"a": -1.5, "b": -2.0}] * 2 + [{"a": -1.5, "b": -2.0}], rng())
    assert found.statistic == pytest.approx(0.25)


def test_a_small_shift_of_one_token_is_found_and_none_is_not() -> None:
    draw = rng()
    moved = logprob_drift(answers(draw, 10), answers(draw, 10, shift=0.3), draw)
    still = logprob_drift(answers(draw, 10), answers(draw, 10), draw)
    assert moved.p is not None
    assert still.p is not None
    assert moved.p < 0.01 < still.p


def test_one_sentinel_hardly_moves_the_statistic() -> None:
    draw = rng()
    before, after = answers(draw, 10), answers(draw, 10)
    clean = logprob_drift(before, after, draw).statistic
    after[3] = {**after[3], "h": -9999.0}
    spoilt = logprob_drift(before, after, draw).statistic
    assert clean is not None
    assert spoilt == pytest.approx(clean, abs=0.02)


def test_alike_answers_are_called_different_no_more_often_than_the_level() -> None:
    draw = rng()
    p = [logprob_drift(answers(draw, 6), answers(draw, 6), draw, permutations=99).p for _ in range(300)]
    assert np.mean([value is not None and value <= 0.05 for value in p]) <= 0.085


def test_constant_values_are_degenerate_and_single_answers_too_few() -> None:
    assert logprob_drift([{"a": 0.0}] * 5, [{"a": 0.0}] * 5, rng()).state == LogprobState.DEGENERATE
    assert logprob_drift([{"a": 0.0, "b": 0.0}] * 5, [{"a": 0.0, "b": 0.0}] * 5, rng()).state == LogprobState.DEGENERATE
    few = logprob_drift([{"a": -0.1, "b": -9.0}], [{"a": None}] * 5, rng())
    assert (few.state, few.statistic, few.p) == (LogprobState.TOO_FEW, None, None)


def test_temperature_scaling_by_the_server_shows_in_the_scale() -> None:
    draw = rng()
    before = answers(draw, 8)
    after = [{token: value * 2 for token, value in sample.items()} for sample in answers(draw, 8)]
    assert logprob_drift(before, after, draw).scale == pytest.approx(2, abs=0.05)
    assert logprob_drift(before, answers(draw, 8), draw).scale == pytest.approx(1, abs=0.05)


def test_fewer_reported_tokens_alone_are_no_drift() -> None:
    draw = rng()
    five = [dict(list(sample.items())[:5]) for sample in answers(draw, 9)]
    found = logprob_drift(answers(draw, 10), five, draw)
    assert found.tokens == 5
    assert found.p is not None
    assert found.p > 0.05


def test_a_run_is_scored_by_its_distance_from_the_reference() -> None:
    draw = rng()
    reference = answers(draw, 20)
    near, far = run_score(reference, answers(draw, 5)), run_score(reference, answers(draw, 5, shift=1.0))
    assert near is not None
    assert far is not None
    assert near < far
    assert run_score(reference, [{"a": None}]) is None


def test_bits_are_compared_and_not_values() -> None:
    a = np.array([1.0, 0.0, np.nan, 2.0], dtype=np.float32)
    same = compare_bits(a, a.copy())
    assert (same.differing, same.total, same.first, same.largest_gap) == (0, 4, None, None)
    b = a.copy()
    b[1], b[3] = -0.0, np.nextafter(np.float32(2), np.float32(3))
    other = compare_bits(a, b)
    assert (other.differing, other.first) == (2, 1)
    assert other.largest_gap == pytest.approx(2.4e-7, rel=0.1)
    with pytest.raises(ValueError, match="float32"):
        compare_bits(a, a.astype(np.float64))
