"""What a grader found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grade:
    """`score` in [0, 1]; None: it could not be scored, which is no fail. `extracted`: the part that was judged."""

    score: float | None
    extracted: str = ""
    why: str = ""


def right_or_wrong(passed: bool, extracted: str, why: str = "") -> Grade:
    return Grade(1.0 if passed else 0.0, extracted, why)
