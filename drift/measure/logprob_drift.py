"""Did the log probabilities of the same token position move? They move before any text does.

One answer's first token, as the provider reports it: a mapping from token to log probability (nats), the top k only.
Values that are no log probability (missing, non-finite, <= -100, the sentinels of various servers) are censored: the
token was ranked below the others, by an unknown amount.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=Hashable)
Floats = NDArray[np.float64]
TopLogprobs: TypeAlias = Mapping[T, float | None]

# Nothing below this is told apart: one sentinel of -9999 in a mean would hide everything else.
FLOOR = -40.0
SENTINEL = -100.0
PERMUTATIONS = 1000


class LogprobState(StrEnum):
    """Whether log probabilities can be compared at all."""

    USABLE = "usable"
    TOO_FEW = "too_few"  # fewer than two usable answers on a side
    DEGENERATE = "degenerate"  # one token, or all values equal: a server that fills in constants


@dataclass(frozen=True, slots=True)
class LogprobDrift:
    """`statistic` in nats, mean over tokens; `p` from permutations, never 0; both None unless `state` is usable.

    `scale`: slope of the later means on the earlier ones, about their own means. Clearly off 1 while the order of
    tokens stays, it says that the server began to report other numbers (temperature-scaled ones), not that the
    model changed. None where there are fewer than three tokens.
    """

    state: LogprobState
    statistic: float | None
    p: float | None
    scale: float | None
    before: int
    after: int
    tokens: int


def readable(logprob: float | None) -> float | None:
    """The log probability as a number to compute with, clipped at -40; None where it is censored."""
    if logprob is None or not isfinite(logprob) or logprob <= SENTINEL:
        return None
    return max(min(logprob, 0.0), FLOOR)


def _readable_part(sample: TopLogprobs[T]) -> dict[T, float]:
    return {token: value for token, raw in sample.items() if (value := readable(raw)) is not None}


def table(*sides: Sequence[TopLogprobs[T]]) -> tuple[tuple[T, ...], list[Floats]]:
    """The union of tokens, and per side float64[N, V] of their log probabilities, one row per readable sample.

    Samples are cut to the same depth, the smallest among the sides' median numbers of readable values: a server that
    began to report fewer tokens has not thereby moved. A token missing in a sample gets that sample's smallest value,
    which is an upper bound of the true one.
    """
    readable_sides = [[row for row in map(_readable_part, side) if row] for side in sides]
    depths = [int(np.median([len(row) for row in rows])) for rows in readable_sides if rows]
    columns: dict[T, int] = {}
    cut_sides = []
    for rows in readable_sides:
        cut = [dict(sorted(row.items(), key=lambda entry: -entry[1])[: min(depths)]) for row in rows]
        cut_sides.append(cut)
        for row in cut:
            for token in row:
                columns.setdefault(token, len(columns))
    values = []
    for cut in cut_sides:
        side_values = np.empty((len(cut), len(columns)))
        for index, row in enumerate(cut):
            side_values[index] = min(row.values())
            side_values[index, [columns[token] for token in row]] = list(row.values())
        values.append(side_values)
    return tuple(columns), values


def logprob_drift(
    before: Sequence[TopLogprobs[T]],
    after: Sequence[TopLogprobs[T]],
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> LogprobDrift:
    """S = mean over tokens of |mean of the token's log probability before - after|, with a permutation p-value.

    p = (1 + #{S_b >= S}) / (1 + B) over exchanges of whole answers. Assumes answers exchangeable where nothing
    changed; use answers from the same hours of the day. Source: the LT statistic of Chauvin et al., arXiv:2512.03816
    (whose p can be 0), with sentinels censored and the two sides cut to the same depth.
    """
    tokens, (earlier, later) = table(before, after)
    values = np.concatenate([earlier, later])
    first, second = len(earlier), len(later)
    if first < 2 or second < 2:
        return LogprobDrift(LogprobState.TOO_FEW, None, None, None, first, second, len(tokens))
    if len(tokens) < 2 or float(np.ptp(values)) == 0:
        return LogprobDrift(LogprobState.DEGENERATE, None, None, None, first, second, len(tokens))
    observed = distance(earlier, later)
    chosen = np.zeros((permutations, first + second))
    np.put_along_axis(chosen, rng.random(chosen.shape).argsort(axis=1)[:, :first], 1.0, axis=1)
    sums = chosen @ values
    permuted = np.abs(sums / first - (values.sum(axis=0) - sums) / second).mean(axis=1)
    at_least = int((permuted >= observed - 1e-12).sum())
    return LogprobDrift(
        state=LogprobState.USABLE,
        statistic=observed,
        p=(1 + at_least) / (1 + permutations),
        scale=_slope(earlier.mean(axis=0), later.mean(axis=0)),
        before=first,
        after=second,
        tokens=len(tokens),
    )


def distance(before: Floats, after: Floats) -> float:
    """Mean over tokens of |difference of means|, in nats, from float64[N1, V] and float64[N2, V]."""
    return float(np.abs(before.mean(axis=0) - after.mean(axis=0)).mean())


def _slope(before: Floats, after: Floats) -> float | None:
    x, y = before - before.mean(), after - after.mean()
    spread = float(x @ x)
    return float(x @ y) / spread if before.size >= 3 and spread > 1e-12 else None


def run_score(reference: Sequence[TopLogprobs[T]], run: Sequence[TopLogprobs[T]]) -> float | None:
    """One run's distance from the frozen reference answers, in nats: the score to rank with `ranks.place`.

    Not corrected for how far runs are from it while nothing changed; ranking against the baseline runs' own scores does
    that. None where either side has no readable answer.
    """
    _, (held, seen) = table(reference, run)
    return distance(held, seen) if len(held) and len(seen) else None


@dataclass(frozen=True, slots=True)
class BitComparison:
    """Elements of two float arrays whose bits differ; `first` is the flat index of the first, None if none does."""

    differing: int
    total: int
    first: int | None
    largest_gap: float | None


def compare_bits(a: NDArray[np.floating], b: NDArray[np.floating]) -> BitComparison:
    """Bitwise equality, for an endpoint that is ours: +0 and -0 differ, a NaN equals the same NaN.

    `largest_gap` is the largest |a - b| among differing finite elements, None where there is none.
    """
    if a.shape != b.shape or a.dtype != b.dtype:
        raise ValueError(f"cannot compare the bits of {a.dtype}{list(a.shape)} and {b.dtype}{list(b.shape)}")
    bits = np.dtype(f"u{a.dtype.itemsize}")
    left, right = np.ascontiguousarray(a).ravel(), np.ascontiguousarray(b).ravel()
    places = np.flatnonzero(left.view(bits) != right.view(bits))
    finite = places[np.isfinite(left[places]) & np.isfinite(right[places])]
    gaps = np.abs(left[finite].astype(np.float64) - right[finite].astype(np.float64))
    return BitComparison(
        differing=int(places.size),
        total=int(left.size),
        first=int(places[0]) if places.size else None,
        largest_gap=float(gaps.max()) if gaps.size else None,
    )
