"""Every page and every API operation, as a stranger, an outsider and a viewer. Generated from the URL list.

A new route is walked by itself. One that takes a new kind of name fails here until `ROWS` has such a row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RegexPattern

from dashboard.api.api import api
from drift import tokens
from drift.models import ApiToken, AuditEntry, Monitor, Run, User
from tests.dashboard.rows import rows_of

OPEN_TO_ALL = {
    "healthz": "signs of life for machines",
    "readyz": "signs of life for machines",
    "login": "the door",
    "language": "whoever reads may choose the language",
    "openapi-json": "the API's description, the same for everyone",
    "api-root": "says that there is nothing there",
    "metrics": "has a token of its own",
    "badge": "its address is signed",
    "status-page": "its address is a secret",
    "invitation": "its address is signed",
}
OF_ONE_PERSON = {
    "logout",
    "password",
    "login",
    "team-switch",
    "team-leave",
    "session-end",
    "language",
    "you",
    "team-new",
}
NOT_OURS = "/account/"  # django-allauth's own pages: each changes only what is the person's own
CHANGING = ("POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True, slots=True)
class Route:
    """`path` with its parameters still open; `names`: what they are called."""

    name: str
    path: str
    names: tuple[str, ...]
    converters: dict[str, Any]

    def filled(self, rows: dict[str, str]) -> str:
        missing = [name for name in self.names if name not in rows]
        assert not missing, f"{self.name}: add a row called {missing} to tests/dashboard/rows.py"
        path = self.path
        for name in self.names:
            own = rows.get(f"{self.path.split('/')[1]}:{name}", rows[name])
            path = path.replace(f"<{name}>", own)
        return path


def routes(patterns: list[URLPattern | URLResolver], before: str = "/") -> Iterator[Route]:
    for pattern in patterns:
        text = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, text)
            continue
        converters = getattr(pattern.pattern, "converters", {})
        if isinstance(pattern.pattern, RegexPattern):
            names = tuple(pattern.pattern.regex.groupindex)
            written = re.sub(r"\(\?P<(\w+)>[^)]*\)", r"<\1>", str(pattern.pattern)).strip("^$").replace("\\.", ".")
            yield Route(pattern.name or written, before + written, names, {})
            continue
        for name, converter in converters.items():
            for written in (f"<{_kind(converter)}:{name}>", f"<{name}>"):
                text = text.replace(written, f"<{name}>")
        yield Route(pattern.name or text, text, tuple(converters), converters)


def _kind(converter: Any) -> str:
    return {"UUIDConverter": "uuid", "SlugConverter": "slug", "IntConverter": "int", "PathConverter": "path"}.get(
        type(converter).__name__, "str"
    )


ALL = [route for route in routes(get_resolver().url_patterns) if not route.path.startswith(NOT_OURS)]
PAGES = [route for route in ALL if not route.path.startswith("/api/v1/")]


def uuids(route: Route) -> list[str]:
    """Its parameters that are public ids; in a regular expression they are told by name."""
    by_name = [name for name in route.names if name == "source"]
    return by_name + [name for name, converter in route.converters.items() if _kind(converter) == "uuid"]


def nowhere(route: Route) -> dict[str, str]:
    return {key: str(uuid4()) for name in uuids(route) for key in (name, f"{route.path.split('/')[1]}:{name}")}


OWNED = [route for route in PAGES if uuids(route) and route.name not in OPEN_TO_ALL]
OPERATIONS = [
    (method.upper(), path) for path, methods in api.get_openapi_schema()["paths"].items() for method in methods
]


@pytest.fixture
def rows(monitor: Monitor, record_answers: Callable[..., Run], alice: User) -> dict[str, str]:
    run = record_answers(monitor, [["a b", "a c"], ["x", "x"]])
    return rows_of(run, alice)


def named(routes: list[Route]) -> Any:
    return pytest.mark.parametrize("route", routes, ids=lambda route: route.name)


def test_the_list_is_whole() -> None:
    assert len(PAGES) > 25
    assert len(OPERATIONS) > 25


@named([route for route in PAGES if route.name not in OPEN_TO_ALL])
def test_a_stranger_is_sent_to_the_door(route: Route, rows: dict[str, str]) -> None:
    for method in ("GET", "POST"):
        answer = Client().generic(method, route.filled(rows))
        assert answer.status_code == 302, f"{method} {route.path} answered {answer.status_code} to a stranger"
        assert answer["Location"].startswith("/login")


@named(OWNED)
def test_an_outsider_finds_nothing(route: Route, rows: dict[str, str], mallory: User) -> None:
    client = Client()
    client.force_login(mallory)
    for method in ("GET", *CHANGING):
        answer = client.generic(method, route.filled(rows))
        assert answer.status_code in (404, 405), f"{method} {route.path} answered {answer.status_code} to an outsider"
        if answer.status_code == 404:
            absent = client.generic(method, route.filled({**rows, **nowhere(route)}))
            assert told(absent) == told(answer), f"{route.path} tells another team's row from none"


@named([route for route in PAGES if route.name not in OPEN_TO_ALL])
def test_a_viewer_changes_nothing(route: Route, rows: dict[str, str], vera: User) -> None:
    if route.name in OF_ONE_PERSON:
        pytest.skip("changes only what is the person's own")
    client = Client()
    client.force_login(vera)
    before = everything()
    for method in CHANGING:
        answer = client.generic(method, route.filled(rows))
        assert answer.status_code in (403, 404, 405) or (answer.status_code == 200 and before == everything()), (
            f"{method} {route.path} answered {answer.status_code} to a viewer"
        )
    assert before == everything()


@named([route for route in PAGES if route.name not in OPEN_TO_ALL and not uuids(route)])
def test_a_list_shows_an_outsider_none_of_our_names(route: Route, rows: dict[str, str], mallory: User) -> None:
    client = Client()
    client.force_login(mallory)
    answer = client.get(route.filled(rows))
    assert b"gpt-x" not in answer.content
    assert b"Two questions" not in answer.content


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=[f"{m} {p}" for m, p in OPERATIONS])
def test_the_api_asks_who_is_there(method: str, path: str, rows: dict[str, str], mallory: User, vera: User) -> None:
    at = api_path(path, rows)
    assert Client().generic(method, at).status_code == 401

    outsider = speaking(mallory, ApiToken.Scope.WRITE)
    answer = outsider.generic(method, at, "{}", content_type="application/json")
    allowed = (404, 422) if "{" in path else (200, 201, 202, 400, 404, 422)
    assert answer.status_code in allowed, f"{method} {path} answered {answer.status_code} to an outsider"
    assert b"gpt-x" not in answer.content
    assert b"Two questions" not in answer.content

    if method != "GET":
        reader = speaking(vera, ApiToken.Scope.READ)
        before = everything()
        answer = reader.generic(method, at, "{}", content_type="application/json")
        assert answer.status_code == 403, f"{method} {path} answered {answer.status_code} to a reading token"
        assert before == everything()


def api_path(path: str, rows: dict[str, str]) -> str:
    for name, value in rows.items():
        path = path.replace(f"{{{name}}}", value)
    assert "{" not in path, f"{path}: add a row to tests/dashboard/rows.py"
    return path


def speaking(user: User, scope: str) -> Client:
    _, text = tokens.issue(team=user.teams.get(), user=user, name="walk", scope=scope)
    return Client(headers={"Authorization": f"Bearer {text}"})


def told(answer: Any) -> tuple[int, str]:
    """The answer without what differs each time: form keys and the ids that were asked for."""
    text = answer.content.decode(errors="replace")
    return answer.status_code, re.sub(r'csrfmiddlewaretoken" value="[^"]*"|[0-9a-f]{8}-[0-9a-f-]{27}', "", text)


def everything() -> dict[str, int]:
    """Rows by model, and the newest line of the audit log: what any change would move."""
    moving = {"session", "usersession", "apitoken", "auditentry"}
    counts = {m.__name__: m.objects.count() for m in apps.get_models() if m._meta.model_name not in moving}
    counts["audit"] = AuditEntry.objects.exclude(subject="apitoken").count()
    return counts
