"""Which positions of an answer can flip, before they do.

A token flips where the two best candidates' log probabilities are closer than the endpoint's own noise. Both are
measured on the part of the answer that repeats still share, because after the first divergence positions no longer
mean the same thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from drift.measure.intervals import Estimate

Floats = NDArray[np.float64]

CHANCE = 0.01


@dataclass(frozen=True, slots=True)
class Noise:
    """`sigma`: standard deviation in nats of one run's margin about its mean, from `freedom` degrees of freedom."""

    sigma: float
    freedom: int


@dataclass(frozen=True, slots=True)
class NearTie:
    """A position whose margin is within the noise. `chance`: that another run picks the other token."""

    position: int
    margin: float
    chance: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """How well flip chances held: flips expected and seen, and the Brier score against always saying the base rate.

    `expected.low` to `expected.high` is the range that the number of flips falls into with 95 % if the chances are
    right. `skill` = 1 - Brier / Brier of the base rate; None where the base rate is 0 or 1 and there was nothing to
    tell apart.
    """

    expected: Estimate
    seen: int
    brier: float
    skill: float | None

    @property
    def held(self) -> bool:
        return self.expected.low <= self.seen <= self.expected.high


def margins(best_two: Sequence[tuple[float, float] | None]) -> Floats:
    """Margin of each position in nats, float64[T]: best minus second best log probability, NaN where unknown.

    The chosen token may be the second best (sampling, or a tie broken the other way); give the two largest values.
    """
    return np.array([np.nan if pair is None else abs(pair[0] - pair[1]) for pair in best_two], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class MarginAtDivergence:
    """How close the decision was where two answers parted. Margins in nats, None where unknown.

    `rank`: how many earlier positions had a smaller margin, so 0 means that they parted at the nearest tie so far.
    """

    position: int
    margin: float | None
    smallest_before: float | None
    rank: int


def margin_at_divergence(margin: Floats, position: int) -> MarginAtDivergence | None:
    """From one answer's margins float64[T] and where it parted from another. None past its last token."""
    if not 0 <= position < margin.size:
        return None
    before = margin[:position][np.isfinite(margin[:position])]
    here = float(margin[position]) if np.isfinite(margin[position]) else None
    return MarginAtDivergence(
        position=position,
        margin=here,
        smallest_before=float(before.min()) if before.size else None,
        rank=int((before < here).sum()) if here is not None else int(before.size),
    )


def signed_margins(first: Floats, second: Floats) -> Floats:
    """log p(u) - log p(v) at each position, for two fixed tokens: negative where a run prefers v. float64[...].

    The noise is to be taken from these; `abs` would fold it at ties.
    """
    difference: Floats = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    return difference


def noise(repeats: Floats) -> Noise | None:
    """The endpoint's own noise from signed margins float64[R, T] of R repeats at T shared positions, NaN where unknown.

    sigma^2 = sum of squared deviations from each position's mean / sum of (repeats - 1): pooled over positions,
    assuming the noise is about the same at all of them. None without a position seen twice. 0 is a real answer: an
    endpoint whose log probabilities repeat bit for bit. Cf. Avg_Std@top1_prob of Yuan et al., arXiv:2506.09501.
    """
    known = np.isfinite(repeats)
    seen = known.sum(axis=0)
    twice = seen >= 2
    freedom = int((seen[twice] - 1).sum())
    if not freedom:
        return None
    values = np.where(known, repeats, 0.0)[:, twice]
    means = values.sum(axis=0) / seen[twice]
    deviations = np.where(known[:, twice], values - means, 0.0)
    return Noise(sqrt(float((deviations**2).sum()) / freedom), freedom)


def flip_chances(margin: Floats, sigma: float, repeats: int = 1) -> Floats:
    """P(one more run picks the other token) at each position, from the mean margin of `repeats` runs. float64[T].

    Phi(-margin / (sigma sqrt(1 + 1 / repeats))): both the new run and the mean it is compared with carry noise. With
    sigma = 0 it is 1/2 at an exact tie and 0 elsewhere. NaN margins stay NaN.
    """
    if sigma < 0 or repeats < 1:
        raise ValueError(f"noise cannot be negative and needs a run, got {sigma} and {repeats}")
    if sigma == 0:
        still: Floats = np.where(np.isnan(margin), np.nan, np.where(margin == 0, 0.5, 0.0))
        return still
    chances: Floats = ndtr(-np.asarray(margin, dtype=np.float64) / (sigma * sqrt(1 + 1 / repeats)))
    return chances


def near_ties(margin: Floats, sigma: float, repeats: int = 1, chance: float = CHANCE) -> list[NearTie]:
    """Positions at which another run picks the other token with at least `chance`, likeliest first."""
    chances = flip_chances(margin, sigma, repeats)
    found = [
        NearTie(int(position), float(margin[position]), float(chances[position]))
        for position in np.flatnonzero(chances >= chance)
    ]
    return sorted(found, key=lambda tie: (-tie.chance, tie.position))


def agreement_forecast(chances: Floats) -> Floats:
    """P(two new runs still agree after each position), float64[T]: prod of 1 - 2 f (1 - f), flips independent.

    Positions of unknown margin count as certain, so this is an upper bound where there are any.
    """
    flips = np.nan_to_num(chances, nan=0.0)
    agreed: Floats = np.cumprod(1 - 2 * flips * (1 - flips), dtype=np.float64)
    return agreed


def check_forecast(chances: Floats, flipped: NDArray[np.bool_]) -> Forecast | None:
    """Compare flip chances float64[P] with what later runs did, bool[P]. Unknown chances are left out; None if all are.

    The number of flips under the forecast has mean sum f and variance sum f (1 - f); the range is mean +- 1.96 sd with
    a continuity correction of 1/2.
    """
    known = np.isfinite(chances)
    f, happened = chances[known], flipped[known]
    if not f.size:
        return None
    mean, spread = float(f.sum()), sqrt(float((f * (1 - f)).sum()))
    seen, rate = int(happened.sum()), float(happened.mean())
    brier = float(((f - happened) ** 2).mean())
    plain = rate * (1 - rate)
    half = 1.959964 * spread + 0.5
    expected = Estimate(mean, max(0.0, mean - half), min(float(f.size), mean + half), int(f.size))
    return Forecast(expected, seen, brier, 1 - brier / plain if plain > 0 else None)
