"""Stopping early by evidence that stays valid at every look. Testing after every round with a p-value does not:
three looks make a 5 % test a 10 % one, ten looks an 18 % one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log

from scipy.special import betaln

from drift.measure.evals.cases import PASS_MARK


def evidence(a_only: int, b_only: int) -> float:
    """The e-value against 'a discordant pair falls either way alike': 2^(a+b) B(a + 1/2, b + 1/2) / B(1/2, 1/2).

    `a_only`: pairs (one case, one round) that only arm A got right; `b_only`: only arm B. Stop when it reaches
    1 / alpha: false alarms stay under alpha however often one looks (Ville). Scope: exactly these cases.
    """
    if min(a_only, b_only) < 0:
        raise ValueError(f"counts cannot be negative: {a_only}, {b_only}")
    return exp((a_only + b_only) * log(2) + float(betaln(a_only + 0.5, b_only + 0.5) - betaln(0.5, 0.5)))


@dataclass(frozen=True, slots=True)
class Discordance:
    """Pairs of answers to one case in one round of which exactly one is right."""

    a_only: int
    b_only: int

    @property
    def evidence(self) -> float:
        return evidence(self.a_only, self.b_only)

    def decided(self, alpha: float) -> bool:
        return self.evidence >= 1 / alpha


def discordance(pairs: Iterable[tuple[float, float]]) -> Discordance:
    """Counts discordant pairs of scores (arm A, arm B)."""
    a_only = b_only = 0
    for a, b in pairs:
        right_a, right_b = a >= PASS_MARK - 1e-9, b >= PASS_MARK - 1e-9
        a_only += right_a and not right_b
        b_only += right_b and not right_a
    return Discordance(a_only, b_only)
