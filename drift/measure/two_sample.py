"""Do two windows, or two endpoints, answer alike? Distributions of outputs compared canary by canary.

An answer can only be exchanged with another answer to the same canary at the same time of day, so permutations never
cross a canary or a stratum: different prompts and a daily rhythm are not differences between the two sides.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from drift.measure.intervals import Estimate, at_most, student_t

T = TypeVar("T", bound=Hashable)
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PERMUTATIONS = 1000
FEW = 64  # answers in a stratum


@dataclass(frozen=True, slots=True, eq=False)
class Table(Generic[T]):
    """One canary's answers on both sides: its D distinct outputs, and int64[H, D] counts by stratum for a and b."""

    outputs: tuple[T, ...]
    a: Ints
    b: Ints


@dataclass(frozen=True, slots=True)
class TwoSample:
    """`p` = (1 + permutations at least as far apart) / (1 + permutations), never 0. `statistic`: mean over canaries.

    `effect`: how much more often an answer of one side differs from one of the other than two of the same side do
    (percentage points of divergence), interval over canaries; None with a single canary.
    """

    statistic: float
    p: float
    permutations: int
    effect: Estimate | None
    canaries: int
    null_spread: float = 0.0  # standard deviation of the statistic under the permutations: what chance alone does


class Difference(StrEnum):
    """What kind of difference two sides show."""

    NOT_FOUND = "not_found"
    FORMATTING = "formatting"
    CONTENT = "content"


def tabulate(
    a: Sequence[T], b: Sequence[T], strata_a: Sequence[int] | None = None, strata_b: Sequence[int] | None = None
) -> Table[T]:
    """Count one canary's answers. A stratum is the hour (or part) of the day an answer was given in; default: one."""
    outputs: dict[T, int] = {}
    columns = [[outputs.setdefault(answer, len(outputs)) for answer in side] for side in (a, b)]
    strata = [strata_a or [0] * len(a), strata_b or [0] * len(b)]
    labels = {label: row for row, label in enumerate(sorted({*strata[0], *strata[1]}))}
    counts = []
    for column, stratum in zip(columns, strata, strict=True):
        count = np.zeros((len(labels), len(outputs)), dtype=np.int64)
        np.add.at(count, ([labels[label] for label in stratum], column), 1)
        counts.append(count)
    return Table(tuple(outputs), counts[0], counts[1])


def equality_kernel(outputs: Sequence[Hashable]) -> Floats:
    """k(y, y') = 1{y = y'}: nothing but equality counts. float64[D, D]."""
    return np.eye(len(outputs))


def hamming_kernel(outputs: Sequence[Sequence[Hashable]]) -> Floats:
    """k(y, y') = share of positions at which two outputs hold the same element, padded to the longest. float64[D, D].

    Padding matches padding, so short outputs look alike, as in the published test; an element inserted in front
    shifts all positions, so compare `whitespace_normalised` texts too. Source: Gao, Liang, Guestrin,
    arXiv:2410.20247, with the kernel scaled so that k(y, y) = 1.
    """
    ids: dict[Hashable, int] = {}
    longest = max((len(output) for output in outputs), default=0)
    if longest == 0:
        return np.ones((len(outputs), len(outputs)))
    codes = np.full((len(outputs), longest), -1, dtype=np.int32)
    for row, output in enumerate(outputs):
        codes[row, : len(output)] = [ids.setdefault(element, len(ids)) for element in output]
    kernel = np.empty((len(outputs), len(outputs)))
    for row, code in enumerate(codes):
        kernel[row] = (codes == code).mean(axis=1)
    return kernel


def compare(
    tables: Sequence[Table[T]],
    kernel: Callable[[tuple[T, ...]], Floats],
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> TwoSample | None:
    """Maximum mean discrepancy between two sides, canaries weighing the same, with a stratified permutation p-value.

    Per canary, unbiased: MMD^2 = mean of k over pairs within a + mean within b - 2 mean across. It is around 0 (also
    below) where both sides answer alike. Canaries without two answers on each side are left out; None if none is
    left. A permutation only needs the counts it gives side a, which are multivariate hypergeometric within each
    stratum. Sources: Gretton et al. 2012; arXiv:2410.20247 eq. 4; p with + 1: Phipson and Smyth 2010.
    """
    known = [table for table in tables if table.a.sum() >= 2 and table.b.sum() >= 2]
    if not known:
        return None
    total = np.zeros(permutations + 1)
    for table in known:
        sides = _permuted(table, rng, permutations)
        total += discrepancy(sides, (table.a + table.b).sum(axis=0)[None, :] - sides, kernel(table.outputs))
    return _result(total / len(known), known)


def compare_equality(
    tables: Sequence[Table[T]], rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> TwoSample | None:
    """`compare` with `equality_kernel`, without the kernel's matrix: fast enough for many pairs of sides.

    An output that was given only once agrees with no other answer whichever side it lies on, so all of them share one
    column that adds nothing to a sum.
    """
    known = [table for table in tables if table.a.sum() >= 2 and table.b.sum() >= 2]
    if not known:
        return None
    total = np.zeros(permutations + 1)
    for table in known:
        repeated = (table.a + table.b).sum(axis=0) > 1
        a, b = (np.column_stack([side[:, repeated], side[:, ~repeated].sum(axis=1)]) for side in (table.a, table.b))
        x = _permuted(Table((), a, b), rng, permutations)
        y = (a + b).sum(axis=0)[None, :] - x
        size_a, size_b = int(a.sum()), int(b.sum())
        x, y = x[:, :-1], y[:, :-1]
        within_a = (x * (x - 1)).sum(axis=1) / (size_a * (size_a - 1))
        within_b = (y * (y - 1)).sum(axis=1) / (size_b * (size_b - 1))
        total += within_a + within_b - 2 * (x * y).sum(axis=1) / (size_a * size_b)
    return _result(total / len(known), known)


def compare_shares(
    tables: Sequence[Table[T]], rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> TwoSample | None:
    """Total variation between the two sides' shares of distinct outputs, with a stratified permutation p-value.

    Per canary TV = 1/2 sum over outputs |p_a - p_b|. Between samples it is above 0 even where both sides are alike
    (more so with few answers); judge it by `p` and `effect`.
    """
    known = [table for table in tables if table.a.sum() and table.b.sum()]
    if not known:
        return None
    total = np.zeros(permutations + 1)
    for table in known:
        sides = _permuted(table, rng, permutations)
        others = (table.a + table.b).sum(axis=0)[None, :] - sides
        total += total_variation(sides, others)
    return _result(total / len(known), known)


def discrepancy(a: Ints, b: Ints, kernel: Floats) -> Floats:
    """Unbiased MMD^2 from counts int64[..., D] of both sides, float64[...]. Needs two answers on each side."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    size_a, size_b = x.sum(axis=-1), y.sum(axis=-1)
    towards_a, diagonal = x @ kernel, np.diag(kernel)
    within_a = ((towards_a * x).sum(axis=-1) - x @ diagonal) / (size_a * (size_a - 1))
    within_b = (((y @ kernel) * y).sum(axis=-1) - y @ diagonal) / (size_b * (size_b - 1))
    across = (towards_a * y).sum(axis=-1) / (size_a * size_b)
    apart: Floats = within_a + within_b - 2 * across
    return apart


def total_variation(a: Ints, b: Ints) -> Floats:
    """1/2 sum |p_a - p_b| from counts int64[..., D] of both sides, float64[...]."""
    shares_a = a / a.sum(axis=-1, keepdims=True)
    shares_b = b / b.sum(axis=-1, keepdims=True)
    half: Floats = np.abs(shares_a - shares_b).sum(axis=-1) / 2
    return half


def _permuted(table: Table[T], rng: np.random.Generator, permutations: int) -> Ints:
    """Side a's counts: as observed (row 0), then under each permutation. int64[1 + permutations, D]."""
    sides = np.zeros((permutations + 1, table.a.shape[1]), dtype=np.int64)
    sides[0] = table.a.sum(axis=0)
    for in_a, in_b in zip(table.a, table.b, strict=True):
        pooled, drawn = in_a + in_b, int(in_a.sum())
        if drawn == 0 or drawn == pooled.sum():  # nothing to exchange
            sides[1:] += in_a
            continue
        # shuffling the answers is quicker than drawing count by count while there are few of them
        method: Literal["count", "marginals"] = "count" if pooled.sum() <= FEW else "marginals"
        sides[1:] += rng.multivariate_hypergeometric(pooled, drawn, size=permutations, method=method)
    return sides


def _result(statistics: Floats, tables: Sequence[Table[T]]) -> TwoSample:
    # sums over canaries round differently, so an equal statistic may come out a hair smaller
    at_least = int((statistics[1:] >= statistics[0] - 1e-10).sum())
    return TwoSample(
        statistic=float(statistics[0]),
        p=(1 + at_least) / statistics.size,
        permutations=statistics.size - 1,
        effect=excess_divergence(tables),
        canaries=len(tables),
        null_spread=float(statistics[1:].std()),
    )


def excess_divergence(tables: Sequence[Table[T]]) -> Estimate | None:
    """Mean over canaries of P(differ | one answer of each side) - P(differ | both of one side), Student's t interval.

    Unbiased, 0 where the sides are alike. Where all canaries show the same value, the interval allows for the share of
    canaries that could differ unseen (`at_most`). None under two canaries with two answers on each side.
    """
    excess = [
        float(discrepancy(table.a.sum(axis=0), table.b.sum(axis=0), np.eye(len(table.outputs)))) / 2
        for table in tables
        if table.a.sum() >= 2 and table.b.sum() >= 2
    ]
    estimate = student_t(excess)
    if estimate is None or float(np.ptp(excess)) > 1e-12:
        return estimate
    unseen = at_most(len(excess)) or 1.0
    return Estimate(estimate.value, max(-1.0, estimate.value - unseen), min(1.0, estimate.value + unseen), len(excess))


def kind_of_difference(raw: TwoSample, normalised: TwoSample, level: float = 0.01) -> Difference:
    """Is a difference between raw texts one of content, or only of white space?

    `normalised` compares the same answers after `whitespace_normalised`. Formatting: the raw texts differ at `level`,
    the normalised ones do not, and less than a quarter of the effect is left. Anything else that differs is content,
    so that too few answers never turn a content change into a cosmetic one.
    """
    if raw.p > level and normalised.p > level:
        return Difference.NOT_FOUND
    if normalised.p <= level or raw.effect is None or normalised.effect is None:
        return Difference.CONTENT
    left = normalised.effect.value
    return Difference.FORMATTING if left < raw.effect.value / 4 else Difference.CONTENT
