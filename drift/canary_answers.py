"""The latest answers to one canary in one series, told apart, and laid out to show where they part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Q

from drift.answers import COMPARABLE
from drift.branching import Branch, DistinctAnswer, Token, tree
from drift.display import visible
from drift.measure.agreement import first_divergence, pair_counts, split_text
from drift.models import Canary, Output, Sample, Series
from drift.readings import tokens_of


@dataclass(frozen=True, slots=True)
class One:
    """One sample, as a list shows it."""

    public_id: UUID
    scheduled_for: datetime
    repeat: int
    outcome: str
    cold: bool
    latency_ms: float
    batch_sizes: tuple[int, ...]
    finish: str
    letter: str


@dataclass(frozen=True, slots=True)
class Distinct:
    """One distinct answer with a letter to speak of it by."""

    key: str
    letter: str
    text: str
    tokens: tuple[Token, ...]
    count: int
    first_seen: datetime
    samples: tuple[One, ...]


@dataclass(frozen=True, slots=True)
class Fork:
    """One branch as a page shows it: safe text, and the words about where it parts."""

    letter: str
    key: str
    count: int
    of: int
    first: str
    rest: str
    position: int
    ended: bool
    margin: float | None
    batches: tuple[int, int] | None
    cut_by_cap: bool
    branches: tuple[Fork, ...]


@dataclass(frozen=True, slots=True)
class Answers:
    samples: tuple[One, ...]
    distinct: tuple[Distinct, ...]
    comparable: int
    trunk: str
    trunk_tokens: int
    forks: tuple[Fork, ...]
    margin: float | None
    tokens_known: bool
    batches: tuple[int, int] | None
    pairs: int
    pairs_differing: int

    @property
    def incomparable(self) -> int:
        return len(self.samples) - self.comparable


@dataclass(frozen=True, slots=True)
class Beside:
    """Two answers: what both begin with, then what each says. `position` None: they are the same."""

    shared: str
    position: int | None
    left_first: str
    left_rest: str
    right_first: str
    right_rest: str


_FIELDS = (
    "public_id", "scheduled_for", "repeat", "outcome", "cold", "latency_ms", "finish", "output_id", "margins",
    "batch_sizes", "has_tokens",
)  # fmt: skip


def latest(series: Series, canary: Canary, amount: int) -> Answers:
    """The last `amount` answers, comparable or not, in two queries."""
    rows = list(
        Sample.objects.filter(series=series, canary=canary)
        .annotate(has_tokens=Q(logprobs__isnull=False))
        .order_by("-scheduled_for", "repeat")
        .values(*_FIELDS)[:amount]
    )
    by_output: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        if row["output_id"] and row["outcome"] in COMPARABLE:
            by_output.setdefault(row["output_id"], []).append(row)
    outputs = Output.objects.in_bulk(by_output)
    ranked = sorted(by_output, key=lambda pk: (-len(by_output[pk]), outputs[pk].first_seen))
    letters = {pk: letter_of(i) for i, pk in enumerate(ranked)}
    samples = {row["public_id"]: _one(row, letters.get(row["output_id"], "")) for row in rows}

    readings = {pk: tokens_of(outputs[pk]) for pk in ranked}
    # an output is shared by all who gave it: its tokens are ours only where our own answers came with tokens
    own = all(row["has_tokens"] for rows in by_output.values() for row in rows)
    tokens_known = bool(readings) and own and all(known for _, known in readings.values())
    tokens: dict[int, tuple[Token, ...]] = {
        pk: tuple(readings[pk][0]) if tokens_known else tuple(split_text(outputs[pk].text)) for pk in ranked
    }
    distinct = tuple(
        Distinct(
            key=str(outputs[pk].public_id),
            letter=letters[pk],
            text=outputs[pk].text,
            tokens=tokens[pk],
            count=len(by_output[pk]),
            first_seen=outputs[pk].first_seen,
            samples=tuple(samples[row["public_id"]] for row in by_output[pk]),
        )
        for pk in ranked
    )
    pairs = pair_counts([one.count for one in distinct])
    comparable = sum(one.count for one in distinct)
    root = (
        tree([_branching(one, by_output[pk]) for pk, one in zip(ranked, distinct, strict=True)]) if distinct else None
    )
    return Answers(
        samples=tuple(samples.values()),
        distinct=distinct,
        comparable=comparable,
        trunk=joined(root.tokens) if root else "",
        trunk_tokens=root.end if root else 0,
        forks=tuple(_fork(branch, comparable, distinct, root.margin_at_fork) for branch in root.branches)
        if root
        else (),
        margin=root.margin_at_fork if root else None,
        tokens_known=tokens_known,
        batches=_ends(root.batch_sizes) if root else None,
        pairs=pairs.total,
        pairs_differing=pairs.differing,
    )


def beside(left: Sequence[Token], right: Sequence[Token]) -> Beside:
    """Two answers, by their tokens, split where they part."""
    at = first_divergence(left, right)
    if at is None:
        return Beside(joined(left), None, "", "", "", "")
    return Beside(
        shared=joined(left[:at]),
        position=at + 1,
        left_first=joined(left[at : at + 1]),
        left_rest=joined(left[at + 1 :]),
        right_first=joined(right[at : at + 1]),
        right_rest=joined(right[at + 1 :]),
    )


def letter_of(place: int) -> str:
    """A, B, ... Z, AA, AB ...: a name for each distinct answer, the commonest first."""
    name = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        name = chr(65 + rest) + name
    return name


def joined(tokens: Sequence[Token]) -> str:
    """Tokens as safe text."""
    if tokens and isinstance(tokens[0], bytes):
        return visible(b"".join(t for t in tokens if isinstance(t, bytes)).decode("utf-8", "replace"))
    return visible("".join(str(t) for t in tokens))


def _one(row: dict[str, Any], letter: str) -> One:
    return One(
        public_id=row["public_id"],
        scheduled_for=row["scheduled_for"],
        repeat=row["repeat"],
        outcome=row["outcome"],
        cold=row["cold"],
        latency_ms=row["latency_ms"],
        batch_sizes=tuple(row["batch_sizes"] or ()),
        finish=row["finish"],
        letter=letter,
    )


def _branching(one: Distinct, rows: Sequence[dict[str, Any]]) -> DistinctAnswer:
    known = [np.frombuffer(row["margins"], dtype="<f4") for row in rows if row["margins"]]
    length = max((margins.size for margins in known), default=0)
    usual: list[float | None] = []
    for position in range(length):
        here = [float(m[position]) for m in known if position < m.size and not np.isnan(m[position])]
        usual.append(median(here) if here else None)
    return DistinctAnswer(
        key=one.key,
        tokens=one.tokens,
        count=one.count,
        margins=tuple(usual),
        batch_sizes=frozenset(size for row in rows for size in row["batch_sizes"] or ()),
    )


def _fork(branch: Branch, of: int, distinct: Sequence[Distinct], margin: float | None) -> Fork:
    letters = {one.key: one for one in distinct}
    alone = letters[branch.answers[0].key] if not branch.branches else None
    return Fork(
        letter=alone.letter if alone else "",
        key=alone.key if alone else "",
        count=branch.count,
        of=of,
        first=joined(branch.tokens[:1]),
        rest=joined(branch.tokens[1:]),
        position=branch.start + 1,
        ended=not branch.tokens,
        margin=margin,
        batches=_ends(branch.batch_sizes),
        cut_by_cap=bool(alone and alone.samples and alone.samples[0].finish == "length"),
        branches=tuple(_fork(inner, of, distinct, branch.margin_at_fork) for inner in branch.branches),
    )


def _ends(sizes: frozenset[int]) -> tuple[int, int] | None:
    return (min(sizes), max(sizes)) if sizes else None
