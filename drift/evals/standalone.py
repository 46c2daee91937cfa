"""A report as one HTML file: no script, nothing fetched, both colour schemes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from drift import figures
from drift.evals import pictures, words
from drift.evals.answers import Results
from drift.evals.branches import Fork, Tree
from drift.evals.comparison import Comparison
from drift.evals.report import ArmReport, FlippingCase
from drift.measure.evals.scopes import Difference, Scope

MOST_FLIPS = 40
STYLE = Path(__file__).with_name("standalone.css")


def render(results: Results, reports: Sequence[ArmReport], comparisons: Sequence[Comparison]) -> str:
    body = [
        f"<h1>{escape(sentence(reports, comparisons))}</h1>",
        f'<p class="lead">{escape(results.name)}{"".join("; " + escape(note) for note in results.notes)}</p>',
        arms(reports),
        *(versus(comparison) for comparison in comparisons),
        *(arm(report) for report in reports),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" '
        f'content="light dark"><title>{escape(results.name)}</title><style>{STYLE.read_text()}</style></head>'
        f"<body><main>{''.join(body)}</main></body></html>"
    )


def sentence(reports: Sequence[ArmReport], comparisons: Sequence[Comparison]) -> str:
    """What the file says first."""
    if len(comparisons) == 1:
        return words.verdict(comparisons[0])
    if len(reports) == 1:
        return words.headline(reports[0])
    return f"{len(reports)} arms, {figures.plural(len(comparisons), 'comparison')}"


def arms(reports: Sequence[ArmReport]) -> str:
    low, high = pictures.span([r.score.estimate for r in reports if r.score])
    rows = []
    for r in reports:
        if r.score is None:
            rows.append((r.name, f"{r.scored} of {r.answers}", "not scored", "", "", ""))
            continue
        said = f"{words.score(r.score.estimate.value)} {words.bounds(r.score.estimate)}"
        rows.append(
            (
                escape(r.name),
                f"{r.scored} of {r.answers}",
                f"<b>{words.score(r.score.estimate.value)}</b>",
                words.bounds(r.score.estimate),
                pictures.interval(r.score.estimate, low, high, f"{r.name}: {said}"),
                escape(words.flips(r)),
            )
        )
    axis = f"{low * 100:.0f} % to {high * 100:.0f} %"
    return table(("Arm", "Answers scored", "Score", "95 % interval", axis, "Flips"), rows)


def versus(c: Comparison) -> str:
    parts = [f"<h2>{escape(c.a)} against {escape(c.b)}</h2>", f"<p>{escape(words.verdict(c))}</p>"]
    if c.confounded:
        said = "".join(f"<li>{escape(why)}</li>" for why in c.confounded)
        alone = "".join(
            f"<li>{escape(s.identity)} alone: {escape(words.difference(s.difference))}</li>" for s in c.strata
        )
        parts.append(f'<div class="problem"><p><b>Confounded.</b></p><ul>{said}{alone}</ul></div>')
    if c.overlap:
        parts.append(f"<p><em>{words.OVERLAP}</em></p>")
    found = [(scope, d) for scope, d in ((Scope.SAMPLE, c.like), (Scope.THESE, c.these)) if d]
    if found:
        reach = pictures.reach([d.estimate for _, d in found], c.margin)
        rows = [_difference(scope, d, reach, c) for scope, d in found]
        axis = f"−{reach * 100:.0f} to +{reach * 100:.0f} points"
        parts.append(table(("Question", "Difference", "95 % interval", axis, "p", "By permutation", "Method"), rows))
    if c.moved:
        rows_ = [
            (
                escape(m.key),
                f"{m.passes_a} of {m.scored_a}",
                f"{m.passes_b} of {m.scored_b}",
                words.p_value(m.p_adjusted),
            )
            for m in c.moved[:20]
        ]
        parts.append(
            "<h3>Cases to ask again</h3><p>Candidates, not verdicts: p corrected for all cases.</p>"
            + table(("Case", escape(c.a), escape(c.b), "p, corrected"), rows_)
        )
    return "".join(parts)


def _difference(scope: Scope, d: Difference, reach: float, c: Comparison) -> tuple[str, ...]:
    decides = " <b>decides</b>" if scope is c.scope else ""
    return (
        f"{words.SCOPES[scope]}{decides}",
        f"<b>{words.points(d.estimate.value)}</b>",
        words.point_bounds(d.estimate),
        pictures.difference(d.estimate, reach, c.margin, words.difference(d)),
        words.p_value(d.p),
        words.p_value(d.permuted_p),
        escape(d.method),
    )


def arm(r: ArmReport) -> str:
    parts = [
        f"<h2>{escape(r.name)}</h2>",
        f"<p>{escape(words.headline(r))}. {escape(words.sentence(words.rounds(r)))}.</p>",
    ]
    facts = [("Cases", str(r.cases)), ("Answers scored", f"{r.scored} of {r.answers}")]
    if r.spread:
        facts.append(("From one run to the next (SD)", f"{r.spread.run_sd * 100:.2f} points"))
    if r.score and r.score.inflation:
        facts.append(("Error over cases, against the naive one", f"{r.score.inflation:.2f} ×"))
    if r.raw_agreement:
        facts.append(("All answers identical (TARr)", words.score(r.raw_agreement.value)))
    if r.parsed_agreement:
        facts.append(("All extracted answers identical (TARa)", words.score(r.parsed_agreement.value)))
    if r.judge:
        facts.append(("Judge: verdicts that differ", words.score(r.judge.changed)))
    facts += [(f"Unscored: {why}", str(count)) for why, count in r.unscored]
    facts += [(f"Answered by {name}", str(count)) for name, count in r.identities[:8]]
    parts.append(table(("", ""), [(escape(name), escape(value)) for name, value in facts]))
    if r.passes:
        rows = [(str(p.k), f"{p.one_of:.3f}", f"{p.all_of:.3f}", str(p.cases)) for p in r.passes]
        parts.append(table(("k", "pass@k: one of k", "pass^k: all k", "Cases"), rows))
    if r.parts:
        parts.append(_subsets(r))
    if r.flipping:
        parts.append("<h3>Flipping cases, the closest first</h3>" + "".join(flip(f) for f in r.flipping[:MOST_FLIPS]))
        if len(r.flipping) > MOST_FLIPS:
            parts.append(f"<p>and {len(r.flipping) - MOST_FLIPS} more.</p>")
    return "".join(parts)


def _subsets(r: ArmReport) -> str:
    low, high = pictures.span([p.score.estimate for p in r.parts])
    rows = [
        (
            escape(p.name),
            str(p.cases),
            words.score(p.score.estimate.value),
            words.bounds(p.score.estimate),
            pictures.interval(p.score.estimate, low, high, f"{p.name}: {words.score(p.score.estimate.value)}"),
            str(p.flipping),
            f"{p.worst} to {p.best}",
            words.score(p.raw_agreement),
            ", ".join(map(str, p.passes)),
        )
        for p in r.parts
    ]
    axis = f"{low * 100:.0f} % to {high * 100:.0f} %"
    header = ("Part", "Cases", "Score", "95 % interval", axis, "Flip", "Always to ever right", "TARr", "Right by round")
    return "<h3>Parts</h3>" + table(header, rows)


def flip(f: FlippingCase) -> str:
    said = f"{f.passes} of {f.scored} passed"
    tree = f.tree()
    shown = branches(tree) if tree else ""
    return (
        f"<details><summary><b>{escape(f.case.key)}</b> {pictures.passes(f.passes, f.scored, said)} {said}"
        f" <span>{escape(f.case.question[:160])}</span></summary>{shown}</details>"
    )


def branches(tree: Tree) -> str:
    if not tree.forks:
        return f'<p class="answer">{escape(tree.trunk)}</p>'
    unit = "token" if tree.tokens_known else "approximate token"
    said = f"All {tree.answers} begin the same, up to {unit} {tree.shared}."
    return f'<p>{said}</p><p class="answer">{escape(tree.trunk)}</p><ul>{"".join(map(_fork, tree.forks))}</ul>'


def _fork(fork: Fork) -> str:
    passed = "" if fork.score is None else f", {words.score(fork.score)} right"
    inner = f"<ul>{''.join(map(_fork, fork.forks))}</ul>" if fork.forks else ""
    text = "<i>ends here</i>" if fork.ended else f"<mark>{escape(fork.first)}</mark>{escape(fork.rest)}"
    return f'<li>{fork.count} of {fork.of}{passed}<p class="answer">{text}</p>{inner}</li>'


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells are HTML already."""
    head = "".join(f"<th>{cell}</th>" for cell in header) if any(header) else ""
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
