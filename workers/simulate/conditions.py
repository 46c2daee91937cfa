"""Which version answers a request, how restless it is at that hour, and whether a storm refuses it."""

from __future__ import annotations

import math

from workers.simulate.draws import draw, pick
from workers.simulate.scenario import Scenario, Storm, Version

DAY_S = 86_400.0


def version_at(scenario: Scenario, elapsed_s: float, index: int) -> Version:
    """The version behind request number `index`, `elapsed_s` after the start. Later phases are asked first."""
    for number, phase in reversed(list(enumerate(scenario.phases))):
        if elapsed_s < phase.at_s:
            continue
        grown = 1.0 if phase.ramp_s <= 0 else min((elapsed_s - phase.at_s) / phase.ramp_s, 1.0)
        if draw(scenario.seed, "phase", number, index) < phase.share * grown:
            return phase.version
    return scenario.phases[0].version


def flip_rate_at(scenario: Scenario, version: Version, unix_s: float) -> float:
    """The flip rate at that time of day: highest at the peak hour, by `rhythm` of itself."""
    angle = 2 * math.pi * ((unix_s % DAY_S) / DAY_S - scenario.peak_hour / 24)
    return min(max(version.flip_rate * (1 + scenario.rhythm * math.cos(angle)), 0.0), 1.0)


def fingerprint_of(scenario: Scenario, version: Version, index: int) -> tuple[bool, str | None]:
    """(whether the key is sent, its value) for request number `index`."""
    if not version.fingerprints:
        return False, None
    weights = [weight for _, weight in version.fingerprints]
    return True, version.fingerprints[pick(weights, scenario.seed, "fingerprint", index)][0]


def storm_over(scenario: Scenario, elapsed_s: float, index: int) -> Storm | None:
    """The storm that refuses this request, if any."""
    for storm in scenario.storms:
        if storm.from_s <= elapsed_s < storm.to_s and draw(scenario.seed, "storm", index) < storm.share:
            return storm
    return None
