"""Permutation p-values: the difference of two arms judged without a normal law. Randomness comes from the caller."""

from __future__ import annotations

import numpy as np

from drift.measure.evals.cases import Cases, Floats

DRAWS = 9_999
EXACT_UP_TO = 14  # non-zero differences; 2^14 sign patterns


def sign_flip_p(differences: Floats, rng: np.random.Generator, draws: int = DRAWS) -> float:
    """Two-sided p of 'each case's difference could as well have had the other sign', for float64[n] case differences.

    Exact up to `EXACT_UP_TO` non-zero differences, else Monte Carlo with + 1 in numerator and denominator, so never 0
    (Phipson and Smyth 2010). 1 where no case differs.
    """
    d = np.asarray(differences, dtype=np.float64)
    d = d[np.abs(d) > 1e-12]
    if d.size == 0:
        return 1.0
    observed = abs(float(d.sum())) - 1e-9
    if d.size <= EXACT_UP_TO:
        patterns = (np.arange(2**d.size)[:, None] >> np.arange(d.size)) & 1
        return float((np.abs((1 - 2 * patterns) @ d) >= observed).mean())
    beyond = 0
    for chunk in _chunks(draws, d.size):
        signs = 1 - 2 * rng.integers(0, 2, size=(chunk, d.size))
        beyond += int((np.abs(signs @ d) >= observed).sum())
    return (1 + beyond) / (1 + draws)


def stratified_p(a: Cases, b: Cases, rng: np.random.Generator, draws: int = DRAWS) -> float:
    """Two-sided p of 'within each case, the answers of both arms are exchangeable': scope 'exactly these cases'.

    Shuffles the K_A + K_B scores of each case between the arms; statistic |mean_i (mean A_i - mean B_i)|. Right and
    wrong are drawn hypergeometrically. Monte Carlo with + 1, never 0.
    """
    observed = abs(float((a.means - b.means).mean())) * len(a) - 1e-9
    total = np.zeros(draws)
    for x, y in zip(a.scores, b.scores, strict=True):
        pool = np.concatenate((x, y))
        if float(np.ptp(pool)) < 1e-12:
            continue
        if a.binary and b.binary:
            right = int(pool.sum())
            sums = rng.hypergeometric(right, pool.size - right, x.size, size=draws).astype(np.float64)
        else:
            sums = rng.permuted(np.tile(pool, (draws, 1)), axis=1)[:, : x.size].sum(axis=1)
        total += sums / x.size - (pool.sum() - sums) / y.size
    return (1 + int((np.abs(total) >= observed).sum())) / (1 + draws)


def _chunks(draws: int, width: int) -> list[int]:
    """Sizes that sum to `draws`, each small enough that a chunk stays within about 16 MB."""
    size = max(1, min(draws, 2_000_000 // width))
    whole, rest = divmod(draws, size)
    return [size] * whole + ([rest] if rest else [])
