"""The report in sentences: the same on a page, in a file and in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drift import figures
from drift.checkup.load import Difference
from drift.measure.identity import IdentityKind
from drift.measure.intervals import Estimate, at_most

if TYPE_CHECKING:
    from drift.checkup.repeats import Repeats
    from drift.checkup.report import Report


def verdict(report: Report) -> tuple[str, ...]:
    """Three sentences: how far it repeats, what moves it, what to do."""
    quiet = report.quiet
    if quiet is None or quiet.divergence is None:
        return (nothing(report), what_moves(report)) if report.caching.cached else (nothing(report),)
    return repeats_in_words(report.name, quiet), what_moves(report), what_to_do(report)


def nothing(report: Report) -> str:
    quiet = report.quiet
    if quiet is None or not quiet.asked:
        return f"{report.name} was not asked anything yet."
    why = ", ".join(f"{figures.count(n)} {kind.replace('_', ' ')}" for kind, n in quiet.outcomes[:3])
    return f"{report.name} gave no two answers that can be compared: {why}."


def repeats_in_words(name: str, quiet: Repeats) -> str:
    """'Two answers of X to one question differ in 31.2 % of pairs (27.0 – 35.6 %); the first 24 tokens repeat.'"""
    if not quiet.pairs_differing:
        bound = at_most(quiet.pairs_disjoint)
        allowed = f"; up to {figures.percent(bound)} could, unseen" if bound else ""
        return (
            f"{name} gave every question the same answer each time: "
            f"0 of {figures.plural(quiet.pairs, 'pair')} differ{allowed}."
        )
    found = quiet.divergence
    share = share_of(found) if found else figures.NONE
    return f"Two answers of {name} to one question differ in {share} of pairs; {horizon_in_words(quiet)}."


def horizon_in_words(quiet: Repeats) -> str:
    limit = quiet.horizon
    if limit is None:
        return "how long they agree is not known"
    if not limit.length:
        return "not even the first word is sure to repeat"
    unit = figures.token_word(limit.length, quiet.tokens_known)
    if not limit.limit_seen:
        return f"they agree over all {figures.count(limit.length)} {unit} with 95 %"
    if limit.length == 1:
        return f"only the first {unit} is sure to repeat"
    return f"the first {figures.count(limit.length)} {unit} repeat with 95 %"


def what_moves(report: Report) -> str:
    """The gravest of what was found to move the answers; where nothing was, what could not have been missed."""
    if report.caching.cached:
        share = figures.percent(report.caching.share.value) if report.caching.share else figures.NONE
        return f"{share} of its answers came out of a cache of answers and prove nothing about the model behind it."
    if report.recorded:
        return f"Who answered: {names_in_words(report)}."
    moving = [one for one in report.under_load if one.matters]
    if moving:
        worst = max(moving, key=lambda one: one.difference.estimate.value if one.difference else 0.0)
        if worst.difference is not None and worst.difference.estimate.low > 0:
            return f"Load matters: at {worst.concurrency} in flight {change_in_words(worst.difference.estimate)}."
        return (
            f"Load matters: answers at {worst.concurrency} in flight are others than quiet ones "
            f"({points(worst.across.value if worst.across else None)} points more pairs differ across than within)."
        )
    if report.prefix is not None and report.prefix.excess is not None and report.prefix.excess.low > 0:
        return (
            "A cold prefix gives another answer than a warm one: "
            f"{points(report.prefix.excess.value)} points more pairs differ."
        )
    return f"{load_in_words(report)} {seed_in_words(report)}".strip()


def load_in_words(report: Report) -> str:
    known = [(one.concurrency, one.difference.estimate) for one in report.under_load if one.difference is not None]
    if not known:
        return ""
    concurrency, found = known[-1]
    reach = max(abs(found.low), abs(found.high))
    return f"Load made no difference up to {concurrency} in flight; one above {reach * 100:.0f} points would show."


def seed_in_words(report: Report) -> str:
    seed = report.seed
    if seed.word == "refused":
        return "It refuses a seed."
    if seed.word == "repeats":
        return "A seed makes sampling at temperature 1 repeat."
    if seed.word == "lowers" and seed.hot is not None:
        lowered = seed.hot.estimate.value * 100
        return f"A seed lowers the divergence of sampling by {lowered:.0f} points, not to zero."
    if seed.word == "ignored":
        return "It takes a seed and ignores it."
    if seed.word == "no_effect" and seed.hot is not None:
        return f"A seed had no effect that could be seen ({difference(seed.hot)})."
    return ""


def load_or_not(report: Report) -> str:
    """The sentence over the table of loads."""
    if any(one.matters for one in report.under_load):
        return what_moves(report) if not report.caching.cached else "Load changes the answers."
    return load_in_words(report) or "Not enough data to tell."


def length_in_words(report: Report) -> str:
    """What a larger cap costs in agreement."""
    found = report.length
    if found is None or found.asked is None or found.gained is None or report.quiet is None:
        return "Pairs of quiet answers that differ within so many tokens."
    if found.gained.estimate.low > 0:
        return f"From cap {found.asked.cap} to {report.quiet.max_tokens}: {change_in_words(found.gained.estimate)}."
    return (
        f"From cap {found.asked.cap} to {report.quiet.max_tokens} no rise could be seen ({difference(found.gained)})."
    )


def greedy_in_words(report: Report) -> str:
    """Whether it takes the best token at temperature 0."""
    found = report.greedy
    hotter = f" At temperature 1 instead: {difference(found.hotter)}." if found.hotter else ""
    if found.word == "greedy":
        return f"Yes: each of {figures.count(found.tokens)} tokens was the best by its own scores.{hotter}"
    if found.word == "close_calls" and found.not_best:
        return (
            f"But for close calls: {figures.percent(found.not_best.value)} of tokens were not the best by its own "
            f"scores, none worse by more than {found.given_away:.2g} nats.{hotter}"
        )
    if found.word == "samples" and found.not_best:
        return (
            f"No: {figures.percent(found.not_best.value)} of tokens were not the best by its own scores, the worst by "
            f"{found.given_away:.2g} nats.{hotter}"
        )
    return f"Not known: its answers carry no scores of two candidates, or it does not take temperature 0.{hotter}"


def what_to_do(report: Report) -> str:
    quiet = report.quiet
    if quiet is not None and not quiet.pairs_differing:
        return "Single answers may be compared while conditions stay as measured here; keep watching it."
    limit = quiet.horizon if quiet else None
    cap = (
        f"keep answers that must repeat under {limit.recommended_cap} tokens, "
        if limit and limit.recommended_cap and limit.limit_seen
        else ""
    )
    return f"Never trust one answer: {cap}ask evals at least five times, and compare with error bars."


def names_in_words(report: Report) -> str:
    found = report.identities
    kinds = {
        IdentityKind.ABSENT: "it never says",
        IdentityKind.CONSTANT: "one name throughout",
        IdentityKind.STABLE_SET: f"{found.distinct} names in turn",
        IdentityKind.CHURNING: "ever new names",
        IdentityKind.UNKNOWN: "too few answers to say",
    }
    return kinds[IdentityKind(found.kind)]


def difference(found: Difference) -> str:
    """'+12.0 points [+5.1, +18.9], p = .003'."""
    estimate = found.estimate
    p = "p < .001" if found.p < 0.001 else f"p = {found.p:.3f}".replace("0.", ".")
    return f"{points(estimate.value)} points [{points(estimate.low)}, {points(estimate.high)}], {p}"


def change_in_words(estimate: Estimate) -> str:
    word = "more" if estimate.value > 0 else "fewer"
    low, high = sorted((abs(estimate.low), abs(estimate.high)))
    return f"{abs(estimate.value) * 100:.1f} points {word} pairs differ ({low * 100:.1f} to {high * 100:.1f})"


def share_of(estimate: Estimate) -> str:
    """'31.2 % (27.0 – 35.6 %)'."""
    return f"{figures.percent(estimate.value)} ({figures.interval(estimate.low, estimate.high)})"


def points(value: float | None) -> str:
    """A difference in percentage points with its sign."""
    if value is None:
        return figures.NONE
    text = f"{value * 100:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")
