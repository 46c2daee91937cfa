"""Near-ties: how many, how often two runs part there, and whether the forecast made of them holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from drift.answers import ScoredToken
from drift.checkup.taken import StageAnswers, Taken
from drift.measure.agreement import pair_counts
from drift.measure.intervals import Estimate, wilson_of_few_units
from drift.measure.near_ties import Forecast, check_forecast, flip_chances, noise, signed_margins

CLOSE = 0.1
"""Nats: the best token is at most 1.1 times as likely as the second."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NearTies:
    """`per_100`: close calls in 100 tokens. `parting`: P(two runs that agree until a close call part there), over
    questions; `flip_rate`: the chance behind it that one run takes the other token, (1 - sqrt(1 - 2 parting)) / 2.

    `sigma`: noise of the margin in nats. `forecast`: chances from the first half of the answers against the second.
    """

    per_100: float | None
    close_calls: int
    tokens: int
    parting: Estimate | None
    flip_rate: Estimate | None
    sigma: float | None
    expected_at_risk: int
    forecast: Forecast | None


def near_ties(stage: StageAnswers) -> NearTies | None:
    """None where answers come without the scores of two candidates."""
    groups = [
        scored for answers in stage.by_question().values() if len(scored := [a for a in answers if _has_two(a)]) >= 2
    ]
    if not groups:
        return None
    margins = [_margins(answer.decoded.tokens or ()) for group in groups for answer in group]
    tokens = sum(int(np.isfinite(row).sum()) for row in margins)
    close = sum(int((row < CLOSE).sum()) for row in margins)
    parting = _parting(groups)
    sigma, at_risk, forecast = _forecast(groups)
    return NearTies(
        per_100=100 * close / tokens if tokens else None,
        close_calls=close,
        tokens=tokens,
        parting=parting,
        flip_rate=flip_rate(parting) if parting else None,
        sigma=sigma,
        expected_at_risk=at_risk,
        forecast=forecast,
    )


def flip_rate(parting: Estimate) -> Estimate:
    """The chance that one run takes the other of two tokens, from the chance that two runs part: h = 2 f (1 - f)."""
    value, low, high = (
        (1 - sqrt(max(0.0, 1 - 2 * min(share, 0.5)))) / 2 for share in (parting.value, parting.low, parting.high)
    )
    return Estimate(value, low, high, parting.n)


def _has_two(answer: Taken) -> bool:
    return any(len(token.top) > 1 for token in answer.decoded.tokens or ())


def _margins(tokens: Sequence[ScoredToken]) -> Floats:
    """Best minus second best logprob by position; NaN where unknown."""
    values = []
    for token in tokens:
        best = sorted((score for _, score in token.top if score is not None), reverse=True)
        values.append(best[0] - best[1] if len(best) > 1 else np.nan)
    return np.array(values, dtype=np.float64)


def _parting(groups: Sequence[Sequence[Taken]]) -> Estimate | None:
    shares, disjoint = [], 0
    for answers in groups:
        differing = total = 0
        for fork in _close_forks([answer.decoded.tokens or () for answer in answers]):
            pairs = pair_counts(list(fork.values()))
            differing, total, disjoint = differing + pairs.differing, total + pairs.total, disjoint + pairs.disjoint
        if total:
            shares.append(differing / total)
    return wilson_of_few_units(shares, total=disjoint)


def _close_forks(answers: Sequence[Sequence[ScoredToken]]) -> list[Counter[bytes]]:
    """What answers say next at each close call, answers that agree so far counted together."""
    forks: list[Counter[bytes]] = []
    waiting = [(0, list(answers))]
    while waiting:
        position, group = waiting.pop()
        while len(group := [tokens for tokens in group if len(tokens) > position]) > 1:
            said = Counter(tokens[position].text for tokens in group)
            if float(np.nanmedian([_margin(tokens[position]) for tokens in group])) < CLOSE:
                forks.append(said)
            if len(said) > 1:
                for text in said:
                    waiting.append((position + 1, [t for t in group if t[position].text == text]))
                break
            position += 1
    return forks


def _margin(token: ScoredToken) -> float:
    best = sorted((score for _, score in token.top if score is not None), reverse=True)
    return best[0] - best[1] if len(best) > 1 else float("inf")


def _forecast(groups: Sequence[Sequence[Taken]]) -> tuple[float | None, int, Forecast | None]:
    """(noise, positions at risk, how the forecast held). Margins and noise from the first half of each question's
    answers on the part those share; flips from the second half, each answer until its first.
    """
    blocks, later = [], []
    for answers in groups:
        half = len(answers) // 2
        first = [answer.decoded.tokens or () for answer in answers[:half]]
        if half < 2:
            continue
        shared = _shared(first)
        if shared:
            blocks.append(_signed(first, shared))
            later.append((first[0][:shared], [answer.decoded.tokens or () for answer in answers[half:]]))
    if not blocks:
        return None, 0, None
    rows = max(block.shape[0] for block in blocks)
    table = np.concatenate(
        [np.pad(block, ((0, rows - block.shape[0]), (0, 0)), constant_values=np.nan) for block in blocks], axis=1
    )
    found = noise(table)
    if found is None:
        return None, 0, None
    chances: list[float] = []
    flipped: list[bool] = []
    at_risk = 0
    for block, (usual, runs) in zip(blocks, later, strict=True):
        known = np.isfinite(block).any(axis=0)
        means = np.where(known, np.nanmean(np.where(known, block, 0.0), axis=0), np.nan)
        mine = flip_chances(np.abs(means), found.sigma, block.shape[0])
        at_risk += int((mine >= 0.01).sum())
        for tokens in runs:
            for position, token in enumerate(usual):
                if position >= len(tokens):
                    break
                flips = tokens[position].text != token.text
                chances.append(float(mine[position]))
                flipped.append(flips)
                if flips:
                    break
    return found.sigma, at_risk, check_forecast(np.array(chances), np.array(flipped, dtype=np.bool_))


def _shared(answers: Sequence[Sequence[ScoredToken]]) -> int:
    """Leading tokens that all the answers have in common."""
    shortest = min(map(len, answers))
    return next(
        (i for i in range(shortest) if len({tokens[i].text for tokens in answers}) > 1),
        shortest,
    )


def _signed(answers: Sequence[Sequence[ScoredToken]], shared: int) -> Floats:
    """log p(u) - log p(v) of the first answer's two best tokens in each answer, float64[R, shared]."""
    first, second = np.full((2, len(answers), shared), np.nan)
    for position in range(shared):
        ranked = sorted(((score, text) for text, score in answers[0][position].top if score is not None), reverse=True)
        if len(ranked) < 2:
            continue
        u, v = ranked[0][1], ranked[1][1]
        for row, tokens in enumerate(answers):
            scores = dict(tokens[position].top)
            a, b = scores.get(u), scores.get(v)
            if a is not None and b is not None:
                first[row, position], second[row, position] = a, b
    return signed_margins(first, second)
