"""Evidence for a change that stays valid however often it is looked at.

Each look at a series yields *e-values*: numbers >= 0 whose expectation, given everything seen before, is at most 1
while nothing has changed (`rates`, `ranks` make them). Multiplied from some start on they can grow large only if
something did change. Three ways to multiply them are kept side by side; each is one number per alternative.

detector   e-SR:     R_t = (R_{t-1} + 1) e_t        sums over all possible starts; for watching without an end.
                     E[R_t] <= t, so P(any R_t >= c in T looks) <= T / c, and alarms with restart come at most
                     once in c looks on average.
cusum      e-CUSUM:  M_t = max(M_{t-1}, 1) e_t      the best single start; M_t <= R_t + 1. Kept for its start.
process    e-process: W_t = (W_{t-1} + w_t) e_t     with w_t = 1/(t(t + 1)), which sum to 1 over all starts: the chance
                     that it *ever* reaches 1/alpha is at most alpha (Ville). For one question about one baseline.

Averages of e-values over alternatives are e-values, so a mixture needs no correction for having tried several.
Sources: Shin, Ramdas, Rinaldo, "E-detectors", NEJSDS 2023; Ramdas, Gruenwald, Vovk, Shafer, "Game-theoretic statistics
and safe anytime-valid inference", 2023.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Far beyond any threshold; keeps products finite so that a state can be stored as plain JSON numbers.
CEILING = 1e200
LARGEST_E = 1e100


def shiryaev_roberts(previous: Floats, e: Floats) -> Floats:
    """One step of the e-detector, elementwise on any shape."""
    risen: Floats = np.minimum((previous + 1) * np.minimum(e, LARGEST_E), CEILING)
    return risen


def e_cusum(previous: Floats, e: Floats) -> Floats:
    """One step of the e-CUSUM, elementwise on any shape."""
    risen: Floats = np.minimum(np.maximum(previous, 1) * np.minimum(e, LARGEST_E), CEILING)
    return risen


def start_weighted(previous: Floats, e: Floats, look: int) -> Floats:
    """One step of the e-process over unknown starts; `look` counts from 1."""
    risen: Floats = np.minimum((previous + 1 / (look * (look + 1))) * np.minimum(e, LARGEST_E), CEILING)
    return risen


@dataclass(frozen=True, slots=True)
class Watch:
    """The whole memory of a watched series: a few numbers per alternative, stored and resumed exactly.

    `weights` of the alternatives, which add up to 1.

    `since[j]`: the look before which alternative j's e-CUSUM last had nothing to show, so the change that it argues for
    began with look since[j] + 1.
    """

    looks: int
    detector: tuple[float, ...]
    cusum: tuple[float, ...]
    process: tuple[float, ...]
    since: tuple[int, ...]
    weights: tuple[float, ...]

    @classmethod
    def begin(cls, alternatives: int, weights: Sequence[float] | None = None) -> Watch:
        """A watch that has seen nothing; alternatives weigh the same unless positive `weights` are given."""
        shares = (1.0,) * alternatives if weights is None else tuple(weights)
        if alternatives < 1 or len(shares) != alternatives or min(shares) <= 0:
            raise ValueError("a watch needs at least one alternative, each with a positive weight")
        zeros = (0.0,) * alternatives
        total = sum(shares)
        return cls(0, zeros, zeros, zeros, (0,) * alternatives, tuple(share / total for share in shares))

    def look(self, e_values: Sequence[float]) -> Watch:
        """The watch after one more look. A look without comparable answers is no look: do not call this."""
        e = np.asarray(e_values, dtype=np.float64)
        if e.shape != (len(self.detector),):
            raise ValueError(f"{len(self.detector)} alternatives are watched, got {e.size} e-values")
        if not np.isfinite(e).all() or (e < 0).any():
            raise ValueError(f"e-values are finite and not negative, got {e.tolist()}")
        looks = self.looks + 1
        since = tuple(began if risen > 1 else self.looks for began, risen in zip(self.since, self.cusum, strict=True))
        return Watch(
            looks,
            tuple(shiryaev_roberts(np.array(self.detector), e).tolist()),
            tuple(e_cusum(np.array(self.cusum), e).tolist()),
            tuple(start_weighted(np.array(self.process), e, looks).tolist()),
            since,
            self.weights,
        )

    @property
    def evidence(self) -> float:
        """The e-detector over all alternatives; compare with a threshold of `budget.allot`."""
        return float(np.dot(self.weights, self.detector))

    @property
    def evidence_ever(self) -> float:
        """The e-process over all alternatives and starts, the unused weight kept as cash; alarm at 1/alpha."""
        return float(np.dot(self.weights, self.process)) + 1 / (self.looks + 1)

    @property
    def leading(self) -> int:
        """The alternative that argues best for a change."""
        return int(np.argmax(np.multiply(self.weights, self.detector)))

    @property
    def began(self) -> int:
        """The first look of the change that the leading alternative argues for, counted from 1."""
        return self.since[self.leading] + 1

    def to_numbers(self) -> dict[str, Any]:
        """Plain numbers for a JSON column; `from_numbers` gives back an equal watch."""
        return {
            "looks": self.looks,
            "detector": list(self.detector),
            "cusum": list(self.cusum),
            "process": list(self.process),
            "since": list(self.since),
            "weights": list(self.weights),
        }

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, Any]) -> Watch:
        watch = cls(
            int(numbers["looks"]),
            tuple(float(value) for value in numbers["detector"]),
            tuple(float(value) for value in numbers["cusum"]),
            tuple(float(value) for value in numbers["process"]),
            tuple(int(value) for value in numbers["since"]),
            tuple(float(value) for value in numbers["weights"]),
        )
        lengths = {len(watch.detector), len(watch.cusum), len(watch.process), len(watch.since), len(watch.weights)}
        if len(lengths) != 1 or not all(isfinite(v) for v in watch.detector + watch.cusum + watch.process):
            raise ValueError(f"not the state of a watch: {dict(numbers)}")
        return watch
