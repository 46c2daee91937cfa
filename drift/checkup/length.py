"""The longer, the worse: divergence as a function of the cap."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from drift.checkup.load import Difference, difference
from drift.checkup.taken import Examination, Kind, StageAnswers, tokens_of
from drift.measure.agreement import divergence
from drift.measure.intervals import Estimate


@dataclass(frozen=True, slots=True)
class AtCap:
    """Share of pairs that differ within the first `cap` tokens."""

    cap: int
    divergence: Estimate


@dataclass(frozen=True, slots=True)
class Length:
    """`cut`: the quiet answers cut at each cap; `asked`: really asked with the smaller one; `gained`: full minus it."""

    cut: tuple[AtCap, ...]
    asked: AtCap | None
    gained: Difference | None
    tokens_known: bool


def length(examination: Examination) -> Length | None:
    quiet = examination.quiet
    if quiet is None:
        return None
    longest, known = _tokens(quiet)
    if not longest:
        return None
    full = min(longest, quiet.max_tokens)
    kept = sorted({max(1, full // part) for part in (16, 8, 4, 2, 1)})
    cut = [AtCap(cap, found) for cap in kept if (found := _cut(quiet, cap)) is not None]
    short = examination.stage(Kind.SHORT)
    asked = _cut(short, short.max_tokens) if short else None
    return Length(
        cut=tuple(cut),
        asked=AtCap(short.max_tokens, asked) if short and asked else None,
        gained=difference(quiet, short),
        tokens_known=known,
    )


def _tokens(stage: StageAnswers) -> tuple[int, bool]:
    longest, known = 0, True
    for answers in stage.by_question().values():
        rows, real = tokens_of(answers)
        longest, known = max([longest, *map(len, rows)]), known and (real or not rows)
    return longest, known


def _cut(stage: StageAnswers, cap: int) -> Estimate | None:
    counts = []
    for answers in stage.by_question().values():
        rows, _ = tokens_of(answers)
        counts.append(list(Counter(tuple(row[:cap]) for row in rows).values()))
    return divergence(counts)
