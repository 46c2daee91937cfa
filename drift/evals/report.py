"""What one arm's answers say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from drift import figures
from drift.evals.answers import Answer, ArmAnswers, CaseAnswers, identities
from drift.evals.branches import Tree, tree_of
from drift.measure.agreement import answer_counts, equal_repeats, total_agreement_rate
from drift.measure.evals.arm import ArmScore, arm_score
from drift.measure.evals.cases import PASS_MARK
from drift.measure.evals.exchangeability import Rounds, rounds_alike
from drift.measure.evals.noise import JudgeNoise, Spread, judge_noise, spread
from drift.measure.intervals import Estimate, at_most, wilson
from drift.measure.repeats import pass_all, pass_at

DEEPER_REPEATS = 20  # a case seen to flip is worth asking this often


@dataclass(frozen=True, slots=True)
class FlippingCase:
    """A case that did not always score the same. `chance`: its pass rate with Wilson's interval over its answers."""

    case: CaseAnswers
    passes: int
    scored: int
    mean: float
    chance: Estimate

    def tree(self) -> Tree | None:
        return tree_of(self.case.answers)

    @property
    def closest(self) -> bool:
        """Right about as often as wrong."""
        return abs(self.mean - 0.5) <= 0.2


@dataclass(frozen=True, slots=True)
class PassRate:
    """pass@k and pass^k over the cases that have k scored answers."""

    k: int
    one_of: float
    all_of: float
    cases: int


@dataclass(frozen=True, slots=True)
class Part:
    """A subset of the cases by itself."""

    name: str
    score: ArmScore
    rounds: tuple[float, ...]
    passes: tuple[int, ...]
    flipping: int
    cases: int
    best: int
    worst: int
    raw_agreement: float | None


@dataclass(frozen=True, slots=True)
class ArmReport:
    """`score` None: nothing was scored. `steady_bound`: the flip rate that 'no flip seen' still allows in one case."""

    name: str
    score: ArmScore | None
    spread: Spread | None
    passes: tuple[PassRate, ...]
    flipping: tuple[FlippingCase, ...]
    cases: int
    unscored_cases: tuple[CaseAnswers, ...]
    answers: int
    scored: int
    repeats: tuple[int, int]
    unscored: tuple[tuple[str, int], ...]
    rounds: Rounds | None
    identities: tuple[tuple[str, int], ...]
    raw_agreement: Estimate | None
    parsed_agreement: Estimate | None
    judge: JudgeNoise | None
    steady_bound: float | None
    parts: tuple[Part, ...]
    void: str
    baseline: str

    @property
    def flip_rate(self) -> Estimate | None:
        """Share of repeated cases that flipped, over cases."""
        repeated = self.cases - len(self.unscored_cases)
        return wilson(len(self.flipping), repeated) if repeated and self.repeats[1] > 1 else None

    @property
    def mixed_identity(self) -> bool:
        return len(self.identities) > 1


def report(arm: ArmAnswers) -> ArmReport:
    """All figures of one arm. Unscored answers are counted apart and enter no score."""
    scored = arm.scored
    numbers = arm.numbers
    counts = [len(case.scores) for case in scored]
    answers = [answer for case in arm.cases for answer in case.answers]
    return ArmReport(
        name=arm.name,
        score=arm_score(numbers),
        spread=spread(numbers) if scored else None,
        passes=pass_rates(scored),
        flipping=flipping_cases(scored),
        cases=len(arm.cases),
        unscored_cases=tuple(case for case in arm.cases if not case.scores),
        answers=len(answers),
        scored=sum(counts),
        repeats=(min(counts, default=0), max(counts, default=0)),
        unscored=reasons(answers),
        rounds=rounds_alike(arm.rounds()) if arm.cases else None,
        identities=tuple(identities(arm).items()),
        raw_agreement=agreement(scored, parsed=False),
        parsed_agreement=agreement(scored, parsed=True),
        judge=judge_noise([answer.verdicts for answer in answers if answer.verdicts]),
        steady_bound=at_most(min(counts)) if counts else None,
        parts=tuple(part(name, subset) for name, subset in arm.subsets.items() if subset.scored),
        void=arm.void,
        baseline=arm.baseline,
    )


def part(name: str, arm: ArmAnswers) -> Part:
    score = arm_score(arm.numbers)
    if score is None:
        raise ValueError(f"no answer of {name} was scored")
    passed = [[s >= PASS_MARK - 1e-9 for s in case.scores] for case in arm.scored]
    table = arm.rounds()
    agreed = agreement(arm.scored, parsed=False)
    counted = (table >= PASS_MARK - 1e-9).sum(axis=0)
    known = (table == table).sum(axis=0)
    return Part(
        name=name,
        score=score,
        rounds=tuple(float(c / k) if k else 0.0 for c, k in zip(counted, known, strict=True)),
        passes=tuple(int(c) for c in counted),
        flipping=len(flipping_cases(arm.scored)),
        cases=len(arm.scored),
        best=sum(any(case) for case in passed),
        worst=sum(all(case) for case in passed),
        raw_agreement=agreed.value if agreed else None,
    )


def pass_rates(cases: Sequence[CaseAnswers]) -> tuple[PassRate, ...]:
    """For k = 1 .. the commonest number of answers, over the cases that have k; at most 8 values of k are shown."""
    counts = [(sum(s >= PASS_MARK - 1e-9 for s in case.scores), len(case.scores)) for case in cases]
    if not counts:
        return ()
    usual = sorted(n for _, n in counts)[len(counts) // 2]
    steps = range(1, usual + 1) if usual <= 8 else sorted({1, 2, 3, 5, 8, usual // 2, usual})
    rates = []
    for k in steps:
        kept = [(c, n) for c, n in counts if n >= k]
        passes, repeats = [c for c, _ in kept], [n for _, n in kept]
        one_of, all_of = pass_at(k, passes, repeats), pass_all(k, passes, repeats)
        if one_of is not None and all_of is not None:
            rates.append(PassRate(k, one_of, all_of, len(kept)))
    return tuple(rates)


def flipping_cases(cases: Sequence[CaseAnswers]) -> tuple[FlippingCase, ...]:
    """Those that did not always score the same, the ones nearest to even first."""
    found = []
    for case in cases:
        scores = case.scores
        if len(scores) < 2 or max(scores) - min(scores) < 1e-9:
            continue
        passes = sum(score >= PASS_MARK - 1e-9 for score in scores)
        chance = wilson(passes, len(scores))
        if chance is not None:
            found.append(FlippingCase(case, passes, len(scores), sum(scores) / len(scores), chance))
    return tuple(sorted(found, key=lambda flip: (abs(flip.mean - 0.5), flip.case.key)))


def reasons(answers: Sequence[Answer]) -> tuple[tuple[str, int], ...]:
    """Why answers are unscored, the commonest first."""
    counts: dict[str, int] = {}
    for answer in answers:
        if answer.score is None:
            word = figures.words(answer.outcome) if answer.outcome not in ("text", "tool_calls") else answer.why
            word = word[:120] or gettext("not graded")
            counts[word] = counts.get(word, 0) + 1
    return tuple(sorted(counts.items(), key=lambda item: -item[1]))


def agreement(cases: Sequence[CaseAnswers], parsed: bool) -> Estimate | None:
    """TARa@N over what graders extracted (`parsed`), else TARr@N over raw texts; None unless N is the same for all."""
    counts = []
    for case in cases:
        texts = [answer.extracted or None if parsed else answer.text for answer in case.answers]
        if not any(text is not None for text in texts):
            return None
        counts.append(answer_counts(texts))
    return total_agreement_rate(counts) if counts and (equal_repeats(counts) or 0) > 1 else None
