"""Whether a seed does anything, at temperature 0 and above, and whether temperature 0 is greedy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drift.checkup.load import Difference, difference
from drift.checkup.near_ties import CLOSE
from drift.checkup.repeats import divergences
from drift.checkup.taken import Examination, Feature, Kind, StageAnswers
from drift.measure.intervals import Estimate, wilson, wilson_of_few_units

STILL = 0.02


@dataclass(frozen=True, slots=True)
class SeedEffect:
    """`word`: refused, ignored, lowers, repeats, no_effect or unknown, at temperature 1. `zero`, `hot`: divergence
    without a seed minus with one; `hot_left`: what a seed leaves of it.
    """

    word: str
    zero: Difference | None
    hot: Difference | None
    hot_left: Estimate | None
    evidence: str


@dataclass(frozen=True, slots=True)
class Greedy:
    """`word`: greedy, close_calls, samples, or unknown. `not_best`: share of tokens that are not the best by the
    endpoint's own scores; `given_away`: the largest score given up for one, in nats. `hotter`: divergence at
    temperature 1 minus that at 0.
    """

    word: str
    not_best: Estimate | None
    given_away: float | None
    hotter: Difference | None
    tokens: int


def seed_effect(examination: Examination) -> SeedEffect:
    said = next((one for one in examination.capabilities if one.name == "seed"), None)
    hot, seeded = examination.stage(Kind.HOT), examination.stage(Kind.HOT_SEEDED)
    zero = difference(examination.stage(Kind.UNSEEDED), examination.quiet)
    gained = difference(hot, seeded)
    left = _divergence(seeded)
    return SeedEffect(
        word=_word(said, gained, left),
        zero=zero,
        hot=gained,
        hot_left=left,
        evidence=said.evidence if said else "",
    )


def _word(said: Feature | None, gained: Difference | None, left: Estimate | None) -> str:
    if said is not None and said.state == "refused":
        return "refused"
    if gained is None or left is None:
        return "ignored" if said is not None and said.state == "ignored" else "unknown"
    if gained.estimate.low > 0:
        return "repeats" if left.value <= STILL else "lowers"
    return "ignored" if said is not None and said.state == "ignored" else "no_effect"


def _divergence(stage: StageAnswers | None) -> Estimate | None:
    if stage is None:
        return None
    values = list(divergences(stage).values())
    disjoint = sum(len(answers) // 2 for answers in stage.by_question().values())
    return wilson_of_few_units(values, total=max(disjoint, len(values)))


def greedy(examination: Examination) -> Greedy:
    """From the quiet stage's own scores. Scores that are all zero, or absent, say nothing."""
    quiet = examination.quiet
    hotter = difference(examination.stage(Kind.HOT), quiet)
    ranked = _ranked(quiet) if quiet else []
    if not ranked or examination.asked.get("temperature") != 0:
        return Greedy("unknown", None, None, hotter, len(ranked))
    given = [gap for gap in ranked if gap > 0]
    share = wilson(len(given), len(ranked))
    word = "greedy" if not given else "close_calls" if max(given) < CLOSE else "samples"
    return Greedy(word, share, max(given, default=0.0), hotter, len(ranked))


def _ranked(stage: StageAnswers) -> list[float]:
    """Best score minus the chosen token's, per token of the stage, where both are known."""
    gaps: list[float] = []
    for answers in stage.by_question().values():
        for answer in answers:
            if answer.decoded.degenerate_logprobs:
                continue
            gaps += _gaps([(t.logprob, [s for _, s in t.top if s is not None]) for t in answer.decoded.tokens or ()])
    return gaps


def _gaps(tokens: Sequence[tuple[float | None, Sequence[float]]]) -> list[float]:
    return [max(0.0, max(top) - chosen) for chosen, top in tokens if chosen is not None and len(top) > 1]
