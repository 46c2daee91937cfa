"""Names that flap though nothing changed raise nothing; the published mixes are replayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta

import numpy as np
import pytest

from drift.findings.evidence import Limits
from drift.findings.kinds import Kind
from drift.measure.budget import Budget, allot
from tests.drift.findings.simulated import SimulatedSeries, churning, fp, mix, pool, sticky

Names = Callable[[np.random.Generator, int], Sequence[str]]

# community.openai.com/t/715497, ten calls each, and the recordings in facts A.1
PUBLISHED: dict[str, Names] = {
    "gpt-3.5-turbo 8/2": mix({fp("fp_a"): 8, fp("fp_b"): 2}),
    "gpt-4-turbo 6/3/1": mix({fp("fp_a"): 6, fp("fp_b"): 3, fp("fp_c"): 1}),
    "gpt-4-1106 4/2/2/1/1": mix({fp(f"fp_{c}"): w for c, w in zip("abcde", (4, 2, 2, 1, 1), strict=True)}),
    "gpt-4o 40 of 190 consecutive calls differ": sticky({fp("fp_a"): 6, fp("fp_b"): 3, fp("fp_c"): 1}),
    "gpt-oss-120b eight of eight": churning(),
    "one value": mix({fp("fp_a"): 1}),
    "none": mix({fp(None): 1}),
}


@pytest.mark.parametrize("case", PUBLISHED)
@pytest.mark.parametrize("repeats", [1, 5])
def test_a_published_mix_raises_nothing_in_two_weeks(case: str, repeats: int) -> None:
    """With 40 answers a run and with 8: 336 hourly runs each."""
    series = SimulatedSeries(PUBLISHED[case], np.random.default_rng(7), cadence=timedelta(hours=1), repeats=repeats)

    series.run(336)

    loud = [kind for kind in series.kinds() if Kind(kind).opens]
    assert not loud, f"{case}: {Counter(loud)}"


def test_a_pool_of_machines_that_take_turns_is_one_set() -> None:
    """Three values interleaved for weeks (llama-4-maverick): each may be told of once when it first takes over."""
    series = SimulatedSeries(
        pool([fp("fp_a"), fp("fp_b"), fp("fp_c")], stays=5), np.random.default_rng(3), cadence=timedelta(hours=1)
    )
    series.run(24 * 21)

    loud = [kind for kind in series.kinds() if Kind(kind).opens]
    assert len(loud) <= 2, series.kinds()


def test_thirty_days_of_twenty_endpoints_stay_within_the_budget() -> None:
    """Flapping names and a daily rhythm of +-50 %: 'at most one false alarm a quarter' allows 0.33 in 30 days."""
    shapes = list(PUBLISHED.values())
    share = allot(Budget(1, "quarter"), [1.0] * 60)[0]
    limits = Limits(share.threshold, share.threshold, share.threshold, share.miss)
    loud: Counter[str] = Counter()

    for number in range(20):
        series = SimulatedSeries(
            shapes[number % len(shapes)],
            np.random.default_rng(1000 + number),
            limits,
            cadence=timedelta(hours=1),
            divergence=(0.0, 0.02, 0.08, 0.25)[number % 4],
        )
        series.run(30 * 24)
        loud.update(kind for kind in series.kinds() if Kind(kind).opens)

    assert sum(loud.values()) == 0, loud
