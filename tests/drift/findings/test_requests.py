"""What we changed ourselves is never taken for what the model did."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone

from drift import endpoints
from drift.findings.kinds import Kind
from drift.models import Endpoint, Finding, Incident, Monitor, Run
from tests.conftest import NOW


def test_another_request_begins_a_series_and_is_told_as_such(
    endpoint: Endpoint, monitor: Monitor, record_answers: Callable[..., Run]
) -> None:
    record_answers(monitor, [["a"] * 3, ["b"] * 3])
    endpoint.parameters = {"temperature": 1, "seed": 42}
    endpoint.save()
    monitor.refresh_from_db()
    for slot in (1, 2):
        record_answers(monitor, [["c"] * 3, ["d"] * 3], NOW + timedelta(minutes=5 * slot))

    finding = Finding.objects.get()
    assert finding.kind == Kind.REQUEST_CHANGED
    assert finding.facts["what"] == "temperature 0 → 1"
    assert not Incident.objects.exists()


def checked(endpoint: Endpoint, **capabilities: str) -> None:
    endpoints.finish_check(
        endpoints.recheck(endpoint, None),
        now=timezone.now(),
        problem="",
        report={},
        capabilities={name: (state, "", "") for name, state in capabilities.items()},
        settings={},
    )


def test_a_parameter_that_is_treated_otherwise_opens_an_incident(endpoint: Endpoint) -> None:
    checked(endpoint, seed="honoured", logprobs="honoured", n="unknown")
    assert not Finding.objects.exists(), "the first check only learns"
    checked(endpoint, seed="honoured", logprobs="refused", n="refused")

    finding = Finding.objects.get()
    assert finding.facts == {"what": "logprobs", "old": "honoured", "new": "refused"}
    assert Incident.objects.get().title == "gpt-x: a parameter is treated otherwise"
