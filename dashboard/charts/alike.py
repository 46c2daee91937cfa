"""Whether endpoints answer alike: every pair, as a matrix to read and as rows for the exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext

from dashboard.charts.chart import Chart
from drift.alike import LEVEL, Pair


@dataclass(frozen=True, slots=True)
class Cell:
    """One meeting of two endpoints. `kind`: own, differ, alike (not told apart), unknown."""

    kind: str
    words: str = ""
    effect: str = ""
    p: str = ""


def matrix(pairs: Sequence[Pair], names: Mapping[UUID, str]) -> list[tuple[str, list[Cell]]]:
    """A row for each endpoint, a cell for each other."""
    known = {frozenset((pair.a, pair.b)): pair for pair in pairs}
    return [
        (name, [Cell("own") if a == b else _cell(known[frozenset((a, b))]) for b in names]) for a, name in names.items()
    ]


def _cell(pair: Pair) -> Cell:
    if pair.adjusted is None or pair.effect is None:
        return Cell("unknown", gettext("not enough shared answers"))
    effect = points(pair.effect.value)
    p = p_in_words(pair.adjusted)
    if pair.differ:
        return Cell("differ", gettext("different"), effect, p)
    return Cell(
        "alike",
        gettext("not told apart"),
        gettext("more than {points} would have shown").format(points=points(pair.unseen or 0.0)),
        p,
    )


def points(share: float) -> str:
    """A share as percentage points: '5.9 points'."""
    return gettext("{number} points").format(number=f"{share * 100:.1f}")


def p_in_words(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def sentence(pairs: Sequence[Pair], names: Mapping[UUID, str]) -> str:
    """What the matrix says, in words that claim no more than was found."""
    tested = [pair for pair in pairs if pair.adjusted is not None]
    if not tested:
        return gettext("Not enough answers to the same prompts at the same time to tell any two apart.")
    different = [pair for pair in tested if pair.differ]
    if not different:
        largest = max((pair.unseen or 0.0 for pair in tested), default=0.0)
        return gettext(
            "No two of them could be told apart. That does not prove that they are the same: "
            "a difference of up to {points} could have gone unseen."
        ).format(points=points(largest))
    if len(tested) == 1:
        pair = tested[0]
        return gettext("{one} and {other} do not answer from one distribution.").format(
            one=names[pair.a], other=names[pair.b]
        )
    return gettext("{different} of {tested} pairs do not answer from one distribution.").format(
        different=len(different), tested=len(tested)
    )


def alike(pairs: Sequence[Pair], names: Mapping[UUID, str]) -> Chart:
    """The matrix as rows: one for each pair."""
    said = sentence(pairs, names)
    return Chart(
        slug="alike",
        question=gettext("Do they answer from one distribution?"),
        note=gettext(
            "p by permutation within stretches of time, Holm's correction over all pairs; level {level}."
        ).format(level=LEVEL),
        summary=said,
        columns=(
            "endpoint", "other", "different", "p", "p_adjusted", "effect", "effect_low", "effect_high",
            "would_have_been_seen", "canaries", "answers",
        ),
        rows=[
            (
                names[pair.a],
                names[pair.b],
                "" if pair.adjusted is None else str(pair.differ).lower(),
                pair.p,
                pair.adjusted,
                *((pair.effect.value, pair.effect.low, pair.effect.high) if pair.effect else (None, None, None)),
                pair.unseen,
                pair.canaries,
                pair.answers,
            )
            for pair in pairs
        ],
        figure=dict,
        about="alike",
    )  # fmt: skip
