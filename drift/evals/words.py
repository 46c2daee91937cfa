"""The sentences of a report: the same in the terminal, in a file and on a page."""

from __future__ import annotations

from drift import figures
from drift.evals.comparison import Comparison
from drift.evals.report import ArmReport
from drift.measure.evals.scopes import Difference, Scope
from drift.measure.intervals import Estimate
from drift.measure.paired import Verdict

OVERLAP = "intervals overlap; the paired difference decides"
SCOPES = {
    Scope.SAMPLE: "Cases like these (the cases are a sample)",
    Scope.THESE: "Exactly these cases",
}
SCOPE_NOTES = {
    Scope.SAMPLE: "for choosing a prompt or an endpoint: cases vary, and so do answers",
    Scope.THESE: "for two dates of one endpoint: only answers vary",
}


def score(value: float | None) -> str:
    """A score as per cent with one decimal: '67.6 %'."""
    return figures.NONE if value is None else f"{value * 100:.1f} %"


def bounds(estimate: Estimate | None) -> str:
    """'[62.0, 72.7]' in per cent."""
    return figures.NONE if estimate is None else f"[{estimate.low * 100:.1f}, {estimate.high * 100:.1f}]"


def points(value: float | None) -> str:
    """A difference in percentage points with its sign: '+5.9'."""
    if value is None:
        return figures.NONE
    text = f"{value * 100:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")


def point_bounds(estimate: Estimate) -> str:
    """'[+0.4, +11.3]' in percentage points."""
    return f"[{points(estimate.low)}, {points(estimate.high)}]"


def p_value(p: float | None) -> str:
    """'.036', '< .001'; three digits, as published tables have them."""
    if p is None:
        return figures.NONE
    return "< .001" if p < 0.001 else "1" if p > 0.9995 else f"{p:.3f}".lstrip("0")


def p_equals(p: float | None) -> str:
    """'= .036', '< .001'."""
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def difference(found: Difference) -> str:
    """'+5.9 points [+0.4, +11.3], p = .036'."""
    return f"{points(found.estimate.value)} points {point_bounds(found.estimate)}, p {p_equals(found.p)}"


def verdict(found: Comparison) -> str:
    """The comparison in one sentence, the verdict first."""
    margin = f"±{found.margin * 100:g} points"
    if found.deciding is None:
        return f"Not enough data to compare {found.a} with {found.b}."
    said = difference(found.deciding)
    if found.verdict is Verdict.BETTER:
        return f"{found.a} is better than {found.b}: {said}."
    if found.verdict is Verdict.WORSE:
        return f"{found.a} is worse than {found.b}: {said}."
    if found.verdict is Verdict.EQUIVALENT:
        return f"{found.a} and {found.b} are equivalent within {margin}: {said}."
    return f"Inconclusive between {found.a} and {found.b}: {said}. {needs(found)}".strip()


def needs(found: Comparison) -> str:
    """What would settle it, in a sentence; '' where it is settled."""
    if found.needs is None:
        return ""
    goal = f"{found.needs.goal * 100:.1f} points"
    more = [f"n = {figures.count(found.needs.cases)} cases with K = 5"] if found.needs.cases else []
    if found.needs.repeats:
        more.append(f"K = {figures.count(found.needs.repeats)} repeats of these cases")
    seen = (
        f"Only a difference of {found.smallest * 100:.1f} points or more would have been seen. "
        if found.smallest
        else ""
    )
    return f"{seen}To see {goal}, it needs {' or '.join(more)}."


def sentence(text: str) -> str:
    """The text beginning with a capital, the rest untouched."""
    return text[:1].upper() + text[1:]


def headline(report: ArmReport) -> str:
    """'67.6 % [62.0, 72.7]; 69 of 198 cases flip'."""
    if report.score is None:
        return f"{report.name}: nothing was scored."
    said = f"{score(report.score.estimate.value)} {bounds(report.score.estimate)}"
    return f"{said}; {flips(report)}"


def flips(report: ArmReport) -> str:
    """How many cases flip. 'No flip seen in 5' is never 'stable'."""
    repeated = report.cases - len(report.unscored_cases)
    if report.repeats[1] < 2:
        return "one answer a case: whether cases flip is not known"
    if report.flipping:
        return f"{len(report.flipping)} of {figures.plural(repeated, 'case')} flip"
    answers = figures.plural(report.scored, "answer")
    bound = (
        f"; a case could still flip in up to {report.steady_bound * 100:.0f} % of its answers"
        if report.steady_bound
        else ""
    )
    return f"no flip seen in {answers} to {figures.plural(repeated, 'case')}{bound}"


def rounds(report: ArmReport) -> str:
    """Whether the rounds may be averaged."""
    if report.rounds is None or report.rounds.p is None:
        return "not enough data to tell whether rounds differ"
    test = f"(Cochran's Q, p {p_equals(report.rounds.p)})"
    if report.rounds.p < 0.05:
        return f"the rounds differ {test}: something may have changed meanwhile"
    return f"the rounds look alike {test}"
