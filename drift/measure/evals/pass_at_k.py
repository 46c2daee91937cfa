"""pass@k: one of k answers right. pass^k: all k right. Both from n >= k answers by counting subsets, not by p^k."""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np

from drift.measure.evals.cases import Cases, Floats
from drift.measure.intervals import Estimate, modified_wilson


def pass_at_k(cases: Cases, k: int) -> Estimate | None:
    """mean_i [1 - C(n_i - c_i, k) / C(n_i, k)], unbiased. Cases with fewer than k answers are left out; `n` counts the
    rest; None if none is left. Source: Chen et al., arXiv:2107.03374.
    """
    return _mean(cases, k, lambda n, c: 1 - comb(n - c, k) / comb(n, k))


def pass_hat_k(cases: Cases, k: int) -> Estimate | None:
    """mean_i [C(c_i, k) / C(n_i, k)]: the share of k-subsets without a fail. Source: tau-bench, arXiv:2406.12045.

    (pass rate)^k per case, which some tools print, is biased upwards.
    """
    return _mean(cases, k, lambda n, c: comb(c, k) / comb(n, k))


def _mean(cases: Cases, k: int, share: Callable[[int, int], float]) -> Estimate | None:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    values: Floats = np.array(
        [share(int(n), int(c)) for n, c in zip(cases.repeats.tolist(), cases.passes.tolist(), strict=True) if n >= k]
    )
    return modified_wilson(values, total=float(cases.repeats[cases.repeats >= k].sum())) if values.size else None
