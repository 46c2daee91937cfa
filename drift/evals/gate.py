"""The outcome of an eval for a pipeline: an exit code, JSON, and JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any
from xml.etree import ElementTree as Xml

from django.utils.translation import gettext

from drift.evals import words
from drift.evals.answers import Results
from drift.evals.comparison import Comparison
from drift.evals.report import ArmReport
from drift.measure.evals.scopes import Difference
from drift.measure.intervals import Estimate
from drift.measure.paired import Verdict


class Exit(IntEnum):
    """What the command ends with. The first arm is the candidate; it is judged against each other arm."""

    FINE = 0  # better, or equivalent within the margin
    WORSE = 1
    USAGE = 2
    INCONCLUSIVE = 3
    VOID = 4  # the comparison is confounded, or the endpoint's baseline was not valid
    FAILED = 5  # the run did not finish, or nothing was scored


def exit_code(reports: Sequence[ArmReport], comparisons: Sequence[Comparison]) -> Exit:
    """The gravest of: nothing scored, void, worse, inconclusive; else fine. One arm alone is judged by its validity.

    Void comes before worse: a difference that something else may have made is no reason to blame the candidate.
    """
    if not reports or any(report.score is None for report in reports):
        return Exit.FAILED
    against = [c for c in comparisons if c.a == reports[0].name]
    if any(c.void for c in against) or any(r.void or r.mixed_identity for r in reports[:1] if not against):
        return Exit.VOID
    verdicts = {c.verdict for c in against}
    if Verdict.WORSE in verdicts:
        return Exit.WORSE
    return Exit.INCONCLUSIVE if Verdict.INCONCLUSIVE in verdicts else Exit.FINE


def as_json(results: Results, reports: Sequence[ArmReport], comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """All figures; an unknown one is null. Scores and differences are shares of 1."""
    return {
        "name": results.name,
        "notes": list(results.notes),
        "exit_code": int(exit_code(reports, comparisons)),
        "arms": [arm_json(report) for report in reports],
        "comparisons": [comparison_json(comparison) for comparison in comparisons],
    }


def arm_json(r: ArmReport) -> dict[str, Any]:
    return {
        "name": r.name,
        "cases": r.cases,
        "answers": r.answers,
        "scored": r.scored,
        "unscored": dict(r.unscored),
        "score": _estimate(r.score.estimate) if r.score else None,
        "score_on_these_cases": _estimate(r.score.on_these) if r.score else None,
        "standard_error": r.score.error if r.score else None,
        "run_sd": r.spread.run_sd if r.spread else None,
        "pass_at_k": {str(p.k): p.one_of for p in r.passes},
        "pass_hat_k": {str(p.k): p.all_of for p in r.passes},
        "flipping": [{"case": f.case.key, "passes": f.passes, "scored": f.scored} for f in r.flipping],
        "rounds": {"p": r.rounds.p, "means": list(r.rounds.means)} if r.rounds else None,
        "identities": dict(r.identities),
        "total_agreement_raw": r.raw_agreement.value if r.raw_agreement else None,
        "total_agreement_parsed": r.parsed_agreement.value if r.parsed_agreement else None,
        "judge": {"sd": r.judge.sd, "suite_sd": r.judge.suite_sd, "changed": r.judge.changed} if r.judge else None,
        "parts": [
            {"name": p.name, "cases": p.cases, "score": _estimate(p.score.estimate), "passes_by_round": list(p.passes)}
            for p in r.parts
        ],
        "void": r.void,
    }


def comparison_json(c: Comparison) -> dict[str, Any]:
    return {
        "a": c.a,
        "b": c.b,
        "verdict": c.verdict.value,
        "sentence": words.verdict(c),
        "scope": c.scope.value,
        "margin": c.margin,
        "cases_like_these": _difference(c.like),
        "exactly_these_cases": _difference(c.these),
        "p_adjusted": c.p_adjusted,
        "family": c.family,
        "shared_cases": c.shared,
        "cases": c.total,
        "smallest_difference": c.smallest,
        "needs": {"difference": c.needs.goal, "cases": c.needs.cases, "repeats": c.needs.repeats} if c.needs else None,
        "intervals_overlap": c.overlap,
        "confounded": list(c.confounded),
        "by_identity": {s.identity: _difference(s.difference) for s in c.strata},
        "evidence": c.discordance.evidence,
    }


def _estimate(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "n": estimate.n}


def _difference(found: Difference | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        **(_estimate(found.estimate) or {}),
        "p": found.p,
        "permutation_p": found.permuted_p,
        "method": found.method,
    }


def junit(results: Results, reports: Sequence[ArmReport], comparisons: Sequence[Comparison]) -> bytes:
    """JUnit XML: a test case per comparison (worse fails; inconclusive and void are errors) and per flipping case
    (skipped, with its pass count), so that a pipeline's own pages show them.
    """
    suite = Xml.Element("testsuite", name=results.name)
    failures = errors = skipped = 0
    against = [c for c in comparisons if reports and c.a == reports[0].name]
    for comparison in against:
        case = Xml.SubElement(
            suite,
            "testcase",
            classname="comparison",
            name=gettext("{a} against {b}").format(a=comparison.a, b=comparison.b),
        )
        said = words.verdict(comparison)
        if comparison.void:
            errors += 1
            Xml.SubElement(case, "error", type="void", message=_xml("; ".join(comparison.confounded)))
        elif comparison.verdict is Verdict.WORSE:
            failures += 1
            Xml.SubElement(case, "failure", type="worse", message=_xml(said))
        elif comparison.verdict is Verdict.INCONCLUSIVE:
            errors += 1
            Xml.SubElement(case, "error", type="inconclusive", message=_xml(said))
        Xml.SubElement(case, "system-out").text = _xml(said)
    for report in reports:
        for flip in report.flipping:
            skipped += 1
            case = Xml.SubElement(suite, "testcase", classname=_xml(report.name), name=_xml(flip.case.key))
            Xml.SubElement(
                case,
                "skipped",
                message=gettext("flips: {passes} of {scored} passed").format(passes=flip.passes, scored=flip.scored),
            )
    totals = {"tests": len(suite), "failures": failures, "errors": errors, "skipped": skipped}
    for name, value in totals.items():
        suite.set(name, str(value))
    found: bytes = Xml.tostring(suite, encoding="utf-8", xml_declaration=True)
    return found


def _xml(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return "".join(c if c in "\t\n" or (ord(c) >= 0x20 and not 0xD800 <= ord(c) <= 0xDFFF) else "�" for c in text)
