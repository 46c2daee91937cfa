"""What two arms' answers say: paired by case, in two scopes, with what stands in the way of a verdict."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from django.utils.translation import gettext

from drift import figures
from drift.evals.answers import ArmAnswers, CaseAnswers, identities
from drift.measure.evals import several
from drift.measure.evals.anytime import Discordance, discordance
from drift.measure.evals.arm import arm_score
from drift.measure.evals.planning import detectable_by, repeats_needed
from drift.measure.evals.scopes import Difference, Scope, on_cases_like_these, on_exactly_these_cases, unpaired
from drift.measure.evals.verdict import judge
from drift.measure.paired import NO_PILOT, DifferenceNoise, Verdict, cases_needed, difference_noise

SHARED_ENOUGH = 0.9
MARGIN = 0.03
PERMUTATIONS = 2_000
MOST_IN_FAMILY = 8


@dataclass(frozen=True, slots=True)
class Needs:
    """What would settle an inconclusive comparison at a difference of `goal`; None: nothing of that kind would."""

    goal: float
    cases: int | None
    repeats: int | None


@dataclass(frozen=True, slots=True)
class MovedCase:
    """A case whose pass counts moved most between the arms: a candidate to ask again, never a verdict."""

    key: str
    question: str
    passes_a: int
    scored_a: int
    passes_b: int
    scored_b: int
    p: float
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class Stratum:
    """The difference among answers of one identity alone."""

    identity: str
    difference: Difference


@dataclass(frozen=True, slots=True)
class Comparison:
    """A minus B. `like`, `these`: the two scopes; `scope` says which one the verdict is by.

    `confounded`: why the difference may not be the arms'; `strata`: the figures per identity then. `shared` of `total`
    cases are in both arms; under 90 % they are not paired. `asked_otherwise`: shared ones whose prompts are known
    to differ.
    """

    a: str
    b: str
    like: Difference | None
    these: Difference | None
    scope: Scope
    margin: float
    verdict: Verdict
    p_adjusted: float | None
    family: int
    shared: int
    total: int
    asked_otherwise: int
    noise: DifferenceNoise | None
    smallest: float | None
    needs: Needs | None
    overlap: bool | None
    correlation: float | None
    confounded: tuple[str, ...]
    strata: tuple[Stratum, ...]
    discordance: Discordance
    moved: tuple[MovedCase, ...]

    @property
    def deciding(self) -> Difference | None:
        return self.these if self.scope is Scope.THESE else self.like

    @property
    def void(self) -> bool:
        return bool(self.confounded)


def compare(
    a: ArmAnswers, b: ArmAnswers, margin: float = MARGIN, scope: Scope | None = None, permutations: int = PERMUTATIONS
) -> Comparison:
    """Compares two arms. `scope` None: exactly these cases where both are one endpoint, else cases like these."""
    chosen = scope or (Scope.THESE if two_dates(a, b) else Scope.SAMPLE)
    pairs, total = paired_cases(a, b)
    enough = bool(total) and len(pairs) / total >= SHARED_ENOUGH
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(f"{a.name}\0{b.name}".encode()).digest()[:8]))
    like, these = differences(pairs, rng, permutations) if enough else (None, None)
    if not enough and a.scored and b.scored:
        like, chosen = unpaired(a.numbers, b.numbers), Scope.SAMPLE
    if chosen is Scope.THESE and these is None:
        chosen = Scope.SAMPLE
    deciding = these if chosen is Scope.THESE else like
    verdict = judge(deciding, margin) if deciding else Verdict.INCONCLUSIVE
    left, right = _arms_of(pairs)
    noise = difference_noise([c.scores for c in left], [c.scores for c in right]) if pairs else None
    error = deciding.error if deciding else None
    why = confounders(a, b)
    return Comparison(
        a=a.name,
        b=b.name,
        like=like,
        these=these,
        scope=chosen,
        margin=margin,
        verdict=verdict,
        p_adjusted=None,
        family=1,
        shared=len(pairs),
        total=total,
        asked_otherwise=sum(_asked_otherwise(x, y) for x, y in pairs),
        noise=noise,
        smallest=detectable_by(error) if error else None,
        needs=_needs(noise, deciding, margin, len(pairs)) if verdict is Verdict.INCONCLUSIVE else None,
        overlap=_overlap(a, b),
        correlation=_correlation(pairs),
        confounded=why,
        strata=_strata(a, b, permutations) if why else (),
        discordance=discordance(_answer_pairs(pairs)),
        moved=_moved(pairs),
    )


def compare_all(arms: Sequence[ArmAnswers], margin: float = MARGIN, scope: Scope | None = None) -> list[Comparison]:
    """Every pair of arms, verdicts corrected by Holm over the family."""
    found = [compare(a, b, margin, scope) for a, b in combinations(arms, 2)]
    known = [comparison for comparison in found if comparison.deciding]
    adjusted = iter(several.holm([c.deciding.p for c in known if c.deciding]))
    corrected = []
    for comparison in found:
        if comparison.deciding is None or len(known) < 2:
            corrected.append(comparison)
            continue
        p = next(adjusted)
        verdict = judge(comparison.deciding, margin, p)
        corrected.append(replace(comparison, p_adjusted=p, family=len(known), verdict=verdict))
    return corrected


def compare_in_family(
    arms: Sequence[ArmAnswers], a: int, b: int, margin: float = MARGIN, scope: Scope | None = None
) -> Comparison:
    """Two arms of several, the verdict corrected over all pairs where there are at most `MOST_IN_FAMILY` arms."""
    family = compare_all(arms, margin, scope) if 2 < len(arms) <= MOST_IN_FAMILY else []
    corrected = next((c for c in family if (c.a, c.b) == (arms[a].name, arms[b].name)), None)
    return corrected or compare(arms[a], arms[b], margin, scope)


def differences(
    pairs: Sequence[tuple[CaseAnswers, CaseAnswers]], rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> tuple[Difference | None, Difference | None]:
    """The difference over paired cases in both scopes. Groups of cases, where named, make the general one wider."""
    if not pairs:
        return None, None
    left, right = _arms_of(pairs)
    a, b = ArmAnswers("", tuple(left)).numbers, ArmAnswers("", tuple(right)).numbers
    clusters = [case.cluster or case.key for case in left]
    grouped = clusters if len(set(clusters)) < len(clusters) else None
    return on_cases_like_these(a, b, rng, grouped, permutations), on_exactly_these_cases(a, b, rng, permutations)


def paired_cases(a: ArmAnswers, b: ArmAnswers) -> tuple[list[tuple[CaseAnswers, CaseAnswers]], int]:
    """Cases scored in both arms by key, and how many there are in either. Cases asked otherwise still pair by key: the
    prompt is what a comparison of prompts varies.
    """
    mine, theirs = {case.key: case for case in a.scored}, {case.key: case for case in b.scored}
    return [(mine[key], theirs[key]) for key in mine if key in theirs], len(mine.keys() | theirs.keys())


def confounders(a: ArmAnswers, b: ArmAnswers) -> tuple[str, ...]:
    """What else than the arms may have made the difference: identities that changed within an arm, or between arms of
    one endpoint; a baseline that was not valid.
    """
    found = []
    for arm in (a, b):
        seen = identities(arm)
        if len(seen) > 1:
            shares = figures.listed(
                gettext("{name} ({number})").format(name=name, number=count) for name, count in list(seen.items())[:4]
            )
            found.append(
                gettext("{arm} was answered by {number} identities: {shares}").format(
                    arm=arm.name, number=len(seen), shares=shares
                )
            )
        if arm.void:
            found.append(gettext("{arm}: {problem}").format(arm=arm.name, problem=arm.void))
    mine, theirs = set(identities(a)), set(identities(b))
    if a.endpoint and a.endpoint == b.endpoint and mine and theirs and mine != theirs and not two_dates(a, b):
        found.append(
            gettext("one endpoint, but {a} was answered by {mine} and {b} by {theirs}").format(
                a=a.name, mine=_names(mine), b=b.name, theirs=_names(theirs)
            )
        )
    return tuple(found)


def _names(identities_: set[str]) -> str:
    return ", ".join(sorted(identities_)[:3])


def _strata(a: ArmAnswers, b: ArmAnswers, permutations: int) -> tuple[Stratum, ...]:
    found = []
    for identity in sorted(set(identities(a)) & set(identities(b))):
        pairs, _ = paired_cases(_only(a, identity), _only(b, identity))
        like, _ = differences(pairs, np.random.default_rng(0), permutations)
        if like is not None:
            found.append(Stratum(identity, like))
    return tuple(found)


def _only(arm: ArmAnswers, identity: str) -> ArmAnswers:
    kept = [replace(c, answers=tuple(x for x in c.answers if x.identity == identity)) for c in arm.cases]
    return replace(arm, cases=tuple(kept))


def _arms_of(pairs: Sequence[tuple[CaseAnswers, CaseAnswers]]) -> tuple[list[CaseAnswers], list[CaseAnswers]]:
    return [a for a, _ in pairs], [b for _, b in pairs]


def two_dates(a: ArmAnswers, b: ArmAnswers) -> bool:
    """Whether both arms are one endpoint asked alike at two times: then an identity that changed is no confounder but
    what the comparison may find.
    """
    return bool(a.setup) and a.setup == b.setup and _same_prompts(a, b)


def _same_prompts(a: ArmAnswers, b: ArmAnswers) -> bool:
    pairs, _ = paired_cases(a, b)
    return not any(_asked_otherwise(x, y) for x, y in pairs)


def _asked_otherwise(a: CaseAnswers, b: CaseAnswers) -> bool:
    return bool(a.prompt_digest and b.prompt_digest and a.prompt_digest != b.prompt_digest)


def _needs(noise: DifferenceNoise | None, found: Difference | None, margin: float, cases: int) -> Needs:
    """What it takes to see the observed difference, or the margin where that is larger. Without a pilot: rough."""
    observed = abs(found.estimate.value) if found else 0.0
    goal = max(observed, margin)
    pilot = noise or NO_PILOT
    repeats = repeats_needed(pilot, goal, cases) if cases else None
    return Needs(goal, cases_needed(pilot, goal, 5), repeats)


def _overlap(a: ArmAnswers, b: ArmAnswers) -> bool | None:
    one, other = arm_score(a.numbers), arm_score(b.numbers)
    if one is None or other is None:
        return None
    return one.estimate.low <= other.estimate.high and other.estimate.low <= one.estimate.high


def _correlation(pairs: Sequence[tuple[CaseAnswers, CaseAnswers]]) -> float | None:
    """Of the case means: what pairing gains. None where an arm does not vary."""
    means = np.array([[np.mean(a.scores), np.mean(b.scores)] for a, b in pairs])
    if len(means) < 3 or np.ptp(means, axis=0).min() < 1e-12:
        return None
    return float(np.corrcoef(means.T)[0, 1])


def _answer_pairs(pairs: Sequence[tuple[CaseAnswers, CaseAnswers]]) -> list[tuple[float, float]]:
    """Scores of both arms in the same round of the same case."""
    found = []
    for a, b in pairs:
        theirs = {answer.round: answer.score for answer in b.answers}
        for answer in a.answers:
            other = theirs.get(answer.round)
            if answer.score is not None and other is not None:
                found.append((answer.score, other))
    return found


def _moved(pairs: Sequence[tuple[CaseAnswers, CaseAnswers]]) -> tuple[MovedCase, ...]:
    """Cases with different pass counts, the most telling first; p by Fisher, corrected by Benjamini-Hochberg."""
    counted = [(a, b, _passes(a), _passes(b)) for a, b in pairs]
    raw = [several.fisher_p(x, len(a.scores), y, len(b.scores)) for a, b, x, y in counted]
    adjusted = several.benjamini_hochberg(raw) if raw else []
    moved = [
        MovedCase(a.key, a.question, x, len(a.scores), y, len(b.scores), p, q)
        for (a, b, x, y), p, q in zip(counted, raw, adjusted, strict=True)
        if x * len(b.scores) != y * len(a.scores)
    ]
    return tuple(sorted(moved, key=lambda case: (case.p, case.key)))


def _passes(case: CaseAnswers) -> int:
    return sum(score >= 1 - 1e-9 for score in case.scores)
