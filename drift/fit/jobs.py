"""Five jobs and what each asks of an endpoint: fit, not fit, or unknown, never a guess."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext, gettext_lazy, gettext_noop

from drift import figures
from drift.checkup import words
from drift.fit.facts import Facts
from drift.measure.identity import IdentityKind
from drift.measure.intervals import at_most

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


FIT, NOT_FIT, UNKNOWN = gettext_noop("fit"), gettext_noop("not fit"), "unknown"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`figure` decided, beside `threshold`; `reason`: a sentence; `price`: what getting there takes, '' if fit."""

    job: str
    word: str
    figure: str
    threshold: str
    reason: str
    price: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    key: str
    name: StrOrPromise
    needs: StrOrPromise
    judge: Callable[[Facts, Mapping[str, float]], Verdict]


def judge(facts: Facts, limits: Mapping[str, float]) -> tuple[Verdict, ...]:
    """All five jobs, in the order of `JOBS`."""
    return tuple(job.judge(facts, limits) for job in JOBS)


def replay(facts: Facts, limits: Mapping[str, float]) -> Verdict:
    """Bit-exact replay: no pair differs, quiet and under load, and enough were asked to mean something."""
    wanted = gettext("0 differ, at most {replay_bound} unseen").format(
        replay_bound=figures.percent(limits["replay_bound"])
    )
    report = facts.report
    if report is None or report.quiet is None or not report.quiet.pairs:
        return _unchecked("replay", wanted)
    stages = [report.quiet, *report.loads]
    differing, pairs = sum(one.pairs_differing for one in stages), sum(one.pairs for one in stages)
    figure = gettext("{differing} of {pairs} differ").format(
        differing=figures.count(differing), pairs=figures.plural(pairs, "pair")
    )
    if differing:
        share = words.share_of(report.quiet.divergence) if report.quiet.divergence else figures.NONE
        return Verdict(
            "replay",
            NOT_FIT,
            figure,
            wanted,
            gettext("An answer seen in production may not come again: {share} of quiet pairs differ.").format(
                share=share
            ),
            _own(facts),
        )
    if any(one.matters for one in report.under_load):
        why = gettext("Quiet answers repeat and so do busy ones, but they are not the same answers.")
        return Verdict("replay", NOT_FIT, figure, wanted, why, _own(facts))
    unseen = at_most(sum(one.pairs_disjoint for one in stages))
    if unseen is None or unseen > limits["replay_bound"]:
        needed = figures.count(round(3.0 / limits["replay_bound"]))
        why = gettext("No pair differed, but up to {unseen} could.").format(unseen=figures.percent(unseen))
        price = gettext("A check-up with {needed} independent pairs: more repeats or questions.").format(needed=needed)
        return Verdict("replay", UNKNOWN, figure, wanted, why, price)
    return Verdict("replay", FIT, figure, wanted, gettext("Every answer came again, quiet and under load."))


def audit(facts: Facts, limits: Mapping[str, float]) -> Verdict:
    """Audit and baselines: a valid baseline, a name that can be watched, answers that repeat up to the cap."""
    cap = int(limits["audit_cap"])
    wanted = gettext("valid baseline, observable name, repeats to {cap} tokens").format(cap=cap)
    report = facts.report
    if report is None or report.quiet is None or report.quiet.horizon is None:
        return _unchecked("audit", wanted)
    limit, kind = report.quiet.horizon, IdentityKind(report.identities.kind)
    reach = limit.recommended_cap or 0
    figure = gettext("repeats to {reach} {token_word}").format(
        reach=reach, token_word=figures.token_word(reach, report.quiet.tokens_known)
    )
    if limit.limit_seen and reach < cap:
        why = gettext(
            "Answers repeat to {reach} tokens, your cap is {cap}: longer ones will differ without any change behind."
        ).format(reach=reach, cap=cap)
        return Verdict(
            "audit",
            NOT_FIT,
            figure,
            wanted,
            why,
            gettext("Keep audited answers under {reach} tokens, or: {own}").format(reach=reach, own=_own(facts)),
        )
    if kind in (IdentityKind.ABSENT, IdentityKind.CHURNING):
        why = gettext("Nobody can tell from its name whether it changed: {names_in_words}.").format(
            names_in_words=words.names_in_words(report)
        )
        price = gettext(
            "A provider that states a fingerprint, or a pinned model of your own; answers alone show changes late."
        )
        return Verdict(
            "audit", NOT_FIT, gettext("identity {kind}").format(kind=figures.words(kind.value)), wanted, why, price
        )
    if facts.baseline == "invalidated":
        why = gettext("Its baseline is void: {baseline_words}").format(baseline_words=facts.baseline_words)
        return Verdict(
            "audit",
            NOT_FIT,
            gettext("baseline void"),
            wanted,
            why,
            gettext("A new baseline: a few hours of monitoring."),
        )
    if facts.baseline != "valid":
        why = gettext("It has no valid baseline yet.")
        return Verdict(
            "audit",
            UNKNOWN,
            gettext("no baseline"),
            wanted,
            why,
            gettext("Make its check-up a monitor and a baseline: one click."),
        )
    if reach < cap:
        why = gettext("No answer parted, but none was longer than {reach} tokens; your cap is {cap}.").format(
            reach=reach, cap=cap
        )
        return Verdict(
            "audit", UNKNOWN, figure, wanted, why, gettext("A check-up with a cap of {cap} tokens.").format(cap=cap)
        )
    if kind is IdentityKind.UNKNOWN:
        return Verdict(
            "audit",
            UNKNOWN,
            gettext("identity unknown"),
            wanted,
            gettext("Too few answers to know what its name means."),
            gettext("A longer check-up."),
        )
    why = gettext("It has a valid baseline, says who answers, and repeats up to your cap.")
    return Verdict("audit", FIT, figure, wanted, why)


def reinforcement(facts: Facts, limits: Mapping[str, float]) -> Verdict:
    """On-policy RL: the sampler's log probabilities are those that a second pass computes."""
    gap, least = limits["rl_gap"], int(limits["rl_tokens"])
    wanted = gettext("largest gap {gap} nats over {least} tokens or more").format(gap=f"{gap:g}", least=least)
    found = facts.report.scored if facts.report else None
    if found is None:
        why = gettext(
            "Whether sampling and scoring agree was not measured: that needs an endpoint that scores given tokens."
        )
        price = gettext("A check-up with scoring, if it serves POST /completions with echo and logprobs.")
        return Verdict("rl", UNKNOWN, gettext("not measured"), wanted, why, price)
    figure = gettext("{differing} of {tokens} log probabilities differ").format(
        differing=figures.count(found.differing), tokens=figures.count(found.tokens)
    )
    if found.tokens < least:
        return Verdict(
            "rl",
            UNKNOWN,
            figure,
            wanted,
            gettext("Only {tokens} tokens were compared.").format(tokens=found.tokens),
            gettext("A longer check-up."),
        )
    if (found.largest_gap or 0.0) > gap or (found.differing and gap == 0):
        apart = gettext("{largest_gap} nats").format(largest_gap=f"{found.largest_gap or 0:.3g}")
        why = gettext("Sampler and scorer disagree by up to {apart}: what is trained is not what was sampled.").format(
            apart=apart
        )
        return Verdict("rl", NOT_FIT, figure, wanted, why, _own(facts))
    return Verdict("rl", FIT, figure, wanted, gettext("What was sampled is what is computed."))


def prefixes(facts: Facts, limits: Mapping[str, float]) -> Verdict:
    """Prefix caching: the same prompt each time, hits that pay, and no other answer for a hit."""
    wanted = gettext("hits in {prefix_hits}, change by a hit at most {prefix_excess}").format(
        prefix_hits=figures.percent(limits["prefix_hits"]), prefix_excess=figures.percent(limits["prefix_excess"])
    )
    found = facts.report.prefix if facts.report else None
    if found is None or found.excess is None:
        return _unchecked("prefix", wanted)
    if found.same_prompt is False:
        why = gettext("The same prompt is counted with varying tokens: something changes it on the way.")
        return Verdict(
            "prefix",
            NOT_FIT,
            gettext("prompt varies"),
            wanted,
            why,
            gettext("Find what rewrites the prompt: a gateway, a date."),
        )
    low, high = words.points(found.excess.low), words.points(found.excess.high)
    change = gettext("{points} points [{low}, {high}]").format(
        points=words.points(found.excess.value), low=low, high=high
    )
    if found.excess.low > 0:
        why = gettext("A hit gives another answer than a miss: {change} more pairs differ.").format(change=change)
        return Verdict("prefix", NOT_FIT, change, wanted, why, _own(facts))
    if found.hits is None:
        why = gettext(
            "It does not say how many prompt tokens came from its cache, so nobody can see whether caching pays."
        )
        return Verdict(
            "prefix",
            UNKNOWN,
            gettext("cached tokens not reported"),
            wanted,
            why,
            gettext("A provider that reports cached_tokens."),
        )
    figure = gettext("{value} hits").format(value=figures.percent(found.hits.value))
    if found.hits.high < limits["prefix_hits"]:
        why = gettext("Repeated prompts were served from the cache in {value} of cases only.").format(
            value=figures.percent(found.hits.value)
        )
        return Verdict(
            "prefix", NOT_FIT, figure, wanted, why, gettext("Longer shared beginnings, or a provider that keeps them.")
        )
    if found.hits.low < limits["prefix_hits"] and found.hits.value < limits["prefix_hits"]:
        return Verdict(
            "prefix", UNKNOWN, figure, wanted, gettext("Too few prompts to tell."), gettext("More fresh prompts.")
        )
    if found.excess.high > limits["prefix_excess"]:
        why = gettext("Hits pay, but a change of up to {high} by a hit cannot be excluded.").format(
            high=figures.percent(found.excess.high)
        )
        return Verdict("prefix", UNKNOWN, change, wanted, why, gettext("A check-up with more fresh prompts."))
    return Verdict("prefix", FIT, figure, wanted, gettext("Hits pay, and a hit gives the answer that a miss gives."))


def creative(facts: Facts, limits: Mapping[str, float]) -> Verdict:
    """Creative work, candidates, voting: answers should differ, and temperature 0 is the mistake."""
    wanted = gettext("temperature above 0, pairs differ in {creative_divergence} or more").format(
        creative_divergence=figures.percent(limits["creative_divergence"])
    )
    temperature = facts.parameters.get("temperature")
    if temperature == 0:
        why = gettext(
            "It is asked at temperature 0, which is the mistake here: candidates that agree are one candidate."
        )
        return Verdict(
            "creative",
            NOT_FIT,
            gettext("temperature 0"),
            wanted,
            why,
            gettext("Nothing: set the temperature to 0.7 or more."),
        )
    quiet = facts.report.quiet if facts.report else None
    if quiet is None or quiet.divergence is None:
        return _unchecked("creative", wanted)
    figure = words.share_of(quiet.divergence)
    if quiet.divergence.low >= limits["creative_divergence"]:
        return Verdict("creative", FIT, figure, wanted, gettext("Its answers differ as they should."))
    if quiet.divergence.high < limits["creative_divergence"]:
        why = gettext("Its answers hardly differ: the temperature is ignored, a seed is fixed, or a cache answers.")
        return Verdict(
            "creative", NOT_FIT, figure, wanted, why, gettext("Drop the seed, pass caches by, raise the temperature.")
        )
    return Verdict(
        "creative", UNKNOWN, figure, wanted, gettext("Too few answers to tell."), gettext("A longer check-up.")
    )


def _own(facts: Facts) -> str:
    price = facts.own_price or gettext("What that costs here is not measured yet.")
    return gettext("The in-house worker in invariant mode repeats bit for bit. {price}").format(price=price)


def _unchecked(job: str, wanted: str) -> Verdict:
    why = gettext("It was not checked up yet, or gave nothing to compare.")
    return Verdict(job, UNKNOWN, gettext("not measured"), wanted, why, gettext("A check-up."))


JOBS = (
    Job(
        "replay",
        gettext_lazy("Debugging and replay"),
        gettext_lazy("The same request gives the same answer, bit for bit"),
        replay,
    ),
    Job(
        "audit",
        gettext_lazy("Audit and regression baselines"),
        gettext_lazy("Changes are seen, and answers repeat up to your cap"),
        audit,
    ),
    Job(
        "rl", gettext_lazy("On-policy RL"), gettext_lazy("Sampler and trainer compute the same numbers"), reinforcement
    ),
    Job("prefix", gettext_lazy("Prefix caching"), gettext_lazy("Hits pay and change nothing"), prefixes),
    Job(
        "creative",
        gettext_lazy("Creative work, candidates, voting"),
        gettext_lazy("Answers differ: determinism is not wanted"),
        creative,
    ),
)
