import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.measure.sequential import CEILING, Watch, e_cusum, shiryaev_roberts, start_weighted

E_VALUES = st.lists(st.tuples(st.floats(0, 50), st.floats(0, 50)), min_size=1, max_size=30)


def watched(looks: list[tuple[float, float]]) -> Watch:
    watch = Watch.begin(2)
    for e_values in looks:
        watch = watch.look(e_values)
    return watch


@given(E_VALUES)
def test_the_detector_is_the_sum_over_all_starts_and_the_cusum_their_largest(looks: list[tuple[float, float]]) -> None:
    first = np.array([e for e, _ in looks])
    products = [float(np.prod(first[start:])) for start in range(len(first))]
    watch = watched(looks)
    assert watch.detector[0] == pytest.approx(min(sum(products), CEILING), rel=1e-9)
    assert watch.cusum[0] == pytest.approx(max(products), rel=1e-9)
    weighted = sum(product / ((start + 1) * (start + 2)) for start, product in enumerate(products))
    assert watch.process[0] == pytest.approx(weighted, rel=1e-9)


@given(E_VALUES, st.integers(0, 30))
def test_a_watch_resumed_from_its_stored_numbers_continues_bit_for_bit(
    looks: list[tuple[float, float]], stop: int
) -> None:
    stored = json.loads(json.dumps(watched(looks[:stop]).to_numbers()))
    resumed = Watch.from_numbers(stored)
    for e_values in looks[stop:]:
        resumed = resumed.look(e_values)
    assert resumed == watched(looks)


def test_evidence_stays_a_finite_number_however_strong() -> None:
    watch = watched([(1e90, 0.0)] * 5)
    assert watch.detector == (CEILING, 0.0)
    assert json.loads(json.dumps(watch.to_numbers(), allow_nan=False))


def test_the_change_is_dated_to_where_the_leading_alternative_began_to_rise() -> None:
    watch = watched([(0.5, 0.9)] * 30 + [(3.0, 1.0)] * 6)
    assert watch.leading == 0
    assert watch.began == 31


def test_a_state_that_is_not_one_is_refused() -> None:
    numbers = Watch.begin(2).to_numbers()
    with pytest.raises(ValueError, match="not the state"):
        Watch.from_numbers(numbers | {"detector": [1.0]})
    with pytest.raises(ValueError, match="not negative"):
        Watch.begin(1).look([-1.0])
    with pytest.raises(ValueError, match="2 alternatives are watched, got 1"):
        Watch.begin(2).look([1.0])
    with pytest.raises(ValueError, match="at least one"):
        Watch.begin(0)


def test_false_alarms_stay_within_what_the_thresholds_promise() -> None:
    # a fair bet that loses a little most of the time: e = 8 with chance 1/10, 2/9 otherwise
    series, looks, threshold = 20_000, 300, 3000.0
    rng = np.random.default_rng(8)
    detector, cusum, process = np.zeros(series), np.zeros(series), np.zeros(series)
    alarmed, ever = np.zeros(series, dtype=bool), np.zeros(series, dtype=bool)
    for look in range(1, looks + 1):
        e = np.where(rng.random(series) < 0.1, 8.0, 2 / 9)
        detector, cusum = shiryaev_roberts(detector, e), e_cusum(cusum, e)
        process = start_weighted(process, e, look)
        alarmed |= detector >= threshold
        ever |= process + 1 / (look + 1) >= 20
        assert (cusum <= detector + 1).all()
    assert alarmed.mean() <= looks / threshold
    assert alarmed.mean() > looks / threshold / 20, "the promise should not be met by never speaking"
    assert ever.mean() <= 0.05
