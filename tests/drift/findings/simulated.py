"""A series made of numbers: answers drawn with numpy, judged by the pure rules, no database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np

from drift.findings.answer_rules import Answers
from drift.findings.evidence import Departure, Evidence, Found, Limits
from drift.findings.judge import State, judge, with_datum
from drift.findings.names import Name
from drift.findings.tracker import Run, Tracker

START = datetime(2026, 11, 2, tzinfo=UTC)
OUTPUTS = 5


def fp(value: str | None, echo: str = "gpt-x-2026") -> str:
    return Name(echo, "absent" if value is None else "value", value or "", "").key()


@dataclass
class SimulatedSeries:
    """Canaries whose answers leave their commonest one at a rate with a daily rhythm, under flapping names.

    `names(rng, run index)` gives the name of each answer. `shifted` from a run on replaces the commonest answers of
    that share of canaries by others. Keeps everything found with the index of the run that led to it.
    """

    names: Callable[[np.random.Generator, int], Sequence[str]]
    rng: np.random.Generator
    limits: Limits = field(default_factory=Limits)
    canaries: int = 8
    repeats: int = 5
    cadence: timedelta = timedelta(minutes=5)
    divergence: float = 0.08
    rhythm: float = 0.5
    state: State = field(default_factory=State)
    found: list[tuple[int, Found]] = field(default_factory=list)
    extra: int = 0
    index: int = 0
    kept: list[tuple[datetime, np.ndarray, Counter[str]]] = field(default_factory=list)
    reference: np.ndarray | None = None
    rate_factor: float = 1.0
    moved: float = 0.0
    white_space_only: bool = False

    @property
    def now(self) -> datetime:
        return START + self.cadence * self.index

    def run(self, times: int = 1, **fields: object) -> SimulatedSeries:
        for _ in range(times):
            self._step(**fields)
        return self

    def kinds(self) -> list[str]:
        return [found.kind.value for _, found in self.found]

    def _counts(self) -> np.ndarray:
        hour = self.now.hour + self.now.minute / 60
        rate = self.rate_factor * self.divergence * (1 + self.rhythm * np.cos(2 * np.pi * (hour - 15) / 24))
        rates = np.clip(rate * np.linspace(0.2, 1.8, self.canaries), 0, 1)
        shares = np.zeros((self.canaries, OUTPUTS))
        shares[:, 0] = 1 - rates
        shares[:, 1:] = (rates / (OUTPUTS - 1))[:, None]
        changed = np.arange(self.canaries) < self.moved * self.canaries
        shares[changed] = np.roll(shares[changed], 2, axis=1)
        return np.array([self.rng.multinomial(self.repeats, row) for row in shares])

    def _step(self, **fields: object) -> None:
        counts = self._counts()
        names = Counter(self.names(self.rng, self.index))
        answers = self.canaries * self.repeats
        run = Evidence(
            **{
                "at": self.now,
                "answers": answers,
                "comparable": answers,
                "names": names,
                "departure": self._departure(counts),
                "tie": float(self.rng.random()),
                **fields,
            }
        )
        collecting = self.state.collecting
        if collecting and run.comparable:
            self.kept.append((self.now, counts, names))
        judgement = judge(self.state, run, self.limits)
        self.state = judgement.state
        self.extra += judgement.extra
        self.found += [(self.index, found) for found in judgement.found]
        if any(found.kind.voids for found in judgement.found):
            self.kept, self.reference = [], None
        if judgement.ready:
            self._freeze()
        self.index += 1

    def _departure(self, counts: np.ndarray) -> Departure | None:
        if self.reference is None:
            return None
        differing = float((departing(self.reference, counts) * counts.sum(axis=1)).sum())
        normalised = 0.0 if self.white_space_only else differing
        return Departure(differing, normalised, float(counts.sum()))

    def _freeze(self) -> None:
        total = sum(counts for _, counts, _ in self.kept)
        runs = [
            Run(at, float((departing(total - counts, counts) * counts.sum(axis=1)).sum()), float(counts.sum()))
            for at, counts, _ in self.kept
        ]
        tracker = Tracker.begin(runs, self.limits.miss)
        assert tracker is not None
        self.reference = total
        mix: list[tuple[datetime, Mapping[str, int]]] = [(at, names) for at, _, names in self.kept]
        self.state = with_datum(self.state, Answers(tracker, tracker.rate), None, mix, {}, self.limits)
        self.kept = []


def departing(reference: np.ndarray, run: np.ndarray) -> np.ndarray:
    """P(a reference answer and one of the run differ), per canary."""
    base = reference / np.maximum(reference.sum(axis=1, keepdims=True), 1)
    new = run / np.maximum(run.sum(axis=1, keepdims=True), 1)
    return 1 - (base * new).sum(axis=1)


def mix(shares: Mapping[str, float], answers: int = 40) -> Callable[[np.random.Generator, int], Sequence[str]]:
    """Every answer draws its name anew."""
    keys, weights = list(shares), np.array(list(shares.values()), dtype=float)
    return lambda rng, index: list(rng.choice(keys, size=answers, p=weights / weights.sum()))


def sticky(
    shares: Mapping[str, float], change: float = 0.21, answers: int = 40
) -> Callable[[np.random.Generator, int], Sequence[str]]:
    """Consecutive answers change their name with probability `change` (40 of 190 for gpt-4o)."""
    keys, weights = list(shares), np.array(list(shares.values()), dtype=float)
    weights /= weights.sum()
    at = [keys[0]]

    def draw(rng: np.random.Generator, index: int) -> Sequence[str]:
        drawn = []
        for _ in range(answers):
            if rng.random() < change:
                at[0] = str(rng.choice(keys, p=weights))
            drawn.append(at[0])
        return drawn

    return draw


def pool(names: Sequence[str], stays: int, answers: int = 40) -> Callable[[np.random.Generator, int], Sequence[str]]:
    """A pool of machines: one name answers whole runs, for `stays` runs on average."""
    at = [names[0]]

    def draw(rng: np.random.Generator, index: int) -> Sequence[str]:
        if rng.random() < 1 / stays:
            at[0] = str(rng.choice(list(names)))
        return [at[0]] * answers

    return draw


def churning(answers: int = 40) -> Callable[[np.random.Generator, int], Sequence[str]]:
    """A new name with every answer, as on one public host."""
    return lambda rng, index: [fp(f"fp_{rng.integers(1 << 40):010x}") for _ in range(answers)]
