"""The API put together: its routers, its errors, its description."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, URLResolver
from ninja import NinjaAPI, Router
from ninja.openapi.schema import OpenAPISchema

from dashboard.api import (
    baselines,
    canary_answers,
    channels,
    checkups,
    compare,
    configuration,
    drills,
    endpoints,
    fit,
    in_house,
    incidents,
    marks,
    monitors,
    observations,
    readings,
    runs,
    suites,
    team,
    trials,
    trust,
)
from dashboard.api.auth import TokenAuth
from dashboard.api.evals import reports, sets, uploads
from dashboard.api.evals import runs as eval_runs
from dashboard.api.problems import CONTENT_TYPE, Problem, handle_all

DESCRIPTION = """\
Everything the pages can do. Send a team's token as `Authorization: Bearer tgr_...` (reads) or `tgw_...` (writes).

Lists come in pages: pass `next` back as `cursor`. A request that changes something may carry an `Idempotency-Key`;
its repeat within a day gets the first answer again. Errors are `application/problem+json`. Times are UTC in ISO 8601;
an unknown figure is null.
"""
REFUSALS = {
    "400": "The request cannot be read",
    "401": "No token, or one that is not valid any more",
    "403": "The token only reads",
    "404": "No such thing in your team",
    "409": "This contradicts what is stored",
    "422": "A value is not valid",
    "503": "The database is away; send it again after `Retry-After` seconds",
}


class Api(NinjaAPI):
    """Open to Django's log-in rule (tokens rule here), and honest about its refusals in its description."""

    def _get_urls(self) -> list[URLResolver | URLPattern]:
        urls = super()._get_urls()
        for url in urls:
            if isinstance(url, URLPattern):
                url.callback.login_required = False  # type: ignore[attr-defined]
        return urls

    def get_openapi_schema(self, **kwargs: Any) -> OpenAPISchema:
        schema = super().get_openapi_schema(**kwargs)
        shape = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        schema["components"].setdefault("schemas", {}).update(shape.pop("$defs"), Problem=shape)
        content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        for operations in schema["paths"].values():
            for method, operation in operations.items():
                for status, meaning in REFUSALS.items():
                    if status == "403" and method == "get":
                        continue
                    operation["responses"].setdefault(status, {"description": meaning, "content": content})
        return schema


def build() -> Api:
    api = Api(
        title="Tidegauge",
        version="1",
        description=DESCRIPTION,
        auth=TokenAuth(),
        docs_url=None,
        urls_namespace="api",
    )
    handle_all(api)
    routers: list[tuple[str, Router]] = [
        ("/endpoints", endpoints.router),
        ("", trials.router),
        ("", suites.router),
        ("/monitors", monitors.router),
        ("", runs.router),
        ("/checkups", checkups.router),
        ("", fit.router),
        ("", readings.router),
        ("", team.router),
        ("", configuration.router),
        ("", observations.router),
        ("", trust.router),
        ("", incidents.router),
        ("", channels.router),
        ("", drills.router),
        ("", baselines.router),
        ("", canary_answers.router),
        ("", compare.router),
        ("", in_house.router),
        ("", marks.router),
        ("/evals", sets.router),
        ("/evals", eval_runs.router),
        ("/evals", uploads.router),
        ("/evals", reports.router),
    ]
    for prefix, router in routers:
        api.add_router(prefix, router)
    return api


api = build()
