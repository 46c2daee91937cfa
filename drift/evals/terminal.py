"""A report as text for a terminal: sentences first, then tables."""

from __future__ import annotations

from collections.abc import Sequence

from drift import figures
from drift.evals import words
from drift.evals.answers import Results
from drift.evals.comparison import Comparison
from drift.evals.report import ArmReport
from drift.measure.evals.scopes import Scope

MOST_FLIPS = 10


def render(results: Results, reports: Sequence[ArmReport], comparisons: Sequence[Comparison]) -> str:
    blocks = [f"{results.name}", *(f"note: {note}" for note in results.notes), "", arms(reports)]
    for report in reports:
        blocks += ["", details(report)]
    for comparison in comparisons:
        blocks += ["", versus(comparison)]
    return "\n".join(blocks) + "\n"


def arms(reports: Sequence[ArmReport]) -> str:
    """One row per arm."""
    rows = [("arm", "cases", "answers", "score", "95 % interval", "run SD", "flip")]
    for r in reports:
        rows.append(
            (
                r.name,
                str(r.cases),
                f"{r.scored}/{r.answers}",
                words.score(r.score.estimate.value) if r.score else figures.NONE,
                words.bounds(r.score.estimate) if r.score else figures.NONE,
                f"{r.spread.run_sd * 100:.2f}" if r.spread else figures.NONE,
                str(len(r.flipping)) if r.repeats[1] > 1 else figures.NONE,
            )
        )
    return table(rows)


def details(r: ArmReport) -> str:
    lines = [f"{r.name}: {words.headline(r)}"]
    if r.passes:
        rows = [("k", *(str(p.k) for p in r.passes))]
        rows.append(("pass@k", *(f"{p.one_of:.3f}" for p in r.passes)))
        rows.append(("pass^k", *(f"{p.all_of:.3f}" for p in r.passes)))
        lines.append(table(rows))
    lines.append(f"  {words.rounds(r)}")
    if r.raw_agreement:
        lines.append(f"  all answers of a case identical: {words.score(r.raw_agreement.value)} of cases (TARr)")
    if r.parsed_agreement:
        lines.append(f"  all extracted answers identical: {words.score(r.parsed_agreement.value)} of cases (TARa)")
    if r.judge:
        differ, added = words.score(r.judge.changed), f"{r.judge.suite_sd * 100:.2f}"
        lines.append(f"  judge: verdicts differ about {differ} of answers; that adds {added} points of noise")
    if r.unscored:
        lines.append("  unscored: " + ", ".join(f"{count} {why}" for why, count in r.unscored[:5]))
    if r.identities:
        lines.append("  answered by: " + ", ".join(f"{name} ({count})" for name, count in r.identities[:5]))
    if r.parts:
        rows = [("part", "cases", "score", "95 % interval", "flip", "best", "worst", "TARr", "by round")]
        for p in r.parts:
            rows.append(
                (
                    p.name,
                    str(p.cases),
                    words.score(p.score.estimate.value),
                    words.bounds(p.score.estimate),
                    str(p.flipping),
                    str(p.best),
                    str(p.worst),
                    words.score(p.raw_agreement),
                    " ".join(map(str, p.passes)),
                )
            )
        lines.append(table(rows))
    if r.flipping:
        lines.append("  flipping cases, the closest first:")
        lines += [
            f"    {f.case.key}: {f.passes} of {f.scored} {f.case.question[:60]}".rstrip()
            for f in r.flipping[:MOST_FLIPS]
        ]
        if len(r.flipping) > MOST_FLIPS:
            lines.append(f"    and {len(r.flipping) - MOST_FLIPS} more")
    return "\n".join(lines)


def versus(c: Comparison) -> str:
    lines = [words.verdict(c)]
    for scope, found in ((Scope.SAMPLE, c.like), (Scope.THESE, c.these)):
        if found:
            default = " (decides)" if scope is c.scope else ""
            check = f", by permutation p {words.p_equals(found.permuted_p)}" if found.permuted_p is not None else ""
            lines.append(f"  {words.SCOPES[scope]}{default}: {words.difference(found)}{check}; {found.method}")
    if c.overlap:
        lines.append(f"  {words.OVERLAP}")
    if c.p_adjusted is not None:
        lines.append(f"  corrected for {c.family} comparisons (Holm): p {words.p_equals(c.p_adjusted)}")
    if c.smallest:
        lines.append(f"  smallest difference seen 4 times in 5: {c.smallest * 100:.1f} points")
    if c.shared < c.total:
        lines.append(f"  {c.shared} of {c.total} cases are in both")
    lines += [f"  CONFOUNDED: {why}" for why in c.confounded]
    lines += [f"    {s.identity} alone: {words.difference(s.difference)}" for s in c.strata]
    return "\n".join(lines)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned, the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  "
        + "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    )
