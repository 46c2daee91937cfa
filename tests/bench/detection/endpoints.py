"""Simulated endpoints: five answers an hour, two weeks of baseline, three weeks of watching.

A simulation is what a rule may see and nothing else: how many of each hour's answers differ from their canary's reference
(raw, and with white space normalised), and the mean log probabilities of the first token.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BASELINE_HOURS = 14 * 24
WATCHED_HOURS = 21 * 24
HOURS = BASELINE_HOURS + WATCHED_HOURS
ANSWERS = 5
RATE = 0.05
TOKENS = 20
LOGPROB_NOISE = 0.05  # nats, one answer

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Background:
    """What an endpoint is like while nothing changes.

    rate: mean share of differing answers; rhythm: relative amplitude over the day; backends: shares of traffic and their
    relative rates, drawn per answer or for a whole hour; weather: log-sd of the day's rate.
    """

    name: str
    rate: float = RATE
    rhythm: float = 0.0
    backends: tuple[tuple[float, float], ...] = ((1.0, 1.0),)
    whole_hours: bool = False
    weather: float = 0.0


@dataclass(frozen=True, slots=True)
class Change:
    """What happens at a random hour: the rate becomes `rate` for `traffic` of the answers, over `creep_hours` if given."""

    name: str
    rate: float | None = None
    traffic: float = 1.0
    creep_hours: int = 0
    reformatted: bool = False
    logprob_shift: float = 0.0


FLAPPING = ((0.8, 0.6), (0.2, 2.6))  # two backends, each with its fingerprint: 3 % and 13 % of answers differ

NULLS = (
    Background("steady"),
    Background("daily rhythm", rhythm=0.6),
    Background("rhythm, fingerprints flap by answer", rhythm=0.6, backends=FLAPPING),
    Background("rhythm, fingerprints flap by hour", rhythm=0.6, backends=FLAPPING, whole_hours=True),
    Background("rhythm, days differ", rhythm=0.6, weather=0.3),
    Background("never differs", rate=0.0),
    Background("often differs", rate=0.4, rhythm=0.3),
)
# what every change happens to
USUAL = NULLS[2]

CHANGES = (
    Change("5 % to 10 %", rate=0.10),
    Change("5 % to 20 %", rate=0.20),
    Change("5 % to 30 %", rate=0.30),
    Change("5 % to 50 %", rate=0.50),
    Change("5 % to 90 % (new model for all)", rate=0.90),
    Change("new model for 10 % of traffic", rate=0.90, traffic=0.10),
    Change("new model for 25 % of traffic", rate=0.90, traffic=0.25),
    Change("new model for 50 % of traffic", rate=0.90, traffic=0.50),
    Change("creep to 30 % over 10 days", rate=0.30, creep_hours=240),
    Change("formatting only", reformatted=True),
)
LOGPROB_CHANGES = (
    Change("log probabilities move 0.03 nats", logprob_shift=0.03),
    Change("log probabilities move 0.1 nats", logprob_shift=0.1),
)


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """S endpoints. differing, differing_normalised: float[S, HOURS], of ANSWERS; changed_at: int[S] hour of watching,
    WATCHED_HOURS where nothing changes; logprobs: float[S, HOURS, TOKENS], hourly means, or None; ties: float[S,
    WATCHED_HOURS], random numbers for rules that break ties."""

    differing: Floats
    differing_normalised: Floats
    changed_at: NDArray[np.int64]
    logprobs: Floats | None
    ties: Floats


def simulate(
    background: Background, change: Change | None, series: int, rng: np.random.Generator, logprobs: bool = False
) -> Simulation:
    hours = np.arange(HOURS)
    rates = np.broadcast_to(background.rate * (1 + background.rhythm * np.sin(2 * np.pi * hours / 24)), (series, HOURS))
    if background.weather:
        days = np.exp(rng.normal(-(background.weather**2) / 2, background.weather, size=(series, HOURS // 24 + 1)))
        rates = rates * days[:, hours // 24]
    shares, factors = (np.array(column) for column in zip(*background.backends, strict=True))
    answers = 1 if background.whole_hours else ANSWERS
    served = rng.choice(factors, p=shares, size=(series, HOURS, answers))
    chance = np.clip(rates[:, :, None] * np.broadcast_to(served, (series, HOURS, ANSWERS)), 0, 1)

    changed_at = np.full(series, WATCHED_HOURS)
    if change is not None:
        changed_at = rng.integers(24, WATCHED_HOURS - 264, size=series)
        since = hours[None, :] - BASELINE_HOURS - changed_at[:, None]
        if change.rate is not None:
            reached = np.clip((since + 1) / max(1, change.creep_hours), 0, 1)[:, :, None]
            moved = rng.random(chance.shape) < change.traffic
            target = chance + (1 - chance) * (change.rate - RATE) / (1 - RATE)  # some answers flip that did not
            chance = np.where(moved, chance + reached * (target - chance), chance)
    normalised = (rng.random(chance.shape) < chance).sum(axis=2).astype(np.float64)
    raw = normalised
    if change is not None and change.reformatted:
        raw = np.where(since >= 0, float(ANSWERS), normalised)
    scores = _logprobs(series, change, changed_at, rng) if logprobs else None
    return Simulation(raw, normalised, changed_at, scores, rng.random((series, WATCHED_HOURS)))


def _logprobs(series: int, change: Change | None, changed_at: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """Hourly means about the endpoint's own values, with a daily rhythm of a third of the hourly noise."""
    hours = np.arange(HOURS)
    hourly = LOGPROB_NOISE / ANSWERS**0.5
    values = hourly * rng.normal(size=(series, HOURS, TOKENS))
    values += hourly / 3 * np.sin(2 * np.pi * hours / 24)[None, :, None] * rng.normal(size=(series, 1, TOKENS))
    if change is not None and change.logprob_shift:
        since = hours[None, :] >= BASELINE_HOURS + changed_at[:, None]
        values += change.logprob_shift * since[:, :, None] * rng.choice([-1.0, 1.0], size=(series, 1, TOKENS))
    return values
