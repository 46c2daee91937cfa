"""Rules that watch an endpoint: ours, and those of public tools, re-implemented from their published code.

Each gives, per endpoint and watched hour, a number that is compared with a threshold; a rule with memory starts afresh
after it has spoken (`restart`: the threshold at which it does).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from drift.measure import shares
from drift.measure.budget import Budget, allot
from drift.measure.ranks import place, ranking
from drift.measure.rates import log_fall, log_rise
from drift.measure.sequential import Watch, shiryaev_roberts
from drift.measure.tallies import bets
from tests.bench.detection.endpoints import ANSWERS, BASELINE_HOURS, HOURS, WATCHED_HOURS, Floats, Simulation

# 'at most one false alarm in 60 weeks on this endpoint': 5 % in three weeks
BUDGET = Budget(0.05 / 3, "week")
QUARTERS = np.arange(HOURS) % 24 // 6


@dataclass(frozen=True, slots=True)
class Rule:
    """`shipped`: the threshold its makers use (ours: the one the budget gives). `tunable`: whether another makes sense."""

    name: str
    values: Callable[[Simulation, float], Floats]
    shipped: float
    ours: bool = False
    tunable: bool = True


def evidence(simulation: Simulation, restart: float) -> Floats:
    """`shares.ShareWatch` of all endpoints at once, by quarter of the day; a test holds it to the one-run-a-call original."""
    (share,) = allot(BUDGET, [1.0])
    k, hours = simulation.differing, np.arange(BASELINE_HOURS)
    series, n = len(k), np.full(BASELINE_HOURS, float(ANSWERS))
    begun = [shares.begin(row[:BASELINE_HOURS], n, QUARTERS[:BASELINE_HOURS], hours // 24, share.miss) for row in k]
    baselines = [watch.baseline for watch in begun if watch is not None]
    lower, upper = (
        np.array([[getattr(base.bounds[quarter], side) for quarter in range(4)] for base in baselines])
        for side in ("lower", "upper")
    )
    spread = np.array([base.dispersion for base in baselines])
    temper = 1 / np.array([[base.block_dispersion] for base in baselines])
    counts = np.zeros((series, 4, ANSWERS + 1))
    for hour in hours:
        counts[np.arange(series), QUARTERS[hour], k[:, hour].astype(int)] += 1
    answers, values = np.full(series, float(ANSWERS)), np.arange(ANSWERS + 1)
    detector, out = np.zeros((series, len(shares.WEIGHTS))), np.empty((series, WATCHED_HOURS))
    weights = np.array(shares.WEIGHTS) / sum(shares.WEIGHTS)
    for hour in range(WATCHED_HOURS):
        now, quarter = k[:, BASELINE_HOURS + hour], QUARTERS[BASELINE_HOURS + hour]
        counts[np.arange(series), quarter, now.astype(int)] += 1
        tally = counts[:, quarter]
        above, equal = (tally * (values > now[:, None])).sum(axis=1), (tally * (values == now[:, None])).sum(axis=1)
        ranked = bets(above, equal, tally.sum(axis=1), simulation.ties[:, hour]) ** temper
        rise = log_rise(upper[:, quarter], spread, now, answers)
        fall = log_fall(lower[:, quarter], spread, now, answers)
        e = np.concatenate([ranked, np.exp(np.minimum(np.concatenate([rise, fall], axis=1), 200.0))], axis=1)
        detector = shiryaev_roberts(detector, e)
        out[:, hour] = detector @ weights
        detector[out[:, hour] >= restart] = 0
    return out


def rank_evidence(simulation: Simulation, restart: float) -> Floats:
    """E-detector of the log-probability distance from the first baseline week, ranked among those of the second."""
    assert simulation.logprobs is not None
    half = BASELINE_HOURS // 2
    reference = simulation.logprobs[:, :half].mean(axis=1, keepdims=True)
    scores = np.abs(simulation.logprobs - reference).mean(axis=2)
    out = np.empty((len(scores), WATCHED_HOURS))
    for index, row in enumerate(scores):
        rankings = {
            quarter: ranking(row[half:BASELINE_HOURS][QUARTERS[half:BASELINE_HOURS] == quarter]) for quarter in range(4)
        }
        watch = Watch.begin(3)
        for hour in range(WATCHED_HOURS):
            quarter = int(QUARTERS[BASELINE_HOURS + hour])
            state = rankings[quarter]
            assert state is not None
            e, rankings[quarter] = place(state, float(row[BASELINE_HOURS + hour]), 0.0)
            watch = watch.look(e[:3])
            out[index, hour] = watch.evidence
            if watch.evidence >= restart:
                watch = Watch.begin(3)
    return out


def _shares(simulation: Simulation) -> Floats:
    return simulation.differing / ANSWERS


def cusum_of(points: int) -> Callable[[Simulation, float], Floats]:
    """Two-sided Page CUSUM, k = 0.5, in units of the standard deviation of the last `points` baseline hours."""

    def values(simulation: Simulation, restart: float) -> Floats:
        x = _shares(simulation)
        base = x[:, BASELINE_HOURS - points : BASELINE_HOURS]
        z = (x - base.mean(axis=1, keepdims=True)) / np.maximum(base.std(axis=1, ddof=1, keepdims=True), 1e-3)
        up, down = np.zeros(len(x)), np.zeros(len(x))
        out = np.empty((len(x), WATCHED_HOURS))
        for hour in range(WATCHED_HOURS):
            now = z[:, BASELINE_HOURS + hour]
            up, down = np.maximum(0, up + now - 0.5), np.maximum(0, down - now - 0.5)
            out[:, hour] = np.maximum(up, down)
            spoken = out[:, hour] >= restart
            up[spoken], down[spoken] = 0, 0
        return out

    return values


def windows(x: Floats) -> Floats:
    """z of the distance between the means of 24 hours before and 24 after, as the public log-probability tracker has it.

    float[S, HOURS, V] in, float[S, WATCHED_HOURS] out: standardised by the previous 100 distances, the latest 48 skipped.
    """
    total = np.concatenate([np.zeros_like(x[:, :1]), np.cumsum(x, axis=1)], axis=1)
    means = (total[:, 24:] - total[:, :-24]) / 24  # means[:, i] covers hours i .. i + 23
    distance = np.abs(means[:, 24:] - means[:, :-24]).mean(axis=2)  # distance[:, i] ends with hour i + 47
    ends = np.arange(BASELINE_HOURS, HOURS) - 47
    sums, squares = (
        np.concatenate([np.zeros((len(x), 1)), np.cumsum(power, axis=1)], axis=1) for power in (distance, distance**2)
    )
    first, last = ends - 148, ends - 48
    mean = (sums[:, last] - sums[:, first]) / 100
    variance = np.maximum((squares[:, last] - squares[:, first]) / 100 - mean**2, 1e-12)
    return (distance[:, ends] - mean) / np.sqrt(variance)


def twelve_sigma(simulation: Simulation, restart: float) -> Floats:
    """The tracker's hourly rule, z > 12, on the share of differing answers (its floor of 1 nat does not apply to shares)."""
    return windows(_shares(simulation)[:, :, None])


def twelve_sigma_of_logprobs(simulation: Simulation, restart: float) -> Floats:
    assert simulation.logprobs is not None
    return windows(simulation.logprobs)


def three_days(simulation: Simulation, restart: float) -> Floats:
    """The tracker's daily rule: a day deviates by more than 0.2 and 4 sd from the 14 days before the last 4; three in a row.

    1 where it speaks; the number scales with how far the least of the three days deviates.
    """
    daily = _shares(simulation).reshape(len(simulation.differing), -1, 24).mean(axis=2)
    out = np.zeros((len(daily), WATCHED_HOURS))
    deviation = np.zeros_like(daily)
    for day in range(9, daily.shape[1]):
        base = daily[:, max(0, day - 18) : day - 4]
        off = np.abs(daily[:, day] - base.mean(axis=1))
        deviation[:, day] = np.minimum(off / 0.2, off / (4 * np.maximum(base.std(axis=1), 1e-6)))
    for day in range(BASELINE_HOURS // 24, daily.shape[1]):
        out[:, (day + 1) * 24 - 1 - BASELINE_HOURS] = deviation[:, day - 2 : day + 1].min(axis=1)
    return out


def hourly_test(simulation: Simulation, restart: float) -> Floats:
    """A binomial test of this hour's answers against the baseline's share, -log10 p."""
    base = simulation.differing[:, :BASELINE_HOURS].sum(axis=1) / (BASELINE_HOURS * ANSWERS)
    p = binom.sf(simulation.differing[:, BASELINE_HOURS:] - 1, ANSWERS, base[:, None])
    return -np.log10(np.maximum(p, 1e-300))


def one_against_one(simulation: Simulation, restart: float) -> Floats:
    """One answer an hour against one baseline answer: it differs or it does not. The first of the hour's answers."""
    place_of_first = np.random.default_rng(99).random(simulation.differing.shape)
    first = place_of_first < _shares(simulation)
    return (first[:, BASELINE_HOURS:] != first[:, BASELINE_HOURS - 1 : BASELINE_HOURS]).astype(np.float64)


RULES = (
    Rule("Tidegauge", evidence, allot(BUDGET, [1.0])[0].threshold, ours=True),
    Rule("CUSUM, 30 points", cusum_of(30), 5.0),
    Rule("CUSUM, two weeks", cusum_of(BASELINE_HOURS), 5.0),
    Rule("12-sigma rule", twelve_sigma, 12.0),
    Rule("three-day rule", three_days, 1.0),
    Rule("hourly test at 1 %", hourly_test, 2.0),
    Rule("one run against one baseline", one_against_one, 1.0, tunable=False),
)
LOGPROB_RULES = (
    Rule("Tidegauge", rank_evidence, allot(BUDGET, [1.0, 1.0])[0].threshold, ours=True),
    Rule("12-sigma rule", twelve_sigma_of_logprobs, 12.0),
)
