"""Requests made from the API's own description: nothing breaks, and every answer is as described."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, settings
from ninja import Schema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from dashboard.api.api import api
from drift import tokens
from drift.models import ApiToken, Monitor, Run, User
from tests.dashboard.rows import rows_of


def described() -> dict[str, Any]:
    """The description without its locks: every request here brings the key, and who lacks it is tried elsewhere."""
    schema: dict[str, Any] = api.get_openapi_schema()
    for operations in schema["paths"].values():
        for operation in operations.values():
            operation.pop("security", None)
    return schema


SCHEMA = schemathesis.openapi.from_dict(described())
CHECKS = (
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
)


@pytest.fixture
def door(
    monitor: Monitor, record_answers: Callable[..., Run], alice: User
) -> Iterator[tuple[Any, dict[str, str], dict[str, str]]]:
    """The application, a writing token's headers, and rows that exist."""
    run = record_answers(monitor, [["a b", "a c"], ["x", "x"]])
    _, text = tokens.issue(team=monitor.endpoint.team, user=alice, name="fuzz", scope=ApiToken.Scope.WRITE)
    for signal in (request_started, request_finished):  # the test's transaction outlives its requests
        signal.disconnect(close_old_connections)
    headers = {"Authorization": f"Bearer {text}", "Accept-Encoding": "identity"}  # nothing here unpacks answers
    yield get_wsgi_application(), headers, rows_of(run, alice)
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@SCHEMA.parametrize()
@settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@pytest.mark.django_db
def test_every_operation_answers_as_described(
    case: schemathesis.Case, door: tuple[Any, dict[str, str], dict[str, str]]
) -> None:
    application, headers, rows = door
    known = {name: rows[name] for name in case.path_parameters if name in rows}
    valid = case.meta is None or case.meta.generation.mode.is_positive
    if known and valid:  # a made-up id finds nothing; that is tried by the invalid ones
        case.path_parameters.update(known)
    case.call_and_validate(app=application, headers=headers, checks=list(CHECKS), base_url="http://localhost")


def test_no_two_shapes_share_a_name() -> None:
    shapes: dict[str, set[str]] = {}
    waiting = list(Schema.__subclasses__())
    while waiting:
        shape = waiting.pop()
        waiting += shape.__subclasses__()
        if shape.__module__.startswith("dashboard.api"):
            shapes.setdefault(shape.__name__, set()).add(shape.__module__)
    described_ = api.get_openapi_schema()["components"]["schemas"]
    twice = {name: sorted(modules) for name, modules in shapes.items() if name in described_ and len(modules) > 1}
    assert not twice, "the description keeps one of them and calls both by it"
