"""Five jobs and what each asks of an endpoint: fit, not fit, or unknown, never a guess."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from drift import figures
from drift.checkup import words
from drift.fit.facts import Facts
from drift.measure.identity import IdentityKind
from drift.measure.intervals import at_most

FIT, NOT_FIT, UNKNOWN = "fit", "not fit", "unknown"


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
    name: str
    needs: str
    judge: Callable[[Facts, Mapping[str, float]], Verdict]


def judge(facts: Facts, limits: Mapping[str, float]) -> tuple[Verdict, ...]:
    """All five jobs, in the order of `JOBS`."""
    return tuple(job.judge(facts, limits) for job in JOBS)


def replay(facts: Facts, limits: Mapping[str, float]) -> Verdict:
    """Bit-exact replay: no pair differs, quiet and under load, and enough were asked to mean something."""
    wanted = f"0 differ, at most {figures.percent(limits['replay_bound'])} unseen"
    report = facts.report
    if report is None or report.quiet is None or not report.quiet.pairs:
        return _unchecked("replay", wanted)
    stages = [report.quiet, *report.loads]
    differing, pairs = sum(one.pairs_differing for one in stages), sum(one.pairs for one in stages)
    figure = f"{figures.count(differing)} of {figures.plural(pairs, 'pair')} differ"
    if differing:
        share = words.share_of(report.quiet.divergence) if report.quiet.divergence else figures.NONE
        return Verdict("replay", NOT_FIT, figure, wanted, f"An answer seen in production may not come again: "
                       f"{share} of quiet pairs differ.", _own(facts))  # fmt: skip
    if any(one.matters for one in report.under_load):
        why = "Quiet answers repeat and so do busy ones, but they are not the same answers."
        return Verdict("replay", NOT_FIT, figure, wanted, why, _own(facts))
    unseen = at_most(sum(one.pairs_disjoint for one in stages))
    if unseen is None or unseen > limits["replay_bound"]:
        needed = figures.count(round(3.0 / limits["replay_bound"]))
        why = f"No pair differed, but up to {figures.percent(unseen)} could."
        price = f"A check-up with {needed} independent pairs: more repeats or questions."
        return Verdict("replay", UNKNOWN, figure, wanted, why, price)
    return Verdict("replay", FIT, figure, wanted, "Every answer came again, quiet and under load.")


def audit(facts: Facts, limits: Mapping[str, float]) -> Verdict:
    """Audit and baselines: a valid baseline, a name that can be watched, answers that repeat up to the cap."""
    cap = int(limits["audit_cap"])
    wanted = f"valid baseline, observable name, repeats to {cap} tokens"
    report = facts.report
    if report is None or report.quiet is None or report.quiet.horizon is None:
        return _unchecked("audit", wanted)
    limit, kind = report.quiet.horizon, IdentityKind(report.identities.kind)
    reach = limit.recommended_cap or 0
    figure = f"repeats to {reach} {figures.token_word(reach, report.quiet.tokens_known)}"
    if limit.limit_seen and reach < cap:
        why = f"Answers repeat to {reach} tokens, your cap is {cap}: longer ones will differ without any change behind."
        return Verdict(
            "audit", NOT_FIT, figure, wanted, why, f"Keep audited answers under {reach} tokens, or: {_own(facts)}"
        )
    if kind in (IdentityKind.ABSENT, IdentityKind.CHURNING):
        why = f"Nobody can tell from its name whether it changed: {words.names_in_words(report)}."
        price = "A provider that states a fingerprint, or a pinned model of your own; answers alone show changes late."
        return Verdict("audit", NOT_FIT, f"identity {kind.value.replace('_', ' ')}", wanted, why, price)
    if facts.baseline == "invalidated":
        why = f"Its baseline is void: {facts.baseline_words}"
        return Verdict("audit", NOT_FIT, "baseline void", wanted, why, "A new baseline: a few hours of monitoring.")
    if facts.baseline != "valid":
        why = "It has no valid baseline yet."
        return Verdict(
            "audit", UNKNOWN, "no baseline", wanted, why, "Make its check-up a monitor and a baseline: one click."
        )
    if reach < cap:
        why = f"No answer parted, but none was longer than {reach} tokens; your cap is {cap}."
        return Verdict("audit", UNKNOWN, figure, wanted, why, f"A check-up with a cap of {cap} tokens.")
    if kind is IdentityKind.UNKNOWN:
        return Verdict("audit", UNKNOWN, "identity unknown", wanted, "Too few answers to know what its name means.",
                       "A longer check-up.")  # fmt: skip
    why = "It has a valid baseline, says who answers, and repeats up to your cap."
    return Verdict("audit", FIT, figure, wanted, why)


def reinforcement(facts: Facts, limits: Mapping[str, float]) -> Verdict:
    """On-policy RL: the sampler's log probabilities are those that a second pass computes."""
    gap, least = limits["rl_gap"], int(limits["rl_tokens"])
    wanted = f"largest gap {gap:g} nats over {least} tokens or more"
    found = facts.report.scored if facts.report else None
    if found is None:
        why = "Whether sampling and scoring agree was not measured: that needs an endpoint that scores given tokens."
        price = "A check-up with scoring, if it serves POST /completions with echo and logprobs."
        return Verdict("rl", UNKNOWN, "not measured", wanted, why, price)
    figure = f"{figures.count(found.differing)} of {figures.count(found.tokens)} log probabilities differ"
    if found.tokens < least:
        return Verdict(
            "rl", UNKNOWN, figure, wanted, f"Only {found.tokens} tokens were compared.", "A longer check-up."
        )
    if (found.largest_gap or 0.0) > gap or (found.differing and gap == 0):
        apart = f"{found.largest_gap or 0:.3g} nats"
        why = f"Sampler and scorer disagree by up to {apart}: what is trained is not what was sampled."
        return Verdict("rl", NOT_FIT, figure, wanted, why, _own(facts))
    return Verdict("rl", FIT, figure, wanted, "What was sampled is what is computed.")


def prefixes(facts: Facts, limits: Mapping[str, float]) -> Verdict:
    """Prefix caching: the same prompt each time, hits that pay, and no other answer for a hit."""
    wanted = (
        f"hits in {figures.percent(limits['prefix_hits'])}, change by a hit at most "
        f"{figures.percent(limits['prefix_excess'])}"
    )
    found = facts.report.prefix if facts.report else None
    if found is None or found.excess is None:
        return _unchecked("prefix", wanted)
    if found.same_prompt is False:
        why = "The same prompt is counted with varying tokens: something changes it on the way."
        return Verdict(
            "prefix", NOT_FIT, "prompt varies", wanted, why, "Find what rewrites the prompt: a gateway, a date."
        )
    low, high = words.points(found.excess.low), words.points(found.excess.high)
    change = f"{words.points(found.excess.value)} points [{low}, {high}]"
    if found.excess.low > 0:
        why = f"A hit gives another answer than a miss: {change} more pairs differ."
        return Verdict("prefix", NOT_FIT, change, wanted, why, _own(facts))
    if found.hits is None:
        why = "It does not say how many prompt tokens came from its cache, so nobody can see whether caching pays."
        return Verdict(
            "prefix", UNKNOWN, "cached tokens not reported", wanted, why, "A provider that reports cached_tokens."
        )
    figure = f"{figures.percent(found.hits.value)} hits"
    if found.hits.high < limits["prefix_hits"]:
        why = f"Repeated prompts were served from the cache in {figures.percent(found.hits.value)} of cases only."
        return Verdict(
            "prefix", NOT_FIT, figure, wanted, why, "Longer shared beginnings, or a provider that keeps them."
        )
    if found.hits.low < limits["prefix_hits"] and found.hits.value < limits["prefix_hits"]:
        return Verdict("prefix", UNKNOWN, figure, wanted, "Too few prompts to tell.", "More fresh prompts.")
    if found.excess.high > limits["prefix_excess"]:
        why = f"Hits pay, but a change of up to {figures.percent(found.excess.high)} by a hit cannot be excluded."
        return Verdict("prefix", UNKNOWN, change, wanted, why, "A check-up with more fresh prompts.")
    return Verdict("prefix", FIT, figure, wanted, "Hits pay, and a hit gives the answer that a miss gives.")


def creative(facts: Facts, limits: Mapping[str, float]) -> Verdict:
    """Creative work, candidates, voting: answers should differ, and temperature 0 is the mistake."""
    wanted = f"temperature above 0, pairs differ in {figures.percent(limits['creative_divergence'])} or more"
    temperature = facts.parameters.get("temperature")
    if temperature == 0:
        why = "It is asked at temperature 0, which is the mistake here: candidates that agree are one candidate."
        return Verdict(
            "creative", NOT_FIT, "temperature 0", wanted, why, "Nothing: set the temperature to 0.7 or more."
        )
    quiet = facts.report.quiet if facts.report else None
    if quiet is None or quiet.divergence is None:
        return _unchecked("creative", wanted)
    figure = words.share_of(quiet.divergence)
    if quiet.divergence.low >= limits["creative_divergence"]:
        return Verdict("creative", FIT, figure, wanted, "Its answers differ as they should.")
    if quiet.divergence.high < limits["creative_divergence"]:
        why = "Its answers hardly differ: the temperature is ignored, a seed is fixed, or a cache answers."
        return Verdict(
            "creative", NOT_FIT, figure, wanted, why, "Drop the seed, pass caches by, raise the temperature."
        )
    return Verdict("creative", UNKNOWN, figure, wanted, "Too few answers to tell.", "A longer check-up.")


def _own(facts: Facts) -> str:
    price = facts.own_price or "What that costs here is not measured yet."
    return f"The in-house worker in invariant mode repeats bit for bit. {price}"


def _unchecked(job: str, wanted: str) -> Verdict:
    why = "It was not checked up yet, or gave nothing to compare."
    return Verdict(job, UNKNOWN, "not measured", wanted, why, "A check-up.")


JOBS = (
    Job("replay", "Debugging and replay", "The same request gives the same answer, bit for bit", replay),
    Job("audit", "Audit and regression baselines", "Changes are seen, and answers repeat up to your cap", audit),
    Job("rl", "On-policy RL", "Sampler and trainer compute the same numbers", reinforcement),
    Job("prefix", "Prefix caching", "Hits pay and change nothing", prefixes),
    Job("creative", "Creative work, candidates, voting", "Answers differ: determinism is not wanted", creative),
)
