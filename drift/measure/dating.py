"""When did it change? Asked once an alarm is up; the date of the change is not the time of the alarm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
import ruptures
from numpy.typing import NDArray
from scipy.special import betaln

from drift.measure.intervals import LEVEL, Estimate, wilson

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ChangeDate:
    """`first`: index of the first changed run, with the shortest range [low, high] that holds it with 95 %.

    `before`, `after`: the share of differing answers on either side, with intervals that take the date as given.
    """

    first: int
    low: int
    high: int
    before: Estimate
    after: Estimate


def date_change(
    differing: Sequence[float] | Floats, answers: Sequence[float] | Floats, level: float = LEVEL
) -> ChangeDate | None:
    """The date of one change of a rate, given that there was one. float[R] differing and answers of each run, in order.

    Posterior of the first changed run t = 1 .. R - 1 under a uniform prior, both rates integrated out under Jeffreys'
    Beta(1/2, 1/2): p(t) ~ B(k_1 + 1/2, n_1 - k_1 + 1/2) B(k_2 + 1/2, n_2 - k_2 + 1/2). None under two runs with
    answers.
    """
    k, n = np.asarray(differing, dtype=np.float64), np.asarray(answers, dtype=np.float64)
    if k.shape != n.shape:
        raise ValueError(f"{k.size} runs of differing answers but {n.size} of answers")
    before_k, before_n = np.cumsum(k)[:-1], np.cumsum(n)[:-1]
    after_k, after_n = k.sum() - before_k, n.sum() - before_n
    split = (before_n > 0) & (after_n > 0)
    if not split.any():
        return None
    logs = betaln(before_k + 0.5, before_n - before_k + 0.5) + betaln(after_k + 0.5, after_n - after_k + 0.5)
    first, low, high = _most_probable(np.where(split, logs, -np.inf), level)
    before = wilson(float(k[:first].sum()), float(n[:first].sum()))
    after = wilson(float(k[first:].sum()), float(n[first:].sum()))
    if before is None or after is None:
        return None
    return ChangeDate(first, low, high, before, after)


def date_shift(scores: Sequence[float] | Floats, level: float = LEVEL) -> tuple[int, int, int] | None:
    """(first, low, high) of one shift in the mean of normal scores float[R]: as `date_change`, for any measured score.

    p(t) ~ (t (R - t))^(-1/2) RSS(t)^(-(R - 2)/2), both means and the common variance integrated out. None under 4
    scores or where all are equal.
    """
    x = np.asarray(scores, dtype=np.float64)
    size = x.size
    if size < 4 or float(np.ptp(x)) == 0:
        return None
    x = x - x.mean()
    t = np.arange(1, size)
    head = np.cumsum(x)[:-1]
    rss = np.maximum((x**2).sum() - head**2 / t - head**2 / (size - t), 1e-12 * (x**2).sum())
    logs = -0.5 * np.log(t * (size - t)) - (size - 2) / 2 * np.log(rss)
    return _most_probable(logs, level)


def _most_probable(logs: Floats, level: float) -> tuple[int, int, int]:
    """The most probable split (as the index of the first run after it) and the shortest range around it."""
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    best = int(weight.argmax())
    total = np.concatenate([[0.0], np.cumsum(weight)])
    ends = np.searchsorted(total, np.minimum(total[: best + 1] + level, total[-1]) - 1e-12)
    lengths = np.where(ends > best, ends, best + 1) - np.arange(best + 1)
    enough = total[np.maximum(ends, best + 1)] - total[: best + 1] >= level - 1e-9
    start = int(np.where(enough, lengths, logs.size + 1).argmin())
    return best + 1, start + 1, int(max(ends[start], best + 1))


def segments(scores: Sequence[float] | Floats, shortest: int = 6) -> list[int]:
    """Indices at which the mean of float[R] scores changed, for history charts: any number of changes, none included.

    Exact penalised least squares (PELT) with penalty 3 s^2 ln R, s from successive differences so that the changes
    themselves do not inflate it. It draws a history; it decides nothing, since it carries no false-alarm guarantee.
    Source: Killick, Fearnhead, Eckley 2012, by ruptures.
    """
    x = np.asarray(scores, dtype=np.float64)
    if x.size < 2 * shortest:
        return []
    steps = np.diff(x)
    spread = max(float(np.median(np.abs(steps))) / (0.6745 * 2**0.5), float(steps.std()) / 2**0.5 / 3)
    if spread == 0:
        return []
    found = ruptures.Pelt(model="l2", min_size=shortest, jump=1).fit(x / spread).predict(pen=3 * log(x.size))
    return [int(index) for index in found[:-1]]
