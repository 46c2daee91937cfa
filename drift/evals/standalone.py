"""A report as one HTML file: no script, nothing fetched, both colour schemes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from django.utils.translation import get_language, gettext

from drift import figures
from drift.evals import pictures, words
from drift.evals.answers import Results
from drift.evals.branches import Fork, Tree
from drift.evals.comparison import Comparison, Stratum
from drift.evals.report import ArmReport, FlippingCase
from drift.measure.evals.scopes import Difference, Scope

MOST_FLIPS = 40
STYLE = Path(__file__).with_name("standalone.css")


def render(results: Results, reports: Sequence[ArmReport], comparisons: Sequence[Comparison]) -> str:
    body = [
        f"<h1>{escape(sentence(reports, comparisons))}</h1>",
        f'<p class="lead">{untranslated(results.name)}{"".join("; " + escape(note) for note in results.notes)}</p>',
        arms(reports),
        *(versus(comparison) for comparison in comparisons),
        *(arm(report) for report in reports),
    ]
    return (
        f'<!doctype html><html lang="{get_language() or "en"}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" '
        f'content="light dark"><title translate="no">{escape(results.name)}</title>'
        f"<style>{STYLE.read_text()}</style></head>"
        f"<body><main>{''.join(body)}</main></body></html>"
    )


def sentence(reports: Sequence[ArmReport], comparisons: Sequence[Comparison]) -> str:
    """What the file says first."""
    if len(comparisons) == 1:
        return words.verdict(comparisons[0])
    if len(reports) == 1:
        return words.headline(reports[0])
    return figures.listed((figures.plural(len(reports), "arm"), figures.plural(len(comparisons), "comparison")))


def arms(reports: Sequence[ArmReport]) -> str:
    low, high = pictures.span([r.score.estimate for r in reports if r.score])
    rows = []
    for r in reports:
        if r.score is None:
            rows.append(
                (
                    untranslated(r.name),
                    gettext("{number} of {total}").format(number=r.scored, total=r.answers),
                    gettext("not scored"),
                    "",
                    "",
                    "",
                )
            )
            continue
        said = f"{words.score(r.score.estimate.value)} {words.bounds(r.score.estimate)}"
        rows.append(
            (
                untranslated(r.name),
                gettext("{number} of {total}").format(number=r.scored, total=r.answers),
                f"<b>{words.score(r.score.estimate.value)}</b>",
                words.bounds(r.score.estimate),
                pictures.interval(r.score.estimate, low, high, f"{r.name}: {said}"),
                escape(words.flips(r)),
            )
        )
    axis = figures.span(low, high)
    return table(
        (gettext("Arm"), gettext("Answers scored"), gettext("Score"), gettext("95 % interval"), axis, gettext("Flips")),
        rows,
    )


def versus(c: Comparison) -> str:
    parts = [
        element("h2", gettext("{a} against {b}").format(a=c.a, b=c.b)),
        f"<p>{escape(words.verdict(c))}</p>",
    ]
    if c.confounded:
        confounded = gettext("Confounded.")
        said = "".join(f"<li>{escape(why)}</li>" for why in c.confounded)
        alone = "".join(f"<li>{escape(_alone(s))}</li>" for s in c.strata)
        parts.append(f'<div class="problem"><p><b>{escape(confounded)}</b></p><ul>{said}{alone}</ul></div>')
    if c.overlap:
        parts.append(f"<p><em>{escape(str(words.OVERLAP))}</em></p>")
    found = [(scope, d) for scope, d in ((Scope.SAMPLE, c.like), (Scope.THESE, c.these)) if d]
    if found:
        reach = pictures.reach([d.estimate for _, d in found], c.margin)
        rows = [_difference(scope, d, reach, c) for scope, d in found]
        axis = gettext("−{reach} to +{reach} points").format(reach=f"{reach * 100:.0f}")
        parts.append(
            table(
                (
                    gettext("Question"),
                    gettext("Difference"),
                    gettext("95 % interval"),
                    axis,
                    "p",
                    gettext("By permutation"),
                    gettext("Method"),
                ),
                rows,
            )
        )
    if c.moved:
        rows_ = [
            (
                escape(m.key),
                gettext("{number} of {total}").format(number=m.passes_a, total=m.scored_a),
                gettext("{number} of {total}").format(number=m.passes_b, total=m.scored_b),
                words.p_value(m.p_adjusted),
            )
            for m in c.moved[:20]
        ]
        parts.append(
            element("h3", gettext("Cases to ask again"))
            + element("p", gettext("Candidates, not verdicts: p corrected for all cases."))
            + table((gettext("Case"), escape(c.a), escape(c.b), gettext("p, corrected")), rows_)
        )
    return "".join(parts)


def _difference(scope: Scope, d: Difference, reach: float, c: Comparison) -> tuple[str, ...]:
    decides = " " + element("b", gettext("decides")) if scope is c.scope else ""
    return (
        f"{words.SCOPES[scope]}{decides}",
        f"<b>{words.points(d.estimate.value)}</b>",
        words.point_bounds(d.estimate),
        pictures.difference(d.estimate, reach, c.margin, words.difference(d)),
        words.p_value(d.p),
        words.p_value(d.permuted_p),
        escape(words.method(d.method)),
    )


def arm(r: ArmReport) -> str:
    parts = [
        f'<h2 translate="no">{escape(r.name)}</h2>',
        f"<p>{escape(_lead(r))}</p>",
    ]
    facts = [
        (gettext("Cases"), str(r.cases)),
        (gettext("Answers scored"), gettext("{number} of {total}").format(number=r.scored, total=r.answers)),
    ]
    if r.spread:
        facts.append(
            (
                gettext("From one run to the next (SD)"),
                gettext("{run_sd} points").format(run_sd=f"{r.spread.run_sd * 100:.2f}"),
            )
        )
    if r.score and r.score.inflation:
        facts.append((gettext("Error over cases, against the naive one"), f"{r.score.inflation:.2f} ×"))
    if r.raw_agreement:
        facts.append((gettext("All answers identical (TARr)"), words.score(r.raw_agreement.value)))
    if r.parsed_agreement:
        facts.append((gettext("All extracted answers identical (TARa)"), words.score(r.parsed_agreement.value)))
    if r.judge:
        facts.append((gettext("Judge: verdicts that differ"), words.score(r.judge.changed)))
    facts += [(gettext("Unscored: {why}").format(why=why), str(count)) for why, count in r.unscored]
    facts += [(gettext("Answered by {name}").format(name=name), str(count)) for name, count in r.identities[:8]]
    parts.append(table(("", ""), [(escape(name), escape(value)) for name, value in facts]))
    if r.passes:
        rows = [(str(p.k), f"{p.one_of:.3f}", f"{p.all_of:.3f}", str(p.cases)) for p in r.passes]
        parts.append(table(("k", gettext("pass@k: one of k"), gettext("pass^k: all k"), gettext("Cases")), rows))
    if r.parts:
        parts.append(_subsets(r))
    if r.flipping:
        heading = escape(gettext("Flipping cases, the closest first"))
        parts.append(f"<h3>{heading}</h3>" + "".join(flip(f) for f in r.flipping[:MOST_FLIPS]))
        if len(r.flipping) > MOST_FLIPS:
            more = gettext("and {number} more.").format(number=len(r.flipping) - MOST_FLIPS)
            parts.append(f"<p>{escape(more)}</p>")
    return "".join(parts)


def _subsets(r: ArmReport) -> str:
    low, high = pictures.span([p.score.estimate for p in r.parts])
    rows = [
        (
            untranslated(p.name),
            str(p.cases),
            words.score(p.score.estimate.value),
            words.bounds(p.score.estimate),
            pictures.interval(p.score.estimate, low, high, f"{p.name}: {words.score(p.score.estimate.value)}"),
            str(p.flipping),
            gettext("{low} to {high}").format(low=p.worst, high=p.best),
            words.score(p.raw_agreement),
            ", ".join(map(str, p.passes)),
        )
        for p in r.parts
    ]
    axis = figures.span(low, high)
    header = (
        gettext("Part"),
        gettext("Cases"),
        gettext("Score"),
        gettext("95 % interval"),
        axis,
        gettext("Flip"),
        gettext("Always to ever right"),
        "TARr",
        gettext("Right by round"),
    )
    return element("h3", gettext("Parts")) + table(header, rows)


def _lead(r: ArmReport) -> str:
    return gettext("{headline}. {rounds}.").format(headline=words.headline(r), rounds=words.sentence(words.rounds(r)))


def _alone(s: Stratum) -> str:
    return gettext("{name} alone: {difference}").format(name=s.identity, difference=words.difference(s.difference))


def flip(f: FlippingCase) -> str:
    said = gettext("{passes} of {scored} passed").format(passes=f.passes, scored=f.scored)
    tree = f.tree()
    shown = branches(tree) if tree else ""
    return (
        f'<details><summary><b translate="no">{escape(f.case.key)}</b> '
        f"{pictures.passes(f.passes, f.scored, said)} {escape(said)}"
        f' <span translate="no">{escape(f.case.question[:160])}</span></summary>{shown}</details>'
    )


def branches(tree: Tree) -> str:
    if not tree.forks:
        return f'<p class="answer">{escape(tree.trunk)}</p>'
    said = gettext("All {number} begin the same, up to {unit} {position}.").format(
        number=tree.answers, unit=figures.token_word(1, tree.tokens_known), position=tree.shared
    )
    return f'<p>{escape(said)}</p><p class="answer">{escape(tree.trunk)}</p><ul>{"".join(map(_fork, tree.forks))}</ul>'


def _fork(fork: Fork) -> str:
    said = gettext("{number} of {total}").format(number=fork.count, total=fork.of)
    if fork.score is not None:
        said = gettext("{number} of {total}, {score} right").format(
            number=fork.count, total=fork.of, score=words.score(fork.score)
        )
    inner = f"<ul>{''.join(map(_fork, fork.forks))}</ul>" if fork.forks else ""
    text = element("i", gettext("ends here")) if fork.ended else f"<mark>{escape(fork.first)}</mark>{escape(fork.rest)}"
    return f'<li>{escape(said)}<p class="answer">{text}</p>{inner}</li>'


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells are HTML already."""
    head = "".join(f"<th>{cell}</th>" for cell in header) if any(header) else ""
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def element(name: str, text: str) -> str:
    """An element of nothing but text."""
    return f"<{name}>{escape(text)}</{name}>"


def untranslated(text: str) -> str:
    """What is named by a person or said by an endpoint, escaped and marked as no words of ours."""
    return f'<span translate="no">{escape(text)}</span>' if text else ""
