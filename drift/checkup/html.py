"""The report's sections as HTML, for the page and for a file that stands alone."""

from __future__ import annotations

from html import escape

from django.utils.translation import gettext

from drift import figures
from drift.checkup import drawing, words
from drift.checkup.cells import (
    bounds,
    difference_cell,
    distinct_of,
    ends,
    facts,
    figures_beside,
    interval_of,
    pairs,
    picture,
    point_ends,
    section,
    share,
    table,
)
from drift.checkup.changes import Changes
from drift.checkup.repeats import QuestionRepeats, Repeats
from drift.checkup.report import Report
from drift.evals import pictures
from drift.evals.standalone import element, untranslated

MOST_QUESTIONS = 40


def body(report: Report, changed: Changes | None = None) -> str:
    """Everything below the verdict."""
    parts = [settings(report)]
    if changed is not None:
        parts.append(since(changed))
    if report.quiet is not None and report.quiet.asked:
        parts += [repeating(report, report.quiet), load(report), longer(report), seeds(report), scores(report)]
    parts += [who(report), prefixes(report), scored_again(report), capabilities(report), missed(report)]
    return "".join(parts)


def settings(report: Report) -> str:
    rows = [(f"<b>{escape(one.name)}</b>", escape(one.value), escape(one.why)) for one in report.settings]
    return section(gettext("Settings to use"), table((gettext("Setting"), gettext("Value"), gettext("Because")), rows))


def repeating(report: Report, quiet: Repeats) -> str:
    limit = quiet.horizon
    unit = figures.token_word(2, quiet.tokens_known)
    cards = [
        (gettext("Divergence"), figures.percent(quiet.divergence.value if quiet.divergence else None), pairs(quiet))
    ]
    if quiet.total_agreement:
        n = f"@{quiet.equal_n}" if quiet.equal_n else ""
        beside = gettext("{number} of {total} questions").format(
            number=len(quiet.questions) - quiet.differing_questions, total=len(quiet.questions)
        )
        cards.append(
            (
                gettext("All the same ({rate})").format(rate=f"TARr{n}"),
                figures.percent(quiet.total_agreement.value),
                beside,
            )
        )
    cards.append((gettext("Distinct answers"), distinct_of(quiet), gettext("mean over questions")))
    if limit:
        reach = gettext("measured to here, no end seen") if not limit.limit_seen else ends(limit.low, limit.high)
        cards.append((gettext("Repeats to"), f"{limit.length} {unit}", reach))
        cap = str(limit.recommended_cap) if limit.recommended_cap else gettext("none")
        cards.append((gettext("Recommended cap"), cap, unit))
    if quiet.parts_at is not None:
        cards.append(
            (
                gettext("Parts at"),
                gettext("{unit} {number}").format(
                    unit=figures.token_word(1, quiet.tokens_known), number=quiet.parts_at
                ),
                gettext("median"),
            )
        )
    if quiet.evened and quiet.divergence and quiet.evened.value < quiet.divergence.value:
        cards.append(
            (gettext("With white space evened out"), figures.percent(quiet.evened.value), gettext("of pairs differ"))
        )
    pictures_ = ""
    if quiet.pairs_differing and quiet.curve:
        said = words.horizon_in_words(quiet)
        pictures_ = figures_beside(
            (
                gettext("How long do two answers agree?"),
                gettext("Share of pairs, by {unit}.").format(unit=unit),
                drawing.curve(quiet.curve, limit.length if limit else None, said),
            ),
            (
                gettext("Where do they part?"),
                gettext("Share of parting pairs, from each {unit} on.").format(
                    unit=figures.token_word(1, quiet.tokens_known)
                ),
                drawing.bars(quiet.parting, gettext("where answers part")),
            ),
        )
    return section(gettext("Do answers repeat?"), facts(cards), pictures_, questions(quiet))


def questions(quiet: Repeats) -> str:
    ordered = sorted(quiet.questions, key=lambda one: (-(one.divergence or 0), one.name))
    rows = [
        (
            f'<b translate="no">{escape(one.name)}</b>',
            gettext("{number} of {total}").format(number=one.distinct, total=one.answers),
            figures.percent(one.divergence),
            "" if one.parts_at is None else str(one.parts_at),
            _fork(one),
        )
        for one in ordered[:MOST_QUESTIONS]
    ]
    more = len(ordered) - MOST_QUESTIONS
    said = gettext("and {number} more, which differ less.").format(number=more)
    rest = f'<p class="faint">{escape(said)}</p>' if more > 0 else ""
    return (
        table(
            (
                gettext("Question"),
                gettext("Distinct"),
                gettext("Pairs that differ"),
                gettext("Parts at"),
                gettext("There"),
            ),
            rows,
        )
        + rest
    )


def _fork(one: QuestionRepeats) -> str:
    if one.parts_at is None:
        same = escape(gettext("the same every time"))
        return f'<span class="faint">{same}</span>'
    shared = f"… {one.shared}" if one.shared else ""
    ends = escape(gettext("(ends)"))
    either = escape(gettext("{shared}{one} or {other}")).format(
        shared=f'<span translate="no">{escape(shared)}</span>' if shared else "",
        one=f'<mark translate="no">{escape(one.one)}</mark>' if one.one else f"<mark>{ends}</mark>",
        other=f'<mark translate="no">{escape(one.other)}</mark>' if one.other else f"<mark>{ends}</mark>",
    )
    return f'<span class="answer">{either}</span>'


def load(report: Report) -> str:
    quiet = report.quiet
    if quiet is None or not report.loads:
        return ""
    found = {one.concurrency: one for one in report.under_load}
    low, high = pictures.span([r.divergence for r in (quiet, *report.loads) if r.divergence])
    rows = []
    for one in (quiet, *report.loads):
        against = found.get(one.concurrency) if one is not quiet else None
        rows.append(
            (
                f"<b>{one.concurrency}</b>",
                share(one.divergence),
                picture(
                    one.divergence, low, high, gettext("{concurrency} in flight").format(concurrency=one.concurrency)
                ),
                distinct_of(one),
                figures.milliseconds(one.latency_ms),
                difference_cell(against.difference) if against else "",
                in_points(against.across.value) if against and against.across else "",
            )
        )
    axis = figures.span(low, high)
    heading = (
        gettext("In flight"),
        gettext("Pairs that differ"),
        axis,
        gettext("Distinct"),
        gettext("Latency"),
        gettext("Against quiet"),
        gettext("Across, over within"),
    )
    batches = ""
    if report.by_batch:
        known = [(at, at.divergence) for at in report.by_batch]
        rows_ = [(bounds(at.low, at.high), str(at.answers), share(found_)) for at, found_ in known]
        batches = element("h3", gettext("By the true batch")) + table(
            (gettext("Largest batch"), gettext("Answers"), gettext("Pairs that differ")), rows_
        )
    return section(
        gettext("Does load matter?"), f"<p>{escape(words.load_or_not(report))}</p>", table(heading, rows), batches
    )


def longer(report: Report) -> str:
    found = report.length
    if found is None or not found.cut:
        return ""
    low, high = pictures.span([one.divergence for one in found.cut])
    rows = [
        (
            str(one.cap),
            share(one.divergence),
            picture(one.divergence, low, high, gettext("cap {number}").format(number=one.cap)),
            gettext("answers cut here"),
        )
        for one in found.cut
    ]
    if found.asked:
        one = found.asked
        rows.append(
            (
                str(one.cap),
                share(one.divergence),
                picture(one.divergence, low, high, gettext("asked")),
                gettext("asked so"),
            )
        )
    gained = f"<p>{escape(words.length_in_words(report))}</p>"
    unit = gettext("Tokens") if found.tokens_known else gettext("Approximate tokens")
    return section(
        gettext("The longer, the worse?"), gained, table((unit, gettext("Pairs that differ"), "", gettext("How")), rows)
    )


def seeds(report: Report) -> str:
    if report.recorded:
        return ""
    seed = report.seed
    rows = []
    for name, one in ((gettext("at temperature 0"), seed.zero), (gettext("at temperature 1"), seed.hot)):
        if one is not None:
            rows.append((name, difference_cell(one)))
    left = (
        gettext(" With one, {share} of pairs still differ.").format(share=words.share_of(seed.hot_left))
        if seed.hot_left
        else ""
    )
    said = words.seed_in_words(report) or gettext("Whether a seed does anything could not be told.")
    heading = ("", gettext("Pairs that differ without a seed, minus with one"))
    return section(gettext("What does a seed do?"), f"<p>{escape(said + left)}</p>", table(heading, rows))


def scores(report: Report) -> str:
    """Is temperature 0 greedy, and what the scores foretell."""
    parts = [f"<p>{escape(words.greedy_in_words(report))}</p>"] if not report.recorded else []
    near = report.near_ties
    if near is not None:
        cards = []
        if near.per_100 is not None:
            cards.append(
                (
                    gettext("Close calls"),
                    gettext("{per_100} in 100 tokens").format(per_100=f"{near.per_100:.1f}"),
                    gettext("best at most 1.1 times as likely"),
                )
            )
        if near.parting:
            cards.append(
                (gettext("Two runs part there"), figures.percent(near.parting.value), interval_of(near.parting))
            )
        if near.flip_rate:
            cards.append(
                (gettext("One run takes the other"), figures.percent(near.flip_rate.value), interval_of(near.flip_rate))
            )
        if near.sigma is not None:
            cards.append(
                (
                    gettext("Noise of the margin"),
                    in_nats(near.sigma, 2),
                    gettext("{expected_at_risk} tokens at risk").format(expected_at_risk=near.expected_at_risk),
                )
            )
        if near.forecast:
            seen = near.forecast
            held = gettext("the forecast held") if seen.held else gettext("the forecast did not hold")
            expected = gettext("{low} to {high} foretold; {held}").format(
                low=f"{seen.expected.low:.0f}", high=f"{seen.expected.high:.0f}", held=held
            )
            cards.append((gettext("Flips in the second half"), str(seen.seen), expected))
        parts.append(facts(cards))
    return section(gettext("Is temperature 0 greedy?") if not report.recorded else gettext("Close calls"), *parts)


def who(report: Report) -> str:
    found = report.identities
    if not found.answers:
        return ""
    rows = [
        (
            f'<code translate="no">{escape(one.label)}</code>',
            untranslated(one.model_echo) if one.model_echo else escape(gettext("no echo")),
            untranslated(one.upstream or "–"),
            figures.count(one.answers),
            escape(
                ", ".join(
                    f"{name} {value}"
                    for name, value in (((gettext("server"), one.server),) if one.server else ()) + one.parts
                )
            ),
        )
        for one in found.names
    ]
    kind = gettext("{kind}.").format(kind=figures.words(found.kind).capitalize())
    said = f"<p><b>{escape(kind)}</b> {escape(found.tells)}</p>"
    chance = gettext("Chance that the next answer bears a name not seen yet: {share}.")
    unseen = f"<p>{escape(chance.format(share=words.share_of(found.unseen)))}</p>" if found.unseen else ""
    return section(
        gettext("Who answers?"),
        said,
        table((gettext("Name"), gettext("Model"), gettext("Upstream"), gettext("Answers"), gettext("It says")), rows),
        unseen,
    )


def prefixes(report: Report) -> str:
    found, parts = report.prefix, []
    if found is not None:
        cards = []
        if found.excess:
            cards.append((gettext("Cold against warm"), in_points(found.excess.value), point_ends(found.excess)))
        hits = figures.percent(found.hits.value) if found.hits else gettext("not reported")
        cards.append(
            (gettext("Prefix cache hits"), hits, gettext("{prompts} fresh prompts").format(prompts=found.prompts))
        )
        if found.cached_share is not None:
            cards.append(
                (gettext("Of a hit's prompt"), figures.percent(found.cached_share), gettext("came from the cache"))
            )
        if found.faster is not None:
            cards.append(
                (
                    gettext("Cold takes"),
                    gettext("{faster} times as long").format(faster=f"{found.faster:.2f}"),
                    gettext("median latency"),
                )
            )
        parts.append(facts(cards))
    cached = report.caching
    if cached.cached:
        why = "; ".join(cached.evidence)
        came = gettext("{answers} came out of a cache").format(answers=figures.plural(cached.cached, "answer"))
        parts.append(f"<p><b>{escape(came)}</b>: {untranslated(why)}.</p>")
    elif not report.recorded:
        parts.append(element("p", gettext("No answer came out of a cache of answers.")))
    return section(gettext("Caches"), *parts)


def scored_again(report: Report) -> str:
    found = report.scored
    if found is None:
        return ""
    gap = "0"
    if found.differing:
        gap = in_nats(found.largest_gap, 3) if found.largest_gap else str(figures.UNKNOWN)
    cards = [
        (
            gettext("Differing log probabilities"),
            gettext("{number} of {total}").format(number=found.differing, total=found.tokens),
            figures.plural(found.answers, "answer"),
        ),
        (gettext("Largest gap"), gap, ""),
    ]
    if found.kl is not None:
        cards.append((gettext("KL, sampler to scorer"), f"{found.kl:.3g}", gettext("nats per token")))
    return section(gettext("Is what was sampled what is computed?"), facts(cards))


def in_points(value: float) -> str:
    return gettext("{points} points").format(points=words.points(value))


def in_nats(value: float, digits: int) -> str:
    return gettext("{number} nats").format(number=f"{value:.{digits}g}")


def capabilities(report: Report) -> str:
    rows = [
        (
            f'<code translate="no">{escape(one.name)}</code>',
            escape(figures.words(one.state)),
            untranslated(one.value),
            escape(one.evidence),
        )
        for one in report.capabilities
    ]
    return section(
        gettext("What it did with each parameter"),
        table((gettext("Parameter"), gettext("When asked"), gettext("Value"), gettext("Evidence")), rows),
    )


def missed(report: Report) -> str:
    said = [*report.limits, *report.notes]
    items = "".join(f"<li>{escape(one)}</li>" for one in said)
    return section(gettext("What could have been missed"), f"<ul>{items}</ul>" if items else "")


def since(changed: Changes) -> str:
    when = f"{figures.date_time_comma(changed.before)} UTC"
    rows = []
    if changed.divergence:
        rows.append((gettext("Divergence"), difference_cell(changed.divergence)))
    if changed.effect:
        rows.append((gettext("Answers across, over within"), in_points(changed.effect.value)))
    rows += [(gettext("New name"), f'<code translate="no">{escape(name)}</code>') for name in changed.new_names]
    rows += [(gettext("Name gone"), f'<code translate="no">{escape(name)}</code>') for name in changed.gone_names]
    rows += [(gettext("Capability"), escape(one)) for one in changed.capabilities]
    return section(
        gettext("Against {when}").format(when=when), f"<p>{escape(changed.sentence)}</p>", table(("", ""), rows)
    )
