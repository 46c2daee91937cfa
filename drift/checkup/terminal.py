"""The report as lines for a terminal."""

from __future__ import annotations

from drift import figures
from drift.checkup import words
from drift.checkup.plan import Estimate
from drift.checkup.repeats import Repeats
from drift.checkup.report import Report

BAR = 30


def lines(report: Report) -> list[str]:
    """The verdict, the settings, one line per stage, and what could have been missed."""
    said = ["", *report.verdict, ""]
    if report.settings:
        width = max(len(one.name) for one in report.settings)
        wide = max(len(one.value) for one in report.settings)
        said += [f"  {one.name:<{width}}  {one.value:<{wide}}  {one.why}" for one in report.settings] + [""]
    stages = [one for one in (report.quiet, *report.loads) if one is not None]
    said += [f"  {stage_line(one)}" for one in stages]
    if report.quiet is not None and report.quiet.pairs:
        said.append(f"  {words.horizon_in_words(report.quiet)}; {words.greedy_in_words(report)}")
        said.append(f"  {words.length_in_words(report)} {words.seed_in_words(report)}")
    said.append(f"  Who answers: {words.names_in_words(report)}.")
    return [*said, "", *(f"  - {one}" for one in (*report.limits, *report.notes))]


def stage_line(one: Repeats) -> str:
    """'8 in flight: 60.1 % (43.4 – 74.8 %) of pairs differ, 3.3 of 8 distinct, 340 ms'."""
    if one.divergence is None:
        return f"{one.label}: {one.comparable} of {one.asked} answers can be compared"
    distinct = f"{figures.mean(one.distinct_mean)} of {figures.mean(one.answers_mean)} distinct"
    return (
        f"{one.label}: {words.share_of(one.divergence)} of pairs differ, {distinct}, "
        f"{figures.milliseconds(one.latency_ms)}"
    )


def cost_line(planned: Estimate) -> str:
    """What a check-up costs at most, before it is begun."""
    money = f", at most {figures.money(float(planned.cost))}" if planned.cost is not None else ", price not known"
    return (
        f"{figures.plural(planned.requests, 'request')}, at most {figures.count(planned.tokens)} tokens"
        f" ({figures.count(planned.completion_tokens)} written){money}"
    )


def progress_bar(done: int, wanted: int) -> str:
    """'[######........] 120 of 480'."""
    filled = round(BAR * done / wanted) if wanted else 0
    return f"[{'#' * filled}{'.' * (BAR - filled)}] {figures.count(done)} of {figures.count(wanted)}"
