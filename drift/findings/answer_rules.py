"""Whether answers, their white space, their log probabilities or the mix of names moved. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from drift.findings.evidence import Departure, Found
from drift.findings.kinds import Kind
from drift.findings.tracker import Run, Tracker
from drift.measure import ranks
from drift.measure.sequential import Watch

FORMATTING_LEFT = 0.25  # of the departure, once white space is evened out: as `two_sample.kind_of_difference`
LEAST_SHIFT_NATS = 0.05
RECENT = 12


@dataclass(frozen=True, slots=True)
class Answers:
    """The watched share of answers that differ from the reference.

    `normalised`: that share in the datum once white space is evened out. `recent`: the last runs as (unix time,
    differing, differing after evening out, answers), by which formatting is told from content once an alarm is up.
    """

    raw: Tracker
    normalised: float
    recent: tuple[tuple[float, float, float, float], ...] = ()

    def to_numbers(self) -> dict[str, Any]:
        return {
            "raw": self.raw.to_numbers(),
            "normalised": self.normalised,
            "recent": [list(run) for run in self.recent],
        }

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, Any]) -> Answers:
        recent = tuple((float(at), float(a), float(b), float(c)) for at, a, b, c in numbers["recent"])
        return cls(Tracker.from_numbers(numbers["raw"]), float(numbers["normalised"]), recent)

    def look(self, at: datetime, run: Departure, tie: float) -> Answers:
        recent = (*self.recent, (at.timestamp(), run.differing, run.differing_normalised, run.answers))[-RECENT:]
        return replace(self, raw=self.raw.look(Run(at, run.differing, run.answers), tie), recent=recent)

    def moved(self, threshold: float) -> Found | None:
        """SILENT_CHANGE or FORMATTING once the evidence reaches the threshold."""
        if self.raw.evidence < threshold:
            return None
        rise, normalised_rise, rate = self._recent_rise()
        only_space = rise > 0 and normalised_rise < FORMATTING_LEFT * rise
        return Found(
            Kind.FORMATTING if only_space else Kind.SILENT_CHANGE,
            self.raw.changed_since,
            self.raw.chance,
            {"before": self.raw.rate, "after": rate, "looks": self.raw.looks},
        )

    def _recent_rise(self) -> tuple[float, float, float]:
        """How far the runs since the change are above the datum, raw and evened out, and their share departing."""
        since = self.raw.changed_since.timestamp()
        latest = [run for run in self.recent if run[0] >= since] or self.recent[-1:]
        answers = sum(n for _, _, _, n in latest) or 1.0
        raw = sum(k for _, k, _, _ in latest) / answers
        normalised = sum(k for _, _, k, _ in latest) / answers
        return raw - self.raw.rate, normalised - self.normalised, raw


@dataclass(frozen=True, slots=True)
class Logprobs:
    """A run's distance from the reference's log probabilities, ranked among the datum's own distances."""

    ranking: ranks.Ranking
    usual: float
    watch: Watch
    since: datetime
    recent: tuple[float, ...] = ()

    @classmethod
    def begin(cls, scores: Sequence[float], at: datetime) -> Logprobs | None:
        """None with fewer than six runs that had log probabilities."""
        ranking = ranks.ranking(scores) if len(scores) >= 6 else None
        if ranking is None:
            return None
        return cls(ranking, max(scores), Watch.begin(len(ranks.EXPONENTS)), at)

    def look(self, at: datetime, distance: float, tie: float) -> Logprobs:
        e_values, ranking = ranks.place(self.ranking, distance, tie)
        watch = self.watch.look(e_values[: len(ranks.EXPONENTS)])
        since = at if watch.since[watch.leading] == watch.looks else self.since
        return replace(self, ranking=ranking, watch=watch, since=since, recent=(*self.recent, distance)[-3:])

    def moved(self, threshold: float) -> Found | None:
        """LOGPROBS once the evidence reaches the threshold and the shift is of a size that matters."""
        now = sum(self.recent) / len(self.recent) if self.recent else 0.0
        if self.watch.evidence < threshold or now < self.usual + LEAST_SHIFT_NATS:
            return None
        chance = min(1.0, 1 / max(self.watch.evidence_ever, 1e-300))
        return Found(Kind.LOGPROBS, self.since, chance, {"before": self.usual, "after": now})

    def to_numbers(self) -> dict[str, Any]:
        return {
            "ranking": ranks.to_numbers({0: self.ranking}),
            "usual": self.usual,
            "watch": self.watch.to_numbers(),
            "since": self.since.isoformat(),
            "recent": list(self.recent),
        }

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, Any]) -> Logprobs:
        return cls(
            ranks.from_numbers(numbers["ranking"])[0],
            float(numbers["usual"]),
            Watch.from_numbers(numbers["watch"]),
            datetime.fromisoformat(numbers["since"]),
            tuple(float(score) for score in numbers["recent"]),
        )


def mix_moved(mix: Tracker, main: str, threshold: float) -> Found | None:
    """MIX_SHIFT once the share of the commonest name has left its datum."""
    if mix.evidence < threshold:
        return None
    return Found(Kind.MIX_SHIFT, mix.changed_since, mix.chance, {"main": main, "before": mix.rate})
