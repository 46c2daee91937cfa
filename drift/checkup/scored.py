"""Own answers scored again: is what was sampled numerically what a second pass computes?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drift.checkup.taken import Examination, Kind, Taken
from drift.measure.logprob_drift import compare_bits


@dataclass(frozen=True, slots=True)
class Scored:
    """Log probabilities of generated tokens against those of the same tokens given back and scored.

    `differing` of `tokens` differ in their bits; `largest_gap`, `mean_gap` in nats; `kl` estimates KL(sampler ||
    trainer) per token: mean of exp(d) - 1 - d with d = scored - sampled (Schulman's k3). `unmatched`: answers whose
    tokens came back split otherwise, which say nothing.
    """

    answers: int
    unmatched: int
    tokens: int
    differing: int
    largest_gap: float | None
    mean_gap: float | None
    kl: float | None

    @property
    def exact(self) -> bool:
        return self.tokens > 0 and self.differing == 0


def scored(examination: Examination) -> Scored | None:
    """None where the endpoint cannot score given tokens, or was not asked to."""
    stage = examination.stage(Kind.SCORED)
    if stage is None:
        return None
    pairs: dict[str, dict[int, Taken]] = {}
    for answer in stage.answers:
        if answer.decoded.tokens:
            pairs.setdefault(answer.question, {})[answer.repeat % 2] = answer
    sampled: list[float] = []
    again: list[float] = []
    matched = unmatched = 0
    for pair in pairs.values():
        if set(pair) != {0, 1}:
            continue
        ours, theirs = pair[0].decoded.tokens or (), pair[1].decoded.tokens or ()
        tail = theirs[len(theirs) - len(ours) :]
        if [one.text for one in tail] != [one.text for one in ours]:
            unmatched += 1
            continue
        matched += 1
        for one, other in zip(ours, tail, strict=True):
            if one.logprob is not None and other.logprob is not None:
                sampled.append(one.logprob)
                again.append(other.logprob)
    if not matched and not unmatched:
        return None
    a, b = np.array(sampled), np.array(again)
    found = compare_bits(a, b)
    d = b - a
    return Scored(
        answers=matched,
        unmatched=unmatched,
        tokens=found.total,
        differing=found.differing,
        largest_gap=float(np.abs(d).max()) if d.size else None,
        mean_gap=float(np.abs(d).mean()) if d.size else None,
        kl=float((np.expm1(d) - d).mean()) if d.size else None,
    )
