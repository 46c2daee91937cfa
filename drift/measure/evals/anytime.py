"""Stopping early by evidence that stays valid at every look. Testing after every round with a p-value does not:
three looks make a 5 % test a 10 % one, ten looks an 18 % one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from drift.measure.evals.cases import PASS_MARK
from drift.measure.paired import discordant_evidence


@dataclass(frozen=True, slots=True)
class Discordance:
    """Pairs of answers (one case, one round) of which exactly one is right. Scope: exactly these cases."""

    a_only: int
    b_only: int

    @property
    def evidence(self) -> float:
        return discordant_evidence(self.a_only, self.b_only)

    def decided(self, alpha: float) -> bool:
        """Whether one may stop: evidence of 1 / alpha or more, however often one looked before (Ville)."""
        return self.evidence >= 1 / alpha


def discordance(pairs: Iterable[tuple[float, float]]) -> Discordance:
    """Counts the discordant among pairs of scores (arm A, arm B)."""
    a_only = b_only = 0
    for a, b in pairs:
        right_a, right_b = a >= PASS_MARK - 1e-9, b >= PASS_MARK - 1e-9
        a_only += right_a and not right_b
        b_only += right_b and not right_a
    return Discordance(a_only, b_only)
