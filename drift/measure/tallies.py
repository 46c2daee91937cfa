"""Did a score with few values move? E-values from smoothed ranks in a growing tally.

For scores that often tie, such as the share of a run's answers that differ. The null: the runs of a stratum, baseline
and new ones alike, are exchangeable; nothing is assumed about how answers within a run depend on each other. Then the
rank of each new score among all scores up to it, ties broken at random, is uniform on [0, 1] and independent of the
ranks before (a conformal test martingale), whatever the scores' distribution and without a bound to estimate. Source:
Vovk, Gammerman, Shafer, "Algorithmic Learning in a Random World", 2nd ed. 2022, ch. 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drift.measure.ranks import EXPONENTS

Floats = NDArray[np.float64]

GRID = 0.01


@dataclass(frozen=True, slots=True)
class Tally:
    """How often each score (in steps of 0.01) occurred in one stratum, baseline and new runs together."""

    counts: tuple[tuple[int, int], ...]  # (score / GRID, times), ascending

    @property
    def size(self) -> int:
        return sum(times for _, times in self.counts)

    def add(self, score: float) -> Tally:
        counts = dict(self.counts)
        step = round(score / GRID)
        counts[step] = counts.get(step, 0) + 1
        return Tally(tuple(sorted(counts.items())))


def tally(scores: Iterable[float]) -> Tally:
    """The tally of one stratum's baseline scores."""
    counts: dict[int, int] = {}
    for score in scores:
        step = round(score / GRID)
        counts[step] = counts.get(step, 0) + 1
    return Tally(tuple(sorted(counts.items())))


def place(state: Tally, score: float, tie: float) -> tuple[tuple[float, ...], Tally]:
    """E-values of one new score (3 for 'higher', then 3 for 'lower') and the tally that includes it.

    `tie` in [0, 1): a random number of the caller's, one per score and independent of it.
    """
    if not 0 <= tie < 1:
        raise ValueError(f"tie must lie in [0, 1), got {tie}")
    state = state.add(score)
    step = round(score / GRID)
    above = sum(times for value, times in state.counts if value > step)
    equal = dict(state.counts)[step]
    above_, equal_, size, tie_ = (np.array(number, dtype=np.float64) for number in (above, equal, state.size, tie))
    return tuple(bets(above_, equal_, size, tie_).tolist()), state


def bets(above: Floats, equal: Floats, size: Floats, tie: Floats) -> Floats:
    """E-values float[..., 6] of scores with `above` of `size` scores above them and `equal` equal, themselves included.

    The rank from above is p = (above + (1 - tie) equal) / size, from below 1 - p; e = x p^(x - 1) for each exponent
    x. Both are kept off 0 by far less than one rank, so that no bet is infinite.
    """
    high = (above + (1 - tie) * equal) / size
    low = np.maximum(1 - high, 1e-12)
    # Where all scores so far are equal there is nothing to rank: p = 1 both ways, so that ties alone never raise an
    # alarm.
    alike = equal == size
    high, low = np.where(alike, 1.0, high)[..., None], np.where(alike, 1.0, low)[..., None]
    x = np.array(EXPONENTS)
    return np.concatenate([x * high ** (x - 1), x * low ** (x - 1)], axis=-1)


def to_numbers(tallies: Mapping[int, Tally]) -> dict[str, Any]:
    """Tallies by stratum as plain numbers for a JSON column."""
    return {str(stratum): [list(pair) for pair in state.counts] for stratum, state in tallies.items()}


def from_numbers(numbers: Mapping[str, Any]) -> dict[int, Tally]:
    return {int(s): Tally(tuple((int(step), int(times)) for step, times in pairs)) for s, pairs in numbers.items()}
