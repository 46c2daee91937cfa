"""Did answers begin to differ from the baseline more often, or less often? E-values from shares.

What is watched: of `answers` answers in a run, how many (`differing`, may be fractional) differ from the frozen
reference of their canary. The null: given the past, an answer of a run in stratum s differs with a mean probability of
at most `upper[s]` (at least `lower[s]`), and answers of one run are independent given that probability, or as
correlated as they were in the baseline (`dispersion`). Canaries may have very different rates; only their mean counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

Floats = NDArray[np.float64]

# ln e where no answer could speak for a change: a rate whose bound is 1 cannot rise.
NOTHING = -200.0
# Where between the bound and the far end the alternatives lie. A wide spread costs log(4) in evidence at most.
STEPS = (0.1, 0.2, 0.4, 0.8)
MISS = 0.005
# How many standard errors above 1 a dispersion must be to be believed. There are few days in a baseline, and taking
# days that differ for equal ones costs false alarms, so they are believed sooner.
SURE_OF_RUNS = 2.5
SURE_OF_BLOCKS = 1.0


@dataclass(frozen=True, slots=True)
class RateBound:
    """What a baseline says about one stratum's share of differing answers."""

    value: float
    lower: float
    upper: float
    answers: float


@dataclass(frozen=True, slots=True)
class RateBaseline:
    """Bounds per stratum that all hold with probability >= 1 - miss on each side, and how clustered answers were.

    `dispersion` = 1: as independent draws. 3: a run (or a day) of answers carries a third of what independent ones
    would; evidence is taken to the power 1/3. `block_dispersion`: the same for whole blocks only, that is, for what the
    runs of a day share.
    """

    bounds: Mapping[int, RateBound]
    dispersion: float
    block_dispersion: float
    runs: int
    miss: float

    def to_numbers(self) -> dict[str, Any]:
        """Plain numbers for a JSON column."""
        return {
            "bounds": {str(s): [b.value, b.lower, b.upper, b.answers] for s, b in self.bounds.items()},
            "dispersion": self.dispersion,
            "block_dispersion": self.block_dispersion,
            "runs": self.runs,
            "miss": self.miss,
        }

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, Any]) -> RateBaseline:
        bounds = {int(s): RateBound(*(float(x) for x in row)) for s, row in numbers["bounds"].items()}
        dispersion, of_blocks = float(numbers["dispersion"]), float(numbers["block_dispersion"])
        return cls(bounds, dispersion, of_blocks, int(numbers["runs"]), float(numbers["miss"]))


def rate_baseline(
    differing: Sequence[float] | Floats,
    answers: Sequence[float] | Floats,
    strata: Sequence[int] | NDArray[np.int64],
    blocks: Sequence[int] | NDArray[np.int64],
    miss: float = MISS,
) -> RateBaseline | None:
    """The frozen baseline of a series, from its runs. All inputs have one entry per run.

    A stratum is a time of day with its own rate (six-hour quarters of the day are a good start); a block is a stretch
    of runs that may share weather, a day. Bounds are Clopper-Pearson at miss / strata, on counts divided by the
    dispersion. None without an answer.
    """
    k, n = np.asarray(differing, dtype=np.float64), np.asarray(answers, dtype=np.float64)
    stratum, block = np.asarray(strata, dtype=np.int64), np.asarray(blocks, dtype=np.int64)
    if not k.shape == n.shape == stratum.shape == block.shape or k.ndim != 1:
        raise ValueError("differing, answers, strata and blocks are four arrays of one length, one entry per run")
    if (k < 0).any() or (k > n).any():
        raise ValueError("a run cannot have fewer than 0 or more differing answers than answers")
    asked = n > 0
    k, n, stratum, block = k[asked], n[asked], stratum[asked], block[asked]
    if not n.size:
        return None
    by_run, by_block = _dispersion(k, n, stratum, block)
    spread = max(by_run, by_block)
    labels = np.unique(stratum)
    bounds = {}
    for label in labels.tolist():
        there = stratum == label
        total, hits = float(n[there].sum()), float(k[there].sum())
        lower, upper = clopper_pearson(hits / spread, total / spread, miss / labels.size)
        bounds[label] = RateBound(hits / total, lower, upper, total)
    return RateBaseline(bounds, spread, by_block, int(n.size), miss)


def clopper_pearson(successes: float, trials: float, miss: float) -> tuple[float, float]:
    """Lower and upper bound of a share, each missed with probability at most `miss`. Counts may be fractional."""
    low = float(betaincinv(successes, trials - successes + 1, miss)) if successes > 0 else 0.0
    high = float(betaincinv(successes + 1, trials - successes, 1 - miss)) if successes < trials else 1.0
    return low, high


def _dispersion(k: Floats, n: Floats, stratum: NDArray[np.int64], block: NDArray[np.int64]) -> tuple[float, float]:
    """Pearson's chi^2 / df over runs and over blocks, each 1 where it is not clearly above 1.

    Never more than the mean number of answers per block: a block cannot carry less than one answer.
    """
    expected = np.zeros_like(k)
    for label in np.unique(stratum):
        there = stratum == label
        expected[there] = k[there].sum() / n[there].sum()
    mean, variance = n * expected, n * expected * (1 - expected)
    strata = np.unique(stratum).size
    _, index = np.unique(block, return_inverse=True)
    by_run = _over_binomial(k - mean, variance, k.size - strata, SURE_OF_RUNS)
    blocks = int(index.max()) + 1
    by_block = _over_binomial(_block_sums(index, k - mean), _block_sums(index, variance), blocks - 1, SURE_OF_BLOCKS)
    most = max(1.0, float(n.sum()) / blocks)
    return min(by_run, most), min(by_block, most)


def _block_sums(index: NDArray[np.int64], values: Floats) -> Floats:
    return np.bincount(index, values).astype(np.float64)


def _over_binomial(residuals: Floats, variances: Floats, freedom: int, sure: float) -> float:
    known = variances > 1e-12
    if freedom < 2 or not known.any():
        return 1.0
    ratio = float((residuals[known] ** 2 / variances[known]).sum()) / freedom
    return ratio if ratio > 1 + sure * sqrt(2 / freedom) else 1.0


def log_rise(upper: Floats, dispersion: Floats, differing: Floats, answers: Floats) -> Floats:
    """ln e for 'more answers differ', one per alternative. All inputs float[...], result float[..., 4].

    For each alternative q = upper + step (1 - upper):
    ln e = [k ln(q / upper) + (n - k) ln((1 - q) / (1 - upper))] / dispersion.
    With x_i in [0, 1] of mean p_i <= upper on average, each factor is at most 1 + lambda (x_i - upper), so E[e] <= 1.
    """
    bound = np.clip(upper, 1e-9, 1 - 1e-9)[..., None]
    other = bound + (1 - bound) * np.array(STEPS)
    hits, misses = differing[..., None], (answers - differing)[..., None]
    logs: Floats = (hits * np.log(other / bound) + misses * np.log((1 - other) / (1 - bound))) / dispersion[..., None]
    return np.where(upper[..., None] < 1, logs, NOTHING)


def log_fall(lower: Floats, dispersion: Floats, differing: Floats, answers: Floats) -> Floats:
    """ln e for 'fewer answers differ': `log_rise` of the answers that do not differ."""
    return log_rise(1 - lower, dispersion, answers - differing, answers)


def rise(baseline: RateBaseline, stratum: int, differing: float, answers: float) -> tuple[float, ...] | None:
    """E-values of one run for 'more answers differ than the baseline allows', for `Watch.look`.

    None where the run has no answer or its stratum no baseline: there is nothing to look at.
    """
    bound = baseline.bounds.get(stratum)
    if bound is None or answers <= 0:
        return None
    return _e_values(log_rise(*_arrays(bound.upper, baseline.dispersion, differing, answers)))


def fall(baseline: RateBaseline, stratum: int, differing: float, answers: float) -> tuple[float, ...] | None:
    """E-values of one run for 'fewer answers differ'. Together with `rise` in one watch this is the two-sided test."""
    bound = baseline.bounds.get(stratum)
    if bound is None or answers <= 0:
        return None
    return _e_values(log_fall(*_arrays(bound.lower, baseline.dispersion, differing, answers)))


def _arrays(*numbers: float) -> tuple[Floats, Floats, Floats, Floats]:
    bound, dispersion, differing, answers = (np.array(number, dtype=np.float64) for number in numbers)
    return bound, dispersion, differing, answers


def _e_values(logs: Floats) -> tuple[float, ...]:
    return tuple(np.exp(np.minimum(logs, 200.0)).tolist())


def departure(reference: Sequence[int], run: Sequence[int]) -> float | None:
    """P(a reference answer and an answer of the run differ) for one canary: 1 - sum over outputs of p_ref p_run.

    Both are counts over the same list of distinct outputs. None where either has no answer. Times the run's answers it
    is the `differing` of this module.
    """
    base, new = np.asarray(reference, dtype=np.float64), np.asarray(run, dtype=np.float64)
    if base.shape != new.shape:
        raise ValueError("reference and run count the same distinct outputs")
    if base.sum() == 0 or new.sum() == 0:
        return None
    return float(1 - (base / base.sum()) @ (new / new.sum()))
