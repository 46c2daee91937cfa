"""A false-alarm budget in plain words, turned into thresholds and shared over everything that is watched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

HOURS = {"day": 24.0, "week": 168.0, "month": 730.5, "quarter": 2191.5, "year": 8766.0}

# How much of a series' share pays for a baseline that was unlucky, the rest for watching it.
BASELINE_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Budget:
    """'At most `false_alarms` false alarms a `period`', over all series together."""

    false_alarms: float
    period: str

    def __post_init__(self) -> None:
        if self.false_alarms <= 0:
            raise ValueError("a budget of no false alarms at all would never let an alarm pass")
        if self.period not in HOURS:
            raise ValueError(f"a period is one of {', '.join(HOURS)}, not {self.period!r}")

    @property
    def hours(self) -> float:
        return HOURS[self.period]

    def __str__(self) -> str:
        count = "one false alarm" if self.false_alarms == 1 else f"{self.false_alarms:g} false alarms"
        return f"at most {count} a {self.period}"


@dataclass(frozen=True, slots=True)
class Allotment:
    """One series' share. Alarm when its e-detector reaches `threshold`; give `miss` to its baseline's bounds.

    `false_alarms`: the expected number in one period, at most. `looks`: looks in one period.
    """

    threshold: float
    miss: float
    false_alarms: float
    looks: float


def allot(budget: Budget, looks_per_hour: Sequence[float], weights: Sequence[float] | None = None) -> list[Allotment]:
    """Share a budget over series (a series and statistic that can raise an alarm of its own counts as one).

    Series i may raise a_i = false_alarms * weight_i / sum(weights) false alarms a period; with n_i looks a period its
    e-detector alarms at c_i = n_i / (0.9 a_i), and its baseline's bounds may miss with probability 0.1 a_i. An
    e-detector that restarts after each alarm raises at most n / c alarms in n looks on average. Expectations add, so
    all series together stay within the budget, however dependent they are and however often they are looked at.
    """
    share = np.ones(len(looks_per_hour)) if weights is None else np.asarray(weights, dtype=np.float64)
    if share.shape != (len(looks_per_hour),):
        raise ValueError(f"{len(looks_per_hour)} series but {share.size} weights")
    if len(looks_per_hour) == 0:
        return []
    if (share <= 0).any() or min(looks_per_hour) <= 0:
        raise ValueError("weights and looks per hour must be positive")
    alarms = budget.false_alarms * share / share.sum()
    looks = np.asarray(looks_per_hour, dtype=np.float64) * budget.hours
    thresholds = np.maximum(looks / ((1 - BASELINE_SHARE) * alarms), 1.0)
    return [
        Allotment(float(c), float(min(BASELINE_SHARE * a, 0.05)), float(a), float(n))
        for c, a, n in zip(thresholds, alarms, looks, strict=True)
    ]


def e_value_of_period(detector: float, looks: float) -> float:
    """An e-detector as an e-value for 'this series changed during the period of `looks` looks': R / looks.

    E[R_t] <= t <= looks at any stopping time inside the period, so it can be pooled with others by `e_bh`.
    """
    if looks <= 0:
        raise ValueError("a period has at least one look")
    return detector / looks


def e_bh(e_values: Sequence[float], level: float) -> list[int]:
    """Which of K series to believe when several speak at once: the indices of the k largest e-values, k maximal with
    e_(k) >= K / (level * k).

    The expected share of false ones among those named is at most `level`, under any dependence. One series alone needs
    K / level, exactly as with shared thresholds; ten that rise together need a tenth of it each.
    Source: Wang and Ramdas, "False discovery rate control with e-values", JRSS-B 2022.
    """
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, got {level}")
    values = np.asarray(e_values, dtype=np.float64)
    order = np.argsort(-values, kind="stable")
    ranks = np.arange(1, values.size + 1)
    passing = np.flatnonzero(values[order] * ranks * level >= values.size)
    return sorted(order[: passing[-1] + 1].tolist()) if passing.size else []
