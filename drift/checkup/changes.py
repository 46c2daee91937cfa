"""What moved between two check-ups: of one endpoint at two dates, or of two endpoints asked the same."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.utils.translation import gettext

from drift import figures
from drift.checkup.load import Difference, difference
from drift.checkup.repeats import texts
from drift.checkup.report import Report
from drift.checkup.taken import Examination
from drift.measure.agreement import whitespace_normalised
from drift.measure.intervals import Estimate
from drift.measure.two_sample import compare_shares, kind_of_difference, tabulate

SURE = 0.01


@dataclass(frozen=True, slots=True)
class Changes:
    """`answers`: not_found, formatting or content; None where they were not asked the same. `effect`: how much more
    often answers of different sides differ than those of one; `divergence`: now minus before.
    """

    before: datetime
    shared: int
    answers: str | None
    p: float | None
    effect: Estimate | None
    divergence: Difference | None
    new_names: tuple[str, ...]
    gone_names: tuple[str, ...]
    capabilities: tuple[str, ...]

    @property
    def sentence(self) -> str:
        if self.answers is None:
            return gettext(
                "The two were not asked the same questions with the same cap, so their answers cannot be compared."
            )
        said = {
            "not_found": gettext("The answers come from the same set as before, as far as could be seen"),
            "formatting": gettext("The answers differ from before in white space only"),
            "content": gettext("Other answers come than before"),
        }[self.answers]
        names = figures.listed(self.new_names)
        if self.p is not None:
            pattern = (
                gettext("{said} (p = {p}; new name: {names}).") if self.new_names else gettext("{said} (p = {p}).")
            )
            return pattern.format(said=said, p=f"{self.p:.3f}", names=names)
        pattern = gettext("{said}; new name: {names}.") if self.new_names else gettext("{said}.")
        return pattern.format(said=said, names=names)


def changes(now: Examination, before: Examination, report: Report, earlier: Report) -> Changes:
    """Answers are compared question by question, quiet stages only; names and capabilities by what was seen."""
    here, there = now.quiet, before.quiet
    names = {one.label for one in report.identities.names}, {one.label for one in earlier.identities.names}
    same_cap = here is not None and there is not None and here.max_tokens == there.max_tokens
    shared = []
    if here is not None and there is not None and same_cap:
        ours, theirs = here.by_question(), there.by_question()
        shared = [(ours[key], theirs[key]) for key in ours if len(ours[key]) > 1 and len(theirs.get(key, ())) > 1]
    pairs = [(list(texts(a).elements()), list(texts(b).elements())) for a, b in shared]
    raw = compare_shares([tabulate(a, b) for a, b in pairs], np.random.default_rng(2))
    even = compare_shares(
        [tabulate([*map(whitespace_normalised, a)], [*map(whitespace_normalised, b)]) for a, b in pairs],
        np.random.default_rng(2),
    )
    return Changes(
        before=earlier.began,
        shared=len(shared),
        answers=kind_of_difference(raw, even, SURE).value if raw and even else None,
        p=raw.p if raw else None,
        effect=raw.effect if raw else None,
        divergence=difference(here, there) if shared else None,
        new_names=tuple(sorted(names[0] - names[1])),
        gone_names=tuple(sorted(names[1] - names[0])),
        capabilities=_capabilities(report, earlier),
    )


def _capabilities(report: Report, earlier: Report) -> tuple[str, ...]:
    was = {one.name: one.state for one in earlier.capabilities}
    return tuple(
        gettext("{name}: {before} before, {now} now").format(
            name=one.name, before=figures.words(was[one.name]), now=figures.words(one.state)
        )
        for one in report.capabilities
        if one.name in was and was[one.name] != one.state
    )
