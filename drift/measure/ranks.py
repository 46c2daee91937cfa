"""Did a score of any kind move? E-values from ranks among the baseline's own scores.

For scores whose distribution nobody knows (a log-probability distance, a length, a latency). Only their order is used.
The null: the scores of a stratum, baseline and new ones alike, are exchangeable. Then a new score falls into each of
the m + 1 gaps between the m baseline scores with equal chance, and the t-th new score falls into a gap that already
took c new ones with probability (c + 1)/(m + t), whatever the distribution (Polya's urn). Bets on where it falls are
therefore exact e-values, without any bound to estimate; contamination by changed scores is part of the formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Exponents of the bets f(p) = a p^(a - 1) on the rank p of a score: small for bets on the very top of the ranking.
EXPONENTS = (0.1, 0.3, 0.6)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Gaps between one stratum's baseline scores, merged into bins, finest at both ends.

    edges: baseline scores that separate the bins, ascending, E of them; gaps: how many gaps each of the E + 1 bins
    merges; taken: how many new scores fell into each.
    """

    edges: tuple[float, ...]
    gaps: tuple[int, ...]
    taken: tuple[int, ...]


def ranking(scores: Sequence[float] | Floats) -> Ranking | None:
    """The frozen ranking of one stratum's baseline scores float[m]. None without a score."""
    base = np.sort(np.asarray(scores, dtype=np.float64))
    if not np.isfinite(base).all():
        raise ValueError("scores must be finite; leave out those that are unknown")
    if not base.size:
        return None
    # edges after 1, 2, 4, 8 ... gaps counted from either end
    steps = 2 ** np.arange(base.size.bit_length())
    cuts = np.unique(np.concatenate([steps[steps <= base.size], base.size + 1 - steps[steps <= base.size]]))
    edges = base[cuts - 1]
    gaps = np.diff(np.concatenate([[0], cuts, [base.size + 1]]))
    return Ranking(tuple(edges.tolist()), tuple(gaps.tolist()), (0,) * gaps.size)


def place(state: Ranking, score: float, tie: float) -> tuple[tuple[float, ...], Ranking]:
    """E-values of one new score (3 for 'higher', then 3 for 'lower') and the ranking after it.

    `tie` in [0, 1): a number drawn by the caller, used only where the score equals an edge. A score that equals several
    edges is placed among the bins between them with the urn's own probabilities.

    e = mean of f over the ranks [a, b] that the score's bin spans, with f(p) = x p^(x - 1): (b^x - a^x) / (b - a).
    """
    if not 0 <= tie < 1:
        raise ValueError(f"tie must lie in [0, 1), got {tie}")
    urn = np.asarray(state.gaps, dtype=np.float64) + np.asarray(state.taken, dtype=np.float64)
    edges = np.asarray(state.edges)
    first, last = int(np.searchsorted(edges, score, "left")), int(np.searchsorted(edges, score, "right"))
    within = np.cumsum(urn[first : last + 1])
    at = first + int(np.searchsorted(within, tie * within[-1], "right"))
    total = float(urn.sum())
    above, below = float(urn[at + 1 :].sum()) / total, float(urn[:at].sum()) / total
    width = float(urn[at]) / total
    taken = tuple(count + (index == at) for index, count in enumerate(state.taken))
    higher = tuple(((above + width) ** x - above**x) / width for x in EXPONENTS)
    lower = tuple(((below + width) ** x - below**x) / width for x in EXPONENTS)
    return higher + lower, Ranking(state.edges, state.gaps, taken)


def to_numbers(rankings: Mapping[int, Ranking]) -> dict[str, Any]:
    """Rankings by stratum as plain numbers for a JSON column."""
    return {str(s): [list(r.edges), list(r.gaps), list(r.taken)] for s, r in rankings.items()}


def from_numbers(numbers: Mapping[str, Any]) -> dict[int, Ranking]:
    return {
        int(s): Ranking(tuple(map(float, edges)), tuple(map(int, gaps)), tuple(map(int, taken)))
        for s, (edges, gaps, taken) in numbers.items()
    }
