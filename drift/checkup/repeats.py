"""How far the answers of one stage repeat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from drift.checkup.taken import StageAnswers, Taken, tokens_of
from drift.display import visible
from drift.measure.agreement import (
    around_divergence,
    distinct,
    divergence,
    equal_repeats,
    mean_distinct,
    merged_counts,
    pair_counts,
    total_agreement_rate,
    whitespace_normalised,
)
from drift.measure.first_divergence import median_first_divergence
from drift.measure.horizon import AgreementLengths, agreement_curve, agreement_lengths, horizon
from drift.measure.intervals import Estimate

SEED = 8
CONTEXT = 8
BINS = 12
CURVE_POINTS = 60


@dataclass(frozen=True, slots=True)
class Limit:
    """`drift.measure.horizon.Horizon` as it is kept: tokens, None as there."""

    length: int
    low: int | None
    high: int | None
    limit_seen: bool
    recommended_cap: int | None


@dataclass(frozen=True, slots=True)
class QuestionRepeats:
    """One question. `parts_at`: the first token at which its two commonest answers part; then what each says."""

    key: str
    name: str
    answers: int
    distinct: int
    divergence: float | None
    parts_at: int | None
    shared: str
    one: str
    other: str


@dataclass(frozen=True, slots=True)
class Repeats:
    """`counts` of answers and pairs; estimates over questions, None where there is no pair. `equal_n`: the N of TARr@N.

    `parting`: (from, to, share) of where differing pairs part; `curve`: (length, share of pairs that still agree).
    """

    label: str
    concurrency: int
    max_tokens: int
    asked: int
    comparable: int
    outcomes: tuple[tuple[str, int], ...]
    questions: tuple[QuestionRepeats, ...]
    divergence: Estimate | None
    evened: Estimate | None
    total_agreement: Estimate | None
    equal_n: int | None
    distinct_mean: float | None
    answers_mean: float | None
    pairs: int
    pairs_differing: int
    pairs_disjoint: int
    tokens_known: bool
    longest: int
    parts_at: int | None
    parting: tuple[tuple[int, int, float], ...]
    curve: tuple[tuple[int, float], ...]
    horizon: Limit | None
    latency_ms: float | None
    note: str

    @property
    def differing_questions(self) -> int:
        return sum(question.distinct > 1 for question in self.questions)


def repeats(stage: StageAnswers, names: Mapping[str, str]) -> Repeats:
    """All figures of one stage."""
    groups = {key: answers for key, answers in stage.by_question().items() if answers}
    counts = {key: list(texts(answers).values()) for key, answers in groups.items()}
    pairs = [pair_counts(each) for each in counts.values()]
    lengths, tokens_known = lengths_of(list(groups.values()))
    limit = horizon(lengths, np.random.default_rng(SEED))
    curve = agreement_curve(lengths)
    warm = [answer.latency_ms for answers in groups.values() for answer in answers if answer.latency_ms is not None]
    sizes = [sum(each) for each in counts.values()]
    return Repeats(
        label=stage.label,
        concurrency=stage.concurrency,
        max_tokens=stage.max_tokens,
        asked=len(stage.answers),
        comparable=sum(answer.comparable for answer in stage.answers),
        outcomes=tuple(Counter(answer.decoded.outcome.value for answer in stage.answers).most_common()),
        questions=tuple(_question(key, names.get(key, key), answers) for key, answers in groups.items()),
        divergence=divergence(counts.values()),
        evened=divergence([_evened(answers) for answers in groups.values()]),
        total_agreement=total_agreement_rate(counts.values()),
        equal_n=equal_repeats(counts.values()),
        distinct_mean=mean_distinct(counts.values()),
        answers_mean=sum(sizes) / len(sizes) if sizes else None,
        pairs=sum(pair.total for pair in pairs),
        pairs_differing=sum(pair.differing for pair in pairs),
        pairs_disjoint=sum(pair.disjoint for pair in pairs),
        tokens_known=tokens_known,
        longest=max((entry.longest for entry in lengths), default=0),
        parts_at=median_first_divergence(lengths),
        parting=parting(lengths),
        curve=() if curve is None else _thinned(curve.lengths.tolist(), curve.after.tolist(), curve.longest),
        horizon=None
        if limit is None
        else Limit(limit.length, limit.low, limit.high, limit.limit_seen, limit.recommended_cap),
        latency_ms=float(np.median(warm)) if warm else None,
        note=stage.note,
    )


def texts(answers: Sequence[Taken]) -> Counter[str]:
    """How often each distinct answer came."""
    return Counter(answer.decoded.compared for answer in answers)


def divergences(stage: StageAnswers) -> dict[str, float]:
    """Share of differing pairs per question that has one."""
    found = {key: pair_counts(list(texts(answers).values())).divergence for key, answers in stage.by_question().items()}
    return {key: value for key, value in found.items() if value is not None}


def lengths_of(groups: Sequence[Sequence[Taken]]) -> tuple[list[AgreementLengths], bool]:
    """Agreement lengths per question, and whether every position is a real token."""
    lengths, all_known = [], bool(groups)
    for answers in groups:
        first = {answer.decoded.compared: answer for answer in reversed(answers)}
        seen = texts(answers)
        rows, known = tokens_of(list(first.values()))
        all_known = all_known and known
        capped = [answer.decoded.finish == "length" for answer in first.values()]
        lengths.append(agreement_lengths(rows, [seen[text] for text in first], capped))
    return lengths, all_known


def parting(lengths: Sequence[AgreementLengths]) -> tuple[tuple[int, int, float], ...]:
    """Where differing pairs part, in up to `BINS` equal bins; each question that differs weighs the same."""
    places = [(entry.lengths[~entry.censored], entry.weights[~entry.censored]) for entry in lengths]
    known = [(at, weight / weight.sum()) for at, weight in places if weight.sum() > 0]
    if not known:
        return ()
    step = -(-(max(int(at.max()) for at, _ in known) + 1) // BINS)
    shares = np.zeros(BINS)
    for at, weight in known:
        np.add.at(shares, at // step, weight / len(known))
    last = int(np.flatnonzero(shares)[-1])
    return tuple((i * step, (i + 1) * step, float(shares[i])) for i in range(last + 1))


def _thinned(lengths: Sequence[int], after: Sequence[float], longest: int) -> tuple[tuple[int, float], ...]:
    points = [(0, 1.0), *zip(lengths, after, strict=True)]
    if len(points) > CURVE_POINTS:
        picked = np.unique(np.linspace(0, len(points) - 1, CURVE_POINTS).round().astype(int))
        points = [points[i] for i in picked]
    return (*points, (longest, points[-1][1])) if longest > points[-1][0] else tuple(points)


def _evened(answers: Sequence[Taken]) -> list[int]:
    seen = texts(answers)
    return merged_counts([whitespace_normalised(text) for text in seen], list(seen.values()))


def _question(key: str, name: str, answers: Sequence[Taken]) -> QuestionRepeats:
    seen = texts(answers)
    counts = list(seen.values())
    parts_at, shared, one, other = None, "", "", ""
    if len(seen) > 1:
        (first, _), (second, _) = seen.most_common(2)
        pair = [next(answer for answer in answers if answer.decoded.compared == text) for text in (first, second)]
        (a, b), _ = tokens_of(pair)
        around = around_divergence(a, b, CONTEXT)
        if around is not None:
            parts_at = next(i for i in range(min(len(a), len(b)) + 1) if a[i : i + 1] != b[i : i + 1])
            shared, one, other = (_text(pieces) for pieces in around)
    return QuestionRepeats(
        key, name, len(answers), distinct(counts), pair_counts(counts).divergence, parts_at, shared, one, other
    )


def _text(pieces: Sequence[bytes]) -> str:
    return visible(b"".join(pieces).decode("utf-8", "replace"))
