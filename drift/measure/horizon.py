"""How long an answer stays reproducible: the survival of agreement between two runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from drift.measure.agreement import UNKNOWN_TOKENS, Counts

T = TypeVar("T")

AGREEMENT = 0.95
RESAMPLES = 1000
CANARIES_FOR_INTERVAL = 3


@dataclass(frozen=True, slots=True, eq=False)
class AgreementLengths:
    """How many leading tokens pairs of answers to one canary share, pooled over pairs.

    lengths: int64[M]; weights: float64[M], number of pairs; censored: bool[M], True where the pair agreed until it
    ended (or until a token nobody can read), so that `lengths` is only a lower bound.
    """

    lengths: NDArray[np.int64]
    weights: NDArray[np.float64]
    censored: NDArray[np.bool_]

    @property
    def pairs(self) -> int:
        return round(float(self.weights.sum()))

    @property
    def longest(self) -> int:
        """The largest number of tokens that any pair was compared over."""
        return int(self.lengths.max()) if self.lengths.size else 0


@dataclass(frozen=True, slots=True)
class Horizon:
    """The largest length at which two runs still agree with probability >= 95 %, in tokens.

    `low`, `high`: 95 % interval over canaries; `low` is None where too few canaries were asked to give one, and `high`
    is None (with `low` known) where the interval reaches beyond the longest answer. `limit_seen` False: agreement never
    fell under 95 %, so `length` is the longest answer compared and reads 'at least'. `recommended_cap`: the largest cap
    under which answers can be expected to repeat, None where not even the first token does.
    """

    length: int
    low: int | None
    high: int | None
    limit_seen: bool
    recommended_cap: int | None
    canaries: int
    pairs: int


@dataclass(frozen=True, slots=True, eq=False)
class AgreementCurve:
    """Kaplan-Meier survival of agreement: after[i] = P(the first lengths[i] tokens agree). int64[M], float64[M]."""

    lengths: NDArray[np.int64]
    after: NDArray[np.float64]
    longest: int


def agreement_lengths(
    outputs: Sequence[Sequence[T]], counts: Counts, capped: Sequence[bool] | None = None
) -> AgreementLengths:
    """Agreement lengths of all pairs of answers, from one canary's distinct outputs (as tokens) and their counts.

    A pair of equal answers is censored at their length. A pair that parts at index f has length f, uncensored; so has
    a pair of which one is a proper prefix of the other, unless the shorter one was cut by its cap (`capped`), and
    a pair that stops at an unreadable token is censored there.

    Outputs are sorted, so that two outputs share the minimum of the shared lengths between them: D outputs of length
    L cost D * L + D^2, not D^2 * L.
    """
    sizes = np.asarray(counts, dtype=np.float64)
    if len(outputs) != sizes.size:
        raise ValueError(f"{len(outputs)} outputs but {sizes.size} counts")
    cut = np.zeros(len(outputs), dtype=np.bool_) if capped is None else np.asarray(capped, dtype=np.bool_)

    ids: dict[T, int] = {}
    rows = [[ids.setdefault(token, len(ids)) for token in output] for output in outputs]
    unknown = {number for token, number in ids.items() if token in UNKNOWN_TOKENS}
    order = sorted(range(len(rows)), key=rows.__getitem__)
    rows, sizes, cut = [rows[i] for i in order], sizes[order], cut[order]
    ends = np.array([len(row) for row in rows], dtype=np.int64)
    blind = np.array([_first_of(row, unknown) for row in rows], dtype=np.int64)
    shared = np.array([_shared(a, b) for a, b in pairwise(rows)], dtype=np.int64)

    width = int(ends.max(initial=0)) + 1
    parted, agreed = np.zeros(width), np.zeros(width)
    np.add.at(agreed, np.minimum(ends, blind), sizes * (sizes - 1) / 2)
    for i in range(len(rows) - 1):
        length = np.minimum.accumulate(shared[i:])
        pairs = sizes[i] * sizes[i + 1 :]
        # an unreadable token inside the shared part, or at its end in either answer, hides what happened there
        sight = np.minimum(blind[i], blind[i + 1 :])
        hidden = sight <= length
        prefix_cut = (cut[i] & (ends[i] == length)) | (cut[i + 1 :] & (ends[i + 1 :] == length))
        alike = (ends[i] == length) & (ends[i + 1 :] == length)  # distinct texts, the same tokens
        open_ended = hidden | prefix_cut | alike
        length = np.minimum(length, sight)
        agreed += np.bincount(length, pairs * open_ended, minlength=width)
        parted += np.bincount(length, pairs * ~open_ended, minlength=width)

    at_parted, at_agreed = np.flatnonzero(parted), np.flatnonzero(agreed)
    return AgreementLengths(
        lengths=np.concatenate([at_parted, at_agreed]).astype(np.int64),
        weights=np.concatenate([parted[at_parted], agreed[at_agreed]]),
        censored=np.repeat([False, True], [at_parted.size, at_agreed.size]),
    )


def _first_of(row: list[int], tokens: set[int]) -> int:
    if not tokens:
        return len(row) + 1
    return next((index for index, token in enumerate(row) if token in tokens), len(row) + 1)


def _shared(a: list[int], b: list[int]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def agreement_curve(per_canary: Sequence[AgreementLengths]) -> AgreementCurve | None:
    """The share of pairs that still agree after each length, canaries weighing the same. None without a pair."""
    table = _risk_table(per_canary)
    if table is None:
        return None
    lengths, parted, at_risk, longest = table
    return AgreementCurve(lengths, _survival(parted.sum(axis=0), at_risk.sum(axis=0)), longest)


def horizon(
    per_canary: Sequence[AgreementLengths],
    rng: np.random.Generator,
    agreement: float = AGREEMENT,
    resamples: int = RESAMPLES,
) -> Horizon | None:
    """The largest length L with P(the first L tokens of two runs agree) >= `agreement`. None without a pair.

    Kaplan-Meier over pairs: S(L) = prod over t <= L of (1 - d_t / r_t), where d_t is the weight of pairs that part at
    their t-th token and r_t of those compared there; each canary's pairs weigh 1 in sum. An answer that agreed until it
    ended says 'at least this long' (censoring), which assumes that where answers end says nothing about how long they
    would have agreed. Pairs of one canary share answers, so the interval resamples canaries (percentile bootstrap);
    under 3 canaries there is none. The cap recommended is the lower end where there is one.
    """
    table = _risk_table(per_canary)
    if table is None:
        return None
    lengths, parted, at_risk, longest = table
    length, limit_seen = _limit(lengths, _survival(parted.sum(axis=0), at_risk.sum(axis=0)), longest, agreement)

    canaries = parted.shape[0]
    low: int | None = None
    high: int | None = None
    if canaries >= CANARIES_FOR_INTERVAL:
        draws = rng.multinomial(canaries, np.full(canaries, 1 / canaries), size=resamples).astype(np.float64)
        curves = _survival(draws @ parted, draws @ at_risk)
        under = curves < agreement - 1e-12
        fell = under.any(axis=1)
        firsts = lengths[under.argmax(axis=1)] - 1 if lengths.size else np.zeros(resamples, dtype=np.int64)
        limits = np.sort(np.where(fell, firsts, longest + 1))
        low = min(int(limits[int(0.025 * resamples)]), length)
        top = int(limits[min(resamples - 1, int(0.975 * resamples))])
        high = None if top > longest or not limit_seen else max(top, length)
    cap = length if low is None else low
    return Horizon(
        length=length,
        low=low,
        high=high,
        limit_seen=limit_seen,
        recommended_cap=cap or None,
        canaries=canaries,
        pairs=sum(lengths_.pairs for lengths_ in per_canary),
    )


def _risk_table(
    per_canary: Sequence[AgreementLengths],
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], int] | None:
    """Where pairs part (in tokens compared, so f + 1), and per canary [C, M] the weight parting and at risk there."""
    known = [entry for entry in per_canary if entry.weights.sum() > 0]
    if not known:
        return None
    parting = [entry.lengths[~entry.censored] + 1 for entry in known]
    times = np.unique(np.concatenate(parting))
    parted = np.zeros((len(known), times.size))
    at_risk = np.zeros((len(known), times.size))
    for row, entry in enumerate(known):
        weight = entry.weights / entry.weights.sum()
        reached = entry.lengths + ~entry.censored  # tokens looked at, the differing one included
        np.add.at(parted[row], np.searchsorted(times, parting[row]), weight[~entry.censored])
        order = np.argsort(reached)
        below = np.concatenate([[0.0], np.cumsum(weight[order])])
        at_risk[row] = 1 - below[np.searchsorted(reached[order], times)]
    return times, parted, at_risk, max(entry.longest for entry in known)


def _survival(parted: NDArray[np.float64], at_risk: NDArray[np.float64]) -> NDArray[np.float64]:
    """S along the last axis. Nothing at risk leaves S where it was."""
    hazard = np.divide(parted, at_risk, out=np.zeros_like(parted), where=at_risk > 1e-12)
    return np.cumprod(1 - np.clip(hazard, 0, 1), axis=-1)


def _limit(
    lengths: NDArray[np.int64], survival: NDArray[np.float64], longest: int, agreement: float
) -> tuple[int, bool]:
    under = np.flatnonzero(survival < agreement - 1e-12)
    return (int(lengths[under[0]]) - 1, True) if under.size else (longest, False)
