"""What changed because of what we send, or of what the endpoint accepts: told apart from what the model does."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from drift.findings.kinds import Kind
from drift.models import Endpoint, Finding, Run, Series

TOLD = ("refused", "ignored", "honoured")


def request_changed(series: Series, run: Run, now: datetime) -> Finding | None:
    """The first run of a series whose endpoint was asked the same suite otherwise before. None if it was not."""
    earlier = (
        Series.objects.filter(endpoint=series.endpoint_id, suite=series.suite_id)
        .exclude(pk=series.pk)
        .order_by("-created_at")
        .first()
    )
    if earlier is None:
        return None
    what = differences(earlier.parameters, series.parameters)
    kind = Kind.REQUEST_CHANGED
    return Finding(
        team_id=series.endpoint.team_id,
        endpoint=series.endpoint,
        series=series,
        run=run,
        kind=kind,
        severity=kind.severity,
        began_at=run.scheduled_for,
        found_at=now,
        facts={"what": what},
    )


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """'temperature 0 → 1, seed 42 → none' of two requests as series keep them."""
    old, new = _flat(before), _flat(after)
    parts = [
        f"{name} {old.get(name, 'none')} → {new.get(name, 'none')}"
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]
    return ", ".join(parts)[:300]


def _flat(value: Mapping[str, Any]) -> dict[str, Any]:
    inner = value.get("parameters")
    flat = {name: item for name, item in value.items() if name != "parameters"}
    return flat | (dict(inner) if isinstance(inner, Mapping) else {})


def capabilities_changed(
    endpoint: Endpoint, before: Mapping[str, tuple[str, str]], after: Mapping[str, tuple[str, str]], now: datetime
) -> list[Finding]:
    """Findings for parameters that are treated otherwise than at the last check, as {name: (state, value)}.

    What was or is not known is no change: a check that could not tell says nothing.
    """
    kind = Kind.CAPABILITY
    found = []
    for name, (state, value) in after.items():
        old = before.get(name)
        if old is None or old == (state, value) or old[0] not in TOLD or state not in TOLD:
            continue
        found.append(
            Finding(
                team_id=endpoint.team_id,
                endpoint=endpoint,
                kind=kind,
                severity=kind.severity,
                began_at=now,
                found_at=now,
                facts={"what": name, "old": " ".join(old).strip(), "new": f"{state} {value}".strip()},
            )
        )
    return found
