"""The words and pictures of `drift.evals` for templates."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, gettext_noop

from drift.evals import pictures, words
from drift.evals.comparison import Comparison
from drift.evals.report import ArmReport, FlippingCase
from drift.measure.evals.scopes import Difference, Scope
from drift.measure.intervals import Estimate
from drift.measure.paired import Verdict

register = template.Library()
VERDICTS = {
    Verdict.BETTER: gettext_noop("better"),
    Verdict.WORSE: gettext_noop("worse"),
    Verdict.EQUIVALENT: gettext_noop("equivalent"),
    Verdict.INCONCLUSIVE: gettext_noop("inconclusive"),
}
register.filter("score", words.score)
register.filter("bounds", words.bounds)
register.filter("points", words.points)
register.filter("point_bounds", words.point_bounds)
register.filter("p_value", words.p_value)
register.filter("p_equals", words.p_equals)
register.filter("difference_words", words.difference)
register.filter("verdict", words.verdict)
register.filter("flips", words.flips)
register.filter("method_words", words.method)
register.filter("rounds_words", words.rounds)


@register.filter
def verdict_word(verdict: Verdict) -> str:
    return gettext(VERDICTS[verdict])


@register.filter
def hundred(value: float) -> float:
    return value * 100


@register.simple_tag
def interval_picture(estimate: Estimate, axis: tuple[float, float], name: str) -> SafeString:
    label = f"{name}: {words.score(estimate.value)} {words.bounds(estimate)}"
    return mark_safe(pictures.interval(estimate, *axis, label))  # noqa: S308  escaped where it is made


@register.simple_tag
def difference_picture(found: Difference, reach: float, margin: float) -> SafeString:
    return mark_safe(pictures.difference(found.estimate, reach, margin, words.difference(found)))  # noqa: S308


@register.simple_tag
def passes_picture(flip: FlippingCase) -> SafeString:
    label = gettext("{part} of {whole} passed").format(part=flip.passes, whole=flip.scored)
    return mark_safe(pictures.passes(flip.passes, flip.scored, label))  # noqa: S308  numbers alone


@register.simple_tag
def rounds_picture(report: ArmReport) -> SafeString:
    means = report.rounds.means if report.rounds else ()
    label = gettext("Score by round: {scores}").format(scores=", ".join(words.score(mean) for mean in means))
    return mark_safe(pictures.rounds(means, 0.0, 1.0, label))  # noqa: S308  numbers alone


@register.simple_tag
def scopes_of(comparison: Comparison) -> list[dict[str, Any]]:
    """Both scopes, side by side, with which of them decides."""
    return [
        {
            "name": words.SCOPES[scope],
            "note": words.SCOPE_NOTES[scope],
            "found": found,
            "decides": scope is comparison.scope,
        }
        for scope, found in ((Scope.SAMPLE, comparison.like), (Scope.THESE, comparison.these))
    ]
