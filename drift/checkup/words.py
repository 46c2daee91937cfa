"""The report in sentences: the same on a page, in a file and in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext

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
        return gettext("{name} was not asked anything yet.").format(name=report.name)
    why = figures.listed(
        gettext("{number} {outcome}").format(number=figures.count(n), outcome=figures.words(kind))
        for kind, n in quiet.outcomes[:3]
    )
    return gettext("{name} gave no two answers that can be compared: {why}.").format(name=report.name, why=why)


def repeats_in_words(name: str, quiet: Repeats) -> str:
    """'Two answers of X to one question differ in 31.2 % of pairs (27.0 – 35.6 %); the first 24 tokens repeat.'"""
    if not quiet.pairs_differing:
        bound = at_most(quiet.pairs_disjoint)
        pattern = (
            gettext(
                "{name} gave every question the same answer each time: 0 of {pairs} differ; "
                "up to {share} could, unseen."
            )
            if bound
            else gettext("{name} gave every question the same answer each time: 0 of {pairs} differ.")
        )
        return pattern.format(name=name, pairs=figures.plural(quiet.pairs, "pair"), share=figures.percent(bound))
    found = quiet.divergence
    share = share_of(found) if found else figures.NONE
    return gettext("Two answers of {name} to one question differ in {share} of pairs; {horizon_in_words}.").format(
        name=name, share=share, horizon_in_words=horizon_in_words(quiet)
    )


def horizon_in_words(quiet: Repeats) -> str:
    limit = quiet.horizon
    if limit is None:
        return gettext("how long they agree is not known")
    if not limit.length:
        return gettext("not even the first word is sure to repeat")
    unit = figures.token_word(limit.length, quiet.tokens_known)
    if not limit.limit_seen:
        return gettext("they agree over all {length} {unit} with 95 %").format(
            length=figures.count(limit.length), unit=unit
        )
    if limit.length == 1:
        return gettext("only the first {unit} is sure to repeat").format(unit=unit)
    return gettext("the first {length} {unit} repeat with 95 %").format(length=figures.count(limit.length), unit=unit)


def what_moves(report: Report) -> str:
    """The gravest of what was found to move the answers; where nothing was, what could not have been missed."""
    if report.caching.cached:
        share = figures.percent(report.caching.share.value) if report.caching.share else figures.NONE
        return gettext(
            "{share} of its answers came out of a cache of answers and prove nothing about the model behind it."
        ).format(share=share)
    if report.recorded:
        return gettext("Who answered: {names_in_words}.").format(names_in_words=names_in_words(report))
    moving = [one for one in report.under_load if one.matters]
    if moving:
        worst = max(moving, key=lambda one: one.difference.estimate.value if one.difference else 0.0)
        if worst.difference is not None and worst.difference.estimate.low > 0:
            return gettext("Load matters: at {concurrency} in flight {change_in_words}.").format(
                concurrency=worst.concurrency, change_in_words=change_in_words(worst.difference.estimate)
            )
        return gettext(
            "Load matters: answers at {concurrency} in flight are others than quiet ones ({value} "
            "points more pairs differ across than within)."
        ).format(concurrency=worst.concurrency, value=points(worst.across.value if worst.across else None))
    if report.prefix is not None and report.prefix.excess is not None and report.prefix.excess.low > 0:
        return gettext("A cold prefix gives another answer than a warm one: {value} points more pairs differ.").format(
            value=points(report.prefix.excess.value)
        )
    return f"{load_in_words(report)} {seed_in_words(report)}".strip()


def load_in_words(report: Report) -> str:
    known = [(one.concurrency, one.difference.estimate) for one in report.under_load if one.difference is not None]
    if not known:
        return ""
    concurrency, found = known[-1]
    reach = max(abs(found.low), abs(found.high))
    return gettext(
        "Load made no difference up to {concurrency} in flight; one above {reach} points would show."
    ).format(concurrency=concurrency, reach=f"{reach * 100:.0f}")


def seed_in_words(report: Report) -> str:
    seed = report.seed
    if seed.word == "refused":
        return gettext("It refuses a seed.")
    if seed.word == "repeats":
        return gettext("A seed makes sampling at temperature 1 repeat.")
    if seed.word == "lowers" and seed.hot is not None:
        lowered = seed.hot.estimate.value * 100
        return gettext("A seed lowers the divergence of sampling by {lowered} points, not to zero.").format(
            lowered=f"{lowered:.0f}"
        )
    if seed.word == "ignored":
        return gettext("It takes a seed and ignores it.")
    if seed.word == "no_effect" and seed.hot is not None:
        return gettext("A seed had no effect that could be seen ({difference}).").format(
            difference=difference(seed.hot)
        )
    return ""


def load_or_not(report: Report) -> str:
    """The sentence over the table of loads."""
    if any(one.matters for one in report.under_load):
        return what_moves(report) if not report.caching.cached else gettext("Load changes the answers.")
    return load_in_words(report) or gettext("Not enough data to tell.")


def length_in_words(report: Report) -> str:
    """What a larger cap costs in agreement."""
    found = report.length
    if found is None or found.asked is None or found.gained is None or report.quiet is None:
        return gettext("Pairs of quiet answers that differ within so many tokens.")
    if found.gained.estimate.low > 0:
        return gettext("From cap {cap} to {max_tokens}: {change_in_words}.").format(
            cap=found.asked.cap,
            max_tokens=report.quiet.max_tokens,
            change_in_words=change_in_words(found.gained.estimate),
        )
    return gettext("From cap {cap} to {max_tokens} no rise could be seen ({difference}).").format(
        cap=found.asked.cap, max_tokens=report.quiet.max_tokens, difference=difference(found.gained)
    )


def greedy_in_words(report: Report) -> str:
    """Whether it takes the best token at temperature 0."""
    found = report.greedy
    hotter = (
        gettext(" At temperature 1 instead: {difference}.").format(difference=difference(found.hotter))
        if found.hotter
        else ""
    )
    if found.word == "greedy":
        return gettext("Yes: each of {tokens} tokens was the best by its own scores.{hotter}").format(
            tokens=figures.count(found.tokens), hotter=hotter
        )
    if found.word == "close_calls" and found.not_best:
        return gettext(
            "But for close calls: {value} of tokens were not the best by its own scores, none worse by "
            "more than {given_away} nats.{hotter}"
        ).format(value=figures.percent(found.not_best.value), given_away=f"{found.given_away:.2g}", hotter=hotter)
    if found.word == "samples" and found.not_best:
        return gettext(
            "No: {value} of tokens were not the best by its own scores, the worst by {given_away} nats.{hotter}"
        ).format(value=figures.percent(found.not_best.value), given_away=f"{found.given_away:.2g}", hotter=hotter)
    return gettext(
        "Not known: its answers carry no scores of two candidates, or it does not take temperature 0.{hotter}"
    ).format(hotter=hotter)


def what_to_do(report: Report) -> str:
    quiet = report.quiet
    if quiet is not None and not quiet.pairs_differing:
        return gettext("Single answers may be compared while conditions stay as measured here; keep watching it.")
    limit = quiet.horizon if quiet else None
    if limit and limit.recommended_cap and limit.limit_seen:
        return gettext(
            "Never trust one answer: keep answers that must repeat under {cap} tokens, "
            "ask evals at least five times, and compare with error bars."
        ).format(cap=limit.recommended_cap)
    return gettext("Never trust one answer: ask evals at least five times, and compare with error bars.")


def names_in_words(report: Report) -> str:
    found = report.identities
    kinds = {
        IdentityKind.ABSENT: gettext("it never says"),
        IdentityKind.CONSTANT: gettext("one name throughout"),
        IdentityKind.STABLE_SET: gettext("{distinct} names in turn").format(distinct=found.distinct),
        IdentityKind.CHURNING: gettext("ever new names"),
        IdentityKind.UNKNOWN: gettext("too few answers to say"),
    }
    return kinds[IdentityKind(found.kind)]


def difference(found: Difference) -> str:
    """'+12.0 points [+5.1, +18.9], p = .003'."""
    estimate = found.estimate
    p = "p < .001" if found.p < 0.001 else f"p = {found.p:.3f}".replace("0.", ".")
    return gettext("{points} points [{low}, {high}], {p}").format(
        points=points(estimate.value), low=points(estimate.low), high=points(estimate.high), p=p
    )


def change_in_words(estimate: Estimate) -> str:
    low, high = sorted((abs(estimate.low), abs(estimate.high)))
    pattern = (
        gettext("{points} points more pairs differ ({low} to {high})")
        if estimate.value > 0
        else gettext("{points} points fewer pairs differ ({low} to {high})")
    )
    return pattern.format(points=f"{abs(estimate.value) * 100:.1f}", low=f"{low * 100:.1f}", high=f"{high * 100:.1f}")


def share_of(estimate: Estimate) -> str:
    """'31.2 % (27.0 – 35.6 %)'."""
    return gettext("{share} ({interval})").format(
        share=figures.percent(estimate.value), interval=figures.interval(estimate.low, estimate.high)
    )


def points(value: float | None) -> str:
    """A difference in percentage points with its sign."""
    if value is None:
        return figures.NONE
    text = f"{value * 100:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")
