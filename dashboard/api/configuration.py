"""The team's set-up as one document, over the API."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Router, Schema
from pydantic import Field

from dashboard.access import team_of
from dashboard.api.fields import Asked
from dashboard.api.problems import problem
from drift.configuration.apply import apply, plan
from drift.configuration.current import current
from drift.configuration.difference import Change
from drift.configuration.read import ConfigurationError, read
from drift.configuration.references import GivenSecrets
from drift.configuration.write import write

router = Router(tags=["Configuration as code"])


class Configuration(Schema):
    yaml: str = Field(description="Endpoints, suites, monitors, channels, rules; secrets as references")


class ConfigurationIn(Asked):
    yaml: Annotated[str, Field(max_length=4_000_000)]
    secrets: Annotated[
        dict[str, Annotated[str, Field(max_length=4000)]],
        Field(description="What each ${NAME} of the file stands for; stored secrets are kept where one is missing"),
    ] = {}
    dry_run: Annotated[bool, Field(strict=True)] = False

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "yaml": "endpoints:\n- name: gpt-4o\n  base_url: https://api.example.com/v1\n  model: gpt-4o\n"
                    "  api_key: ${GPT_X_API_KEY}\n",
                    "secrets": {"GPT_X_API_KEY": "sk-..."},
                    "dry_run": True,
                }
            ]
        }
    }


class ChangeOut(Schema):
    action: Literal["create", "change"]
    kind: str
    name: str
    fields: list[str]


class Applied(Schema):
    dry_run: bool
    changes: list[ChangeOut]


@router.get("/configuration", response=Configuration, summary="The team's set-up as YAML")
def show(request: HttpRequest) -> Any:
    return {"yaml": write(current(team_of(request)).document)}


@router.put("/configuration", response=Applied, summary="Make the set-up what the file says, or show what would change")
def put(request: HttpRequest, body: ConfigurationIn) -> Any:
    secrets = GivenSecrets(body.secrets)
    try:
        wanted = read(body.yaml)
        team = team_of(request)
        changes = plan(team, wanted, secrets)[1] if body.dry_run else apply(team, wanted, secrets)
    except ConfigurationError as error:
        return refused(error)
    return {"dry_run": body.dry_run, "changes": [as_change(one) for one in changes]}


def refused(error: ConfigurationError) -> HttpResponse:
    errors = [{"where": "yaml", "message": line} for line in error.mistakes[:100]]
    return problem(422, "The file cannot be applied; nothing was changed.", errors)


def as_change(change: Change) -> dict[str, Any]:
    return {"action": change.action, "kind": change.kind, "name": change.name, "fields": list(change.fields)}
