"""Scenario, request, time and number in; response out. Nothing else decides what a simulated endpoint says."""

from __future__ import annotations

from dataclasses import replace

from workers.simulate.cases import CASES
from workers.simulate.conditions import storm_over
from workers.simulate.draft import Draft
from workers.simulate.refuse import refusal, unknown_model, unsupported
from workers.simulate.request import Request
from workers.simulate.scenario import Scenario, Storm
from workers.simulate.wire import Wire, whole


def answer(scenario: Scenario, request: Request, *, unix_s: float, elapsed_s: float, index: int) -> Wire:
    """The response to request number `index`, arriving at `unix_s`, `elapsed_s` after the scenario's start."""
    if scenario.api_key and request.headers.get("authorization") != f"Bearer {scenario.api_key}":
        return refusal("openai", "Incorrect API key provided.", status=401, code="invalid_api_key")
    case = CASES.get(scenario.case)
    if case is not None and case.any_route:
        return case.answer(Draft(scenario, request, request.fields, unix_s, elapsed_s, index))
    if request.route.endswith("/models") and request.method == "GET":
        return whole({"object": "list", "data": [{"id": scenario.model, "object": "model", "owned_by": "simulator"}]})
    if not request.route.endswith(("/chat/completions", "/responses")) or request.method != "POST":
        return whole({"detail": "Not Found"}, 404)
    draft = Draft(scenario, request, request.fields, unix_s, elapsed_s, index)
    storm = storm_over(scenario, elapsed_s, index)
    if storm is not None:
        return _refused_by(storm)
    asked = draft.fields.get("model")
    if asked != scenario.model and not (case is not None and case.any_model):
        return unknown_model(scenario, str(asked))
    refused = unsupported(scenario, draft.fields)
    if refused is not None:
        return refused
    if scenario.support.ignored:
        kept = {name: value for name, value in draft.fields.items() if name not in scenario.support.ignored}
        draft = replace(draft, fields=kept)
    return case.answer(draft) if case is not None else draft.plain()


def _refused_by(storm: Storm) -> Wire:
    throttles = storm.status == 429
    message = "Rate limit reached." if throttles else "The simulated server is having a bad day."
    error = {"message": message, "type": "requests", "code": "rate_limit_exceeded" if throttles else None}
    headers = [("retry-after", storm.retry_after)] if storm.retry_after else []
    return whole({"error": error}, storm.status, headers=headers)
