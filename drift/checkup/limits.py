"""What a check-up of this size could have seen, and what it could not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext

from drift import figures
from drift.checkup.load import Difference
from drift.measure.intervals import at_most

if TYPE_CHECKING:
    from drift.checkup.report import Report


def limits(report: Report) -> tuple[str, ...]:
    """Sentences, each with its number; none where nothing comparable came."""
    quiet = report.quiet
    if quiet is None or not quiet.pairs:
        return ()
    said = []
    asked = len([one for one in quiet.questions if one.answers > 1])
    pairs, questions = at_most(quiet.pairs_disjoint), at_most(asked)
    if pairs is not None and questions is not None:
        said.append(
            gettext(
                "With these numbers a divergence of {share} or more would have been seen with 95 %; "
                "questions of a kind that one in {number} belongs to could have been missed."
            ).format(share=figures.percent(pairs), number=round(1 / questions))
        )
    repeats = min((one.answers for one in quiet.questions if one.answers > 1), default=0)
    each = at_most(repeats)
    if each is not None:
        said.append(
            gettext("A question that gave one answer {number} times could still give another in {share}.").format(
                number=repeats, share=figures.percent(each)
            )
        )
    for one in report.under_load:
        if one.difference is not None:
            said.append(
                gettext("At {concurrency} in flight a difference of {reach} would have shown.").format(
                    concurrency=one.concurrency, reach=_reach(one.difference)
                )
            )
    if report.seed.hot is not None:
        said.append(
            gettext("For the seed a difference of {reach} would have shown.").format(reach=_reach(report.seed.hot))
        )
    if report.recorded:
        said.append(
            gettext(
                "How often each item was asked, and when, was not ours to choose: if items were repeated "
                "until something happened, shares are biased, and only where answers part can be trusted."
            )
        )
    else:
        said.append(gettext("All this is of one moment: only watching shows whether it stays so."))
    return tuple(said)


def _reach(found: Difference) -> str:
    half = (found.estimate.high - found.estimate.low) / 2
    return gettext("{half} points").format(half=f"{half * 100:.0f}")
