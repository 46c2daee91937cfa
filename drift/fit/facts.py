"""What is known of an endpoint when it is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from drift.checkup.report import Report
from drift.checkup.store import latest_of, report_of
from drift.models import Baseline, Endpoint


@dataclass(frozen=True, slots=True)
class Facts:
    """`report`: of the latest check-up, None where there is none. `baseline`: valid, invalidated, collecting or ''.

    `own_price`: what the in-house worker's invariant mode costs, in a sentence, '' where that was not measured.
    """

    name: str
    in_house: str
    parameters: Mapping[str, Any]
    report: Report | None
    reported_at: datetime | None
    baseline: str
    baseline_words: str
    checkup: str
    own_price: str = ""


def gather(endpoints: Sequence[Endpoint], own_price: str = "") -> list[Facts]:
    """Two queries, whatever the number of endpoints."""
    ids = [one.pk for one in endpoints]
    latest = latest_of(ids)
    states: dict[int, Baseline] = {}
    order = {Baseline.State.VALID: 0, Baseline.State.INVALIDATED: 1, Baseline.State.COLLECTING: 2}
    rows = Baseline.objects.filter(series__endpoint__in=ids, state__in=list(order)).select_related("series")
    for row in sorted(rows, key=lambda row: order[Baseline.State(row.state)], reverse=True):
        states[row.series.endpoint_id] = row
    return [_facts(one, latest.get(one.pk), states.get(one.pk), own_price) for one in endpoints]


def _facts(endpoint: Endpoint, checked: Any, baseline: Baseline | None, own_price: str) -> Facts:
    checkup, at = checked or (None, None)
    return Facts(
        name=endpoint.name,
        in_house=endpoint.in_house,
        parameters=endpoint.parameters,
        report=report_of(checkup) if checkup else None,
        reported_at=at,
        baseline=baseline.state if baseline else "",
        baseline_words=(baseline.reason or str(baseline)) if baseline else "",
        checkup=str(checkup.public_id) if checkup else "",
        own_price=own_price,
    )
