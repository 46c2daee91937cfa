"""What a rule did: false alarms on endpoints that did not change, delays on those that did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from drift.measure.intervals import Estimate, wilson
from tests.bench.detection.endpoints import WATCHED_HOURS, Simulation
from tests.bench.detection.rules import Rule

HOURS_PER_MONTH = 730.5
NEVER = np.inf


@dataclass(frozen=True, slots=True)
class FalseAlarms:
    """Share of endpoints with any in three weeks; alarms per endpoint and month; the threshold that 5 % would need."""

    share: Estimate
    per_month: float
    threshold_of_budget: float


@dataclass(frozen=True, slots=True)
class Delay:
    """Share found before the end of watching, and the median delay in hours with its 95 % interval; inf is 'not found'."""

    found: Estimate
    median: float
    low: float
    high: float


def false_alarms(rule: Rule, simulation: Simulation, allowed: float = 0.05) -> FalseAlarms:
    spoken = rule.values(simulation, rule.shipped) >= rule.shipped
    # a rule with memory starts afresh after it spoke; one without is counted when it begins to speak
    begins = spoken & ~np.concatenate([np.zeros_like(spoken[:, :1]), spoken[:, :-1]], axis=1)
    share = wilson(int(spoken.any(axis=1).sum()), len(spoken))
    assert share is not None
    highest = rule.values(simulation, NEVER).max(axis=1)
    per_month = float(begins.sum(axis=1).mean()) * HOURS_PER_MONTH / WATCHED_HOURS
    return FalseAlarms(share, per_month, float(np.quantile(highest, 1 - allowed, method="higher")))


def delay(rule: Rule, simulation: Simulation, threshold: float) -> Delay:
    """From the first changed run (which counts as hour 1) to the first alarm at or after it."""
    values = rule.values(simulation, threshold)
    late = np.arange(WATCHED_HOURS)[None, :] >= simulation.changed_at[:, None]
    alarms = (values >= threshold) & late
    hours = np.where(alarms.any(axis=1), alarms.argmax(axis=1) - simulation.changed_at + 1.0, NEVER)
    found = wilson(int(np.isfinite(hours).sum()), hours.size)
    assert found is not None
    low, high = _median_interval(np.sort(hours))
    return Delay(found, float(np.median(hours)), low, high)


def _median_interval(ordered: NDArray[np.float64]) -> tuple[float, float]:
    """Distribution-free: the order statistics that hold the median with 95 %."""
    size = ordered.size
    rank = int(binom.ppf(0.025, size, 0.5))
    return float(ordered[max(0, rank - 1)]), float(ordered[min(size - 1, size - rank)])
