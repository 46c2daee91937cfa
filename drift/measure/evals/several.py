"""Many comparisons at once: Holm for verdicts, Benjamini-Hochberg for lists of candidate cases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that keep the chance of any false verdict at the level (Holm 1979)."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * (p.size - np.arange(p.size)))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, stepped)
    return [float(value) for value in adjusted]


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that keep the expected share of false discoveries at the level (1995)."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")[::-1]
    stepped = np.minimum.accumulate(p[order] * p.size / np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, stepped)
    return [float(value) for value in adjusted]


def fisher_p(passed_a: int, n_a: int, passed_b: int, n_b: int) -> float:
    """Fisher's exact two-sided p of one case's pass counts. With 5 against 5 only 5/5 against 0/5 or 1/5 is under .05.

    A list of candidates to ask again, never a verdict on a case.
    """
    right = passed_a + passed_b
    low, high = max(0, right - n_b), min(n_a, right)
    counts = np.arange(low, high + 1)
    log_p = _log_choose(n_a, counts) + _log_choose(n_b, right - counts) - _log_choose(n_a + n_b, np.asarray([right]))
    p = np.exp(log_p)
    mine = p[passed_a - low]
    return float(min(1.0, p[p <= mine * (1 + 1e-7)].sum()))


def _log_choose(n: int, k: np.ndarray) -> np.ndarray:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
