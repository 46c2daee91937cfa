"""The sentences of a report: the same in the terminal, in a file and on a page."""

from __future__ import annotations

import re

from django.utils.translation import gettext, gettext_lazy, gettext_noop

from drift import figures
from drift.evals.comparison import Comparison
from drift.evals.report import ArmReport
from drift.measure.evals.scopes import Difference, Scope
from drift.measure.intervals import Estimate
from drift.measure.paired import Verdict

OVERLAP = gettext_lazy("intervals overlap; the paired difference decides")
SCOPES = {
    Scope.SAMPLE: gettext_lazy("Cases like these (the cases are a sample)"),
    Scope.THESE: gettext_lazy("Exactly these cases"),
}
SCOPE_NOTES = {
    Scope.SAMPLE: gettext_lazy("for choosing a prompt or an endpoint: cases vary, and so do answers"),
    Scope.THESE: gettext_lazy("for two dates of one endpoint: only answers vary"),
}
METHODS = (  # of drift.measure, which knows no languages
    gettext_noop("Student's t over cases"),
    gettext_noop("Wilson with the effective number of cases"),
    gettext_noop("paired t over cases"),
    gettext_noop("exact bound: all cases differ alike"),
    gettext_noop("exact bound: no answer varied within its case"),
    gettext_noop("sampling noise within cases"),
    gettext_noop("Welch's t, unpaired"),
)


def score(value: float | None) -> str:
    """A score as per cent with one decimal: '67.6 %'."""
    return figures.NONE if value is None else gettext("{number} %").format(number=f"{value * 100:.1f}")


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
    return gettext("{points} points {bounds}, p {p}").format(
        points=points(found.estimate.value), bounds=point_bounds(found.estimate), p=p_equals(found.p)
    )


def method(text: str) -> str:
    """How a difference was computed."""
    clustered = re.fullmatch(r"paired t, clustered in (\d+) groups", text)
    if clustered:
        return gettext("paired t, clustered in {number} groups").format(number=clustered[1])
    return gettext(text)


def verdict(found: Comparison) -> str:
    """The comparison in one sentence, the verdict first."""
    margin = gettext("±{margin} points").format(margin=f"{found.margin * 100:g}")
    if found.deciding is None:
        return gettext("Not enough data to compare {a} with {b}.").format(a=found.a, b=found.b)
    said = difference(found.deciding)
    if found.verdict is Verdict.BETTER:
        return gettext("{a} is better than {b}: {said}.").format(a=found.a, b=found.b, said=said)
    if found.verdict is Verdict.WORSE:
        return gettext("{a} is worse than {b}: {said}.").format(a=found.a, b=found.b, said=said)
    if found.verdict is Verdict.EQUIVALENT:
        return gettext("{a} and {b} are equivalent within {margin}: {said}.").format(
            a=found.a, b=found.b, margin=margin, said=said
        )
    return (
        gettext("Inconclusive between {a} and {b}: {said}. {needs}")
        .format(a=found.a, b=found.b, said=said, needs=needs(found))
        .strip()
    )


def needs(found: Comparison) -> str:
    """What would settle it, in a sentence; '' where it is settled."""
    if found.needs is None:
        return ""
    goal = gettext("{goal} points").format(goal=f"{found.needs.goal * 100:.1f}")
    more = (
        [gettext("n = {cases} cases with K = 5").format(cases=figures.count(found.needs.cases))]
        if found.needs.cases
        else []
    )
    if found.needs.repeats:
        more.append(gettext("K = {repeats} repeats of these cases").format(repeats=figures.count(found.needs.repeats)))
    said = gettext("To see {goal}, it needs {more}.").format(
        goal=goal,
        more=gettext("{one} or {other}").format(one=more[0], other=more[1]) if len(more) > 1 else "".join(more),
    )
    if not found.smallest:
        return said
    seen = gettext("Only a difference of {points} points or more would have been seen. {said}")
    return seen.format(points=f"{found.smallest * 100:.1f}", said=said)


def sentence(text: str) -> str:
    """The text beginning with a capital, the rest untouched."""
    return text[:1].upper() + text[1:]


def headline(report: ArmReport) -> str:
    """'67.6 % [62.0, 72.7]; 69 of 198 cases flip'."""
    if report.score is None:
        return gettext("{name}: nothing was scored.").format(name=report.name)
    said = f"{score(report.score.estimate.value)} {bounds(report.score.estimate)}"
    return gettext("{said}; {flips}").format(said=said, flips=flips(report))


def flips(report: ArmReport) -> str:
    """How many cases flip. 'No flip seen in 5' is never 'stable'."""
    repeated = report.cases - len(report.unscored_cases)
    if report.repeats[1] < 2:
        return gettext("one answer a case: whether cases flip is not known")
    if report.flipping:
        return gettext("{flipping} of {cases} flip").format(
            flipping=len(report.flipping), cases=figures.plural(repeated, "case")
        )
    answers = figures.plural(report.scored, "answer")
    pattern = (
        gettext("no flip seen in {answers} to {cases}; a case could still flip in up to {share} % of its answers")
        if report.steady_bound
        else gettext("no flip seen in {answers} to {cases}")
    )
    share = f"{(report.steady_bound or 0) * 100:.0f}"
    return pattern.format(answers=answers, cases=figures.plural(repeated, "case"), share=share)


def rounds(report: ArmReport) -> str:
    """Whether the rounds may be averaged."""
    if report.rounds is None or report.rounds.p is None:
        return gettext("not enough data to tell whether rounds differ")
    test = gettext("(Cochran's Q, p {p_equals})").format(p_equals=p_equals(report.rounds.p))
    if report.rounds.p < 0.05:
        return gettext("the rounds differ {test}: something may have changed meanwhile").format(test=test)
    return gettext("the rounds look alike {test}").format(test=test)
