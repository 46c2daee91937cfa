"""Whether yesterday's numbers may be trusted now: what a pipeline asks before it compares."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Any

from django.utils.translation import gettext

from drift.endpoints import series_of
from drift.findings.words import at
from drift.models import Baseline, Endpoint, Series, SeriesWatch

STALE_SLOTS = 3
SHORTEST_STALE = timedelta(minutes=30)


class Answer(IntEnum):
    """The exit status. 1 and 2 are left to errors of the command itself."""

    VALID = 0
    VOID = 3
    NOT_ENOUGH = 4


@dataclass(frozen=True, slots=True)
class Gate:
    """`why` in a sentence; `baseline` in force, or the one that was; `since`: valid or void since when."""

    answer: Answer
    why: str
    endpoint: Endpoint
    series: Series | None = None
    baseline: Baseline | None = None
    since: datetime | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain data for scripts."""
        baseline = self.baseline
        return {
            "answer": self.answer.name.lower(),
            "trust": self.answer is Answer.VALID,
            "exit_status": int(self.answer),
            "why": self.why,
            "endpoint": {"id": str(self.endpoint.public_id), "name": self.endpoint.name},
            "series": str(self.series.public_id) if self.series else None,
            "since": self.since.isoformat() if self.since else None,
            "baseline": {
                "id": str(baseline.public_id),
                "name": baseline.name,
                "state": baseline.state,
                "taken_from": baseline.since.isoformat(),
                "taken_until": baseline.until.isoformat() if baseline.until else None,
                "answers": baseline.answers_count,
                "divergence": baseline.divergence,
            }
            if baseline
            else None,
        }


def gate(endpoint: Endpoint, now: datetime, since: datetime | None = None) -> Gate:
    """VALID only if the baseline of what is asked now is valid, fresh, and nothing is suspected.

    `since`: when the pipeline's own reference numbers were taken; a baseline that began after it does not cover them.
    Several suites: the worst answer counts.
    """

    monitors = endpoint.monitors.select_related("suite").filter(active=True)
    answers = [_of_series(endpoint, series_of(endpoint, m.suite), m.cadence_s, now, since) for m in monitors]
    if not answers:
        return Gate(Answer.NOT_ENOUGH, gettext("No active monitor: nothing is measured."), endpoint)
    order = (Answer.VOID, Answer.NOT_ENOUGH, Answer.VALID)
    return min(answers, key=lambda each: order.index(each.answer))


def _of_series(endpoint: Endpoint, series: Series, cadence_s: int, now: datetime, since: datetime | None) -> Gate:
    newest = series.baselines.order_by("-since", "-pk").first()
    valid = series.baselines.filter(state=Baseline.State.VALID).first()
    if valid is None:
        void = series.baselines.filter(state=Baseline.State.INVALIDATED).order_by("-invalidated_at").first()
        if void is not None and newest is not None:
            why = gettext("{reason} A new one is being taken: {number} of {wanted} runs.").format(
                reason=void.reason, number=newest.runs_count, wanted=newest.wanted_runs
            )
            return Gate(Answer.VOID, why, endpoint, series, void, void.invalidated_at)
        if newest is not None and newest.state == Baseline.State.COLLECTING:
            why = gettext("The first baseline is being taken: {runs_count} of {wanted_runs} runs.").format(
                runs_count=newest.runs_count, wanted_runs=newest.wanted_runs
            )
            return Gate(Answer.NOT_ENOUGH, why, endpoint, series, newest)
        return Gate(Answer.NOT_ENOUGH, gettext("Nothing was measured with the request as it is now."), endpoint, series)
    if since is not None and since < valid.since and _void_between(series, since):
        why = gettext("The baseline that held {since} is void; the one in force was taken from {since_2} on.").format(
            since=at(since), since_2=at(valid.since)
        )
        return Gate(Answer.VOID, why, endpoint, series, valid, valid.valid_at)
    last = series.runs.filter(state="finished", samples_comparable__gt=0).order_by("-finished_at").first()
    stale = max(SHORTEST_STALE, STALE_SLOTS * timedelta(seconds=cadence_s))
    if last is None or last.finished_at is None or now - last.finished_at > stale:
        when = at(last.finished_at) if last and last.finished_at else gettext("never")
        why = gettext(
            "The baseline is valid but was not checked lately: the last comparable answers came {when}."
        ).format(when=when)
        return Gate(Answer.NOT_ENOUGH, why, endpoint, series, valid, valid.valid_at)
    watch = SeriesWatch.objects.filter(series=series).first()
    if watch is not None and watch.watching:
        why = gettext(
            "Something may be changing ({watching} was seen for the first time): ask again in some minutes."
        ).format(watching=watch.watching)
        return Gate(Answer.NOT_ENOUGH, why, endpoint, series, valid, valid.valid_at)
    why = gettext("Baseline {valid} is valid since {valid_at}, {answers_count} answers.").format(
        valid=valid, valid_at=at(valid.valid_at or valid.since), answers_count=valid.answers_count
    )
    return Gate(Answer.VALID, why, endpoint, series, valid, valid.valid_at)


def _void_between(series: Series, since: datetime) -> bool:
    """Whether a baseline that covered `since` was voided after it."""
    return series.baselines.filter(since__lte=since, invalidated_at__gt=since).exists()
