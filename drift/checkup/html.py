"""The report's sections as HTML, for the page and for a file that stands alone."""

from __future__ import annotations

from html import escape

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
    return section("Settings to use", table(("Setting", "Value", "Because"), rows))


def repeating(report: Report, quiet: Repeats) -> str:
    limit = quiet.horizon
    unit = figures.token_word(2, quiet.tokens_known)
    cards = [("Divergence", figures.percent(quiet.divergence.value if quiet.divergence else None), pairs(quiet))]
    if quiet.total_agreement:
        n = f"@{quiet.equal_n}" if quiet.equal_n else ""
        beside = f"{len(quiet.questions) - quiet.differing_questions} of {len(quiet.questions)} questions"
        cards.append((f"All the same (TARr{n})", figures.percent(quiet.total_agreement.value), beside))
    cards.append(("Distinct answers", distinct_of(quiet), "mean over questions"))
    if limit:
        reach = "measured to here, no end seen" if not limit.limit_seen else ends(limit.low, limit.high)
        cards.append(("Repeats to", f"{limit.length} {unit}", reach))
        cap = str(limit.recommended_cap) if limit.recommended_cap else "none"
        cards.append(("Recommended cap", cap, unit))
    if quiet.parts_at is not None:
        cards.append(("Parts at", f"{figures.token_word(1, quiet.tokens_known)} {quiet.parts_at}", "median"))
    if quiet.evened and quiet.divergence and quiet.evened.value < quiet.divergence.value:
        cards.append(("With white space evened out", figures.percent(quiet.evened.value), "of pairs differ"))
    pictures_ = ""
    if quiet.pairs_differing and quiet.curve:
        said = words.horizon_in_words(quiet)
        pictures_ = figures_beside(
            (
                "How long do two answers agree?",
                f"Share of pairs, by {unit}.",
                drawing.curve(quiet.curve, limit.length if limit else None, said),
            ),
            (
                "Where do they part?",
                f"Share of parting pairs, from each {unit[:-1]} on.",
                drawing.bars(quiet.parting, "where answers part"),
            ),
        )
    return section("Do answers repeat?", facts(cards), pictures_, questions(quiet))


def questions(quiet: Repeats) -> str:
    ordered = sorted(quiet.questions, key=lambda one: (-(one.divergence or 0), one.name))
    rows = [
        (
            f"<b>{escape(one.name)}</b>",
            f"{one.distinct} of {one.answers}",
            figures.percent(one.divergence),
            "" if one.parts_at is None else str(one.parts_at),
            _fork(one),
        )
        for one in ordered[:MOST_QUESTIONS]
    ]
    more = len(ordered) - MOST_QUESTIONS
    rest = f'<p class="faint">and {more} more, which differ less.</p>' if more > 0 else ""
    return table(("Question", "Distinct", "Pairs that differ", "Parts at", "There"), rows) + rest


def _fork(one: QuestionRepeats) -> str:
    if one.parts_at is None:
        return '<span class="faint">the same every time</span>'
    shared = f"… {one.shared}" if one.shared else ""
    return (
        f'<span class="answer">{escape(shared)}<mark>{escape(one.one) or "(ends)"}</mark> or '
        f"<mark>{escape(one.other) or '(ends)'}</mark></span>"
    )


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
                picture(one.divergence, low, high, f"{one.concurrency} in flight"),
                distinct_of(one),
                figures.milliseconds(one.latency_ms),
                difference_cell(against.difference) if against else "",
                f"{words.points(against.across.value)} points" if against and against.across else "",
            )
        )
    axis = f"{low * 100:.0f} % to {high * 100:.0f} %"
    heading = ("In flight", "Pairs that differ", axis, "Distinct", "Latency", "Against quiet", "Across, over within")
    batches = ""
    if report.by_batch:
        known = [(at, at.divergence) for at in report.by_batch]
        rows_ = [(bounds(at.low, at.high), str(at.answers), share(found_)) for at, found_ in known]
        batches = "<h3>By the true batch</h3>" + table(("Largest batch", "Answers", "Pairs that differ"), rows_)
    return section("Does load matter?", f"<p>{escape(words.load_or_not(report))}</p>", table(heading, rows), batches)


def longer(report: Report) -> str:
    found = report.length
    if found is None or not found.cut:
        return ""
    low, high = pictures.span([one.divergence for one in found.cut])
    rows = [
        (
            str(one.cap),
            share(one.divergence),
            picture(one.divergence, low, high, f"cap {one.cap}"),
            "answers cut here",
        )
        for one in found.cut
    ]
    if found.asked:
        one = found.asked
        rows.append((str(one.cap), share(one.divergence), picture(one.divergence, low, high, "asked"), "asked so"))
    gained = f"<p>{escape(words.length_in_words(report))}</p>"
    unit = figures.token_word(2, found.tokens_known).capitalize()
    return section("The longer, the worse?", gained, table((unit, "Pairs that differ", "", "How"), rows))


def seeds(report: Report) -> str:
    if report.recorded:
        return ""
    seed = report.seed
    rows = []
    for name, one in (("at temperature 0", seed.zero), ("at temperature 1", seed.hot)):
        if one is not None:
            rows.append((name, difference_cell(one)))
    left = f" With one, {words.share_of(seed.hot_left)} of pairs still differ." if seed.hot_left else ""
    said = words.seed_in_words(report) or "Whether a seed does anything could not be told."
    heading = ("", "Pairs that differ without a seed, minus with one")
    return section("What does a seed do?", f"<p>{escape(said + left)}</p>", table(heading, rows))


def scores(report: Report) -> str:
    """Is temperature 0 greedy, and what the scores foretell."""
    parts = [f"<p>{escape(words.greedy_in_words(report))}</p>"] if not report.recorded else []
    near = report.near_ties
    if near is not None:
        cards = []
        if near.per_100 is not None:
            cards.append(("Close calls", f"{near.per_100:.1f} in 100 tokens", "best at most 1.1 times as likely"))
        if near.parting:
            cards.append(("Two runs part there", figures.percent(near.parting.value), interval_of(near.parting)))
        if near.flip_rate:
            cards.append(
                ("One run takes the other", figures.percent(near.flip_rate.value), interval_of(near.flip_rate))
            )
        if near.sigma is not None:
            cards.append(("Noise of the margin", f"{near.sigma:.2g} nats", f"{near.expected_at_risk} tokens at risk"))
        if near.forecast:
            seen = near.forecast
            held = "the forecast held" if seen.held else "the forecast did not hold"
            expected = f"{seen.expected.low:.0f} to {seen.expected.high:.0f} foretold; {held}"
            cards.append(("Flips in the second half", str(seen.seen), expected))
        parts.append(facts(cards))
    return section("Is temperature 0 greedy?" if not report.recorded else "Close calls", *parts)


def who(report: Report) -> str:
    found = report.identities
    if not found.answers:
        return ""
    rows = [
        (
            f"<code>{escape(one.label)}</code>",
            escape(one.model_echo or "no echo"),
            escape(one.upstream or "–"),
            figures.count(one.answers),
            escape(
                ", ".join(
                    f"{name} {value}" for name, value in ((("server", one.server),) if one.server else ()) + one.parts
                )
            ),
        )
        for one in found.names
    ]
    said = f"<p><b>{escape(found.kind.replace('_', ' ').capitalize())}.</b> {escape(found.tells)}</p>"
    unseen = (
        f"<p>Chance that the next answer bears a name not seen yet: {escape(words.share_of(found.unseen))}.</p>"
        if found.unseen
        else ""
    )
    return section("Who answers?", said, table(("Name", "Model", "Upstream", "Answers", "It says"), rows), unseen)


def prefixes(report: Report) -> str:
    found, parts = report.prefix, []
    if found is not None:
        cards = []
        if found.excess:
            cards.append(("Cold against warm", f"{words.points(found.excess.value)} points", point_ends(found.excess)))
        hits = figures.percent(found.hits.value) if found.hits else "not reported"
        cards.append(("Prefix cache hits", hits, f"{found.prompts} fresh prompts"))
        if found.cached_share is not None:
            cards.append(("Of a hit's prompt", figures.percent(found.cached_share), "came from the cache"))
        if found.faster is not None:
            cards.append(("Cold takes", f"{found.faster:.2f} times as long", "median latency"))
        parts.append(facts(cards))
    cached = report.caching
    if cached.cached:
        why = "; ".join(cached.evidence)
        parts.append(f"<p><b>{figures.plural(cached.cached, 'answer')} came out of a cache</b>: {escape(why)}.</p>")
    elif not report.recorded:
        parts.append("<p>No answer came out of a cache of answers.</p>")
    return section("Caches", *parts)


def scored_again(report: Report) -> str:
    found = report.scored
    if found is None:
        return ""
    gap = "0" if not found.differing else f"{found.largest_gap:.3g} nats" if found.largest_gap else "not known"
    cards = [
        ("Differing log probabilities", f"{found.differing} of {found.tokens}", f"{found.answers} answers"),
        ("Largest gap", gap, ""),
    ]
    if found.kl is not None:
        cards.append(("KL, sampler to scorer", f"{found.kl:.3g}", "nats per token"))
    return section("Is what was sampled what is computed?", facts(cards))


def capabilities(report: Report) -> str:
    rows = [
        (f"<code>{escape(one.name)}</code>", escape(one.state), escape(one.value), escape(one.evidence))
        for one in report.capabilities
    ]
    return section("What it did with each parameter", table(("Parameter", "When asked", "Value", "Evidence"), rows))


def missed(report: Report) -> str:
    said = [*report.limits, *report.notes]
    items = "".join(f"<li>{escape(one)}</li>" for one in said)
    return section("What could have been missed", f"<ul>{items}</ul>" if items else "")


def since(changed: Changes) -> str:
    when = f"{changed.before:%-d %b %Y, %H:%M} UTC"
    rows = []
    if changed.divergence:
        rows.append(("Divergence", difference_cell(changed.divergence)))
    if changed.effect:
        rows.append(("Answers across, over within", f"{words.points(changed.effect.value)} points"))
    rows += [("New name", f"<code>{escape(name)}</code>") for name in changed.new_names]
    rows += [("Name gone", f"<code>{escape(name)}</code>") for name in changed.gone_names]
    rows += [("Capability", escape(one)) for one in changed.capabilities]
    return section(f"Against {when}", f"<p>{escape(changed.sentence)}</p>", table(("", ""), rows))
