"""The watch over the share of answers that differ from the baseline: one call per run.

Two kinds of evidence are averaged, so that each covers what the other misses. Bounds (`rates`) hold the frozen baseline
against every run and find large changes at once and slow ones however slow; they must allow for not knowing the
baseline's rate. Ranks (`tallies`) need no such allowance and find moderate changes soonest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drift.measure import tallies
from drift.measure.ranks import EXPONENTS
from drift.measure.rates import MISS, STEPS, RateBaseline, fall, rate_baseline, rise
from drift.measure.sequential import Watch
from drift.measure.tallies import Tally, tally

Floats = NDArray[np.float64]

# Answers that begin to differ more often are what a change looks like; a fifth of the evidence watches for the
# opposite.
UP, DOWN = 0.8, 0.2
WEIGHTS = (
    *[UP / 2 / len(EXPONENTS)] * len(EXPONENTS),
    *[DOWN / 2 / len(EXPONENTS)] * len(EXPONENTS),
    *[UP / 2 / len(STEPS)] * len(STEPS),
    *[DOWN / 2 / len(STEPS)] * len(STEPS),
)


@dataclass(frozen=True, slots=True)
class ShareWatch:
    """A baseline, its tallies as they have grown, and the evidence so far. Everything that has to be stored."""

    baseline: RateBaseline
    tallies: Mapping[int, Tally]
    watch: Watch

    def look(self, stratum: int, differing: float, answers: float, tie: float) -> ShareWatch:
        """The watch after a run of `answers` answers, of which `differing` differ from the reference.

        `differing` may be fractional (`rates.departure`). A run without answers, or at a time of day the baseline
        does not know, changes nothing. `tie`: see `tie_break`.
        """
        above, below = (side(self.baseline, stratum, differing, answers) for side in (rise, fall))
        known = self.tallies.get(stratum)
        if above is None or below is None or known is None:
            return self
        ranked, grown = tallies.place(known, differing / answers, tie)
        # Ranks take runs as exchangeable. Where days differ they are less so, and the evidence counts for less.
        tempered = (e ** (1 / self.baseline.block_dispersion) for e in ranked)
        return ShareWatch(self.baseline, {**self.tallies, stratum: grown}, self.watch.look((*tempered, *above, *below)))

    @property
    def evidence(self) -> float:
        """Compare with `budget.Allotment.threshold`."""
        return self.watch.evidence

    @property
    def more(self) -> bool:
        """Whether the leading evidence says that answers differ more often, and not less."""
        ranks, steps = len(EXPONENTS), len(STEPS)
        return self.watch.leading < ranks or 2 * ranks <= self.watch.leading < 2 * ranks + steps

    def restarted(self) -> ShareWatch:
        """The same baseline with the evidence set back to nothing, after an alarm that people looked into."""
        return ShareWatch(self.baseline, self.tallies, Watch.begin(len(WEIGHTS), WEIGHTS))

    def to_numbers(self) -> dict[str, Any]:
        """Plain numbers for a JSON column; `from_numbers` gives back an equal watch."""
        return {
            "baseline": self.baseline.to_numbers(),
            "tallies": tallies.to_numbers(self.tallies),
            "watch": self.watch.to_numbers(),
        }

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, Any]) -> ShareWatch:
        return cls(
            RateBaseline.from_numbers(numbers["baseline"]),
            tallies.from_numbers(numbers["tallies"]),
            Watch.from_numbers(numbers["watch"]),
        )


def begin(
    differing: Sequence[float] | Floats,
    answers: Sequence[float] | Floats,
    strata: Sequence[int] | NDArray[np.int64],
    blocks: Sequence[int] | NDArray[np.int64],
    miss: float = MISS,
) -> ShareWatch | None:
    """A watch over a new baseline, from its runs (`rates.rate_baseline`); None where they hold no answer.

    `differing` must be counted against a reference that did not come from the same runs (the baseline's first part,
    or all runs but the one that is counted), or new runs look as if they differed more. `miss` is shared by both
    sides.
    """
    baseline = rate_baseline(differing, answers, strata, blocks, miss / 2)
    if baseline is None:
        return None
    k, n = np.asarray(differing, dtype=np.float64), np.asarray(answers, dtype=np.float64)
    stratum = np.asarray(strata, dtype=np.int64)
    grown = {
        label: tally((k[there] / n[there]).tolist())
        for label in baseline.bounds
        if (there := (stratum == label) & (n > 0)).any()
    }
    return ShareWatch(baseline, grown, Watch.begin(len(WEIGHTS), WEIGHTS))


def tie_break(key: str) -> float:
    """A number in [0, 1) that is random over keys and always the same for one key (the id of a run)."""
    return int.from_bytes(blake2b(key.encode(), digest_size=6).digest(), "big") / 2**48
