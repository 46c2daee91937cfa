"""Signed-in clients, and static files without a build step."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from django.test.utils import override_settings

from drift.models import Canary, Monitor, Run, Sample, Series, User

SPLIT = (["the tide is out"] * 3 + ["the tide was in"] * 2, ["one two three"] * 5)


@pytest.fixture(autouse=True)
def _plain_static() -> Iterator[None]:
    backend = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    quick = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    with override_settings(STORAGES={"staticfiles": backend}, PASSWORD_HASHERS=quick):
        yield


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def as_alice(alice: User) -> Client:
    return signed_in(alice)


@pytest.fixture
def as_vera(vera: User) -> Client:
    return signed_in(vera)


@pytest.fixture
def as_mallory(mallory: User) -> Client:
    return signed_in(mallory)


@pytest.fixture
def measured(monitor: Monitor, record_answers: Callable[..., Run]) -> Series:
    """A series with one finished run a moment ago: the first canary diverges, the second does not."""
    from django.utils import timezone

    run = record_answers(monitor, SPLIT, at=timezone.now())
    assert run.series
    return run.series


@pytest.fixture
def canary(monitor: Monitor) -> Canary:
    return monitor.suite.canaries.order_by("places__position")[0]


@pytest.fixture
def sample(measured: Series, canary: Canary) -> Sample:
    return Sample.objects.filter(series=measured, canary=canary).order_by("repeat")[0]
