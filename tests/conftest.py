"""The cast and the furniture of all tests. Alice owns, Bob is on the team, Mallory is neither."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import redis
from django.conf import settings as django_settings
from django.test import override_settings

from drift.answers import (
    Answer,
    Decoded,
    Exchange,
    FingerprintState,
    IdentityFacts,
    Outcome,
    ScoredToken,
    Transport,
    Usage,
)
from drift.models import Endpoint, EndpointCheck, Membership, Monitor, Role, Run, Series, Suite, Team, User
from drift.partitions import ensure_sample_partition
from drift.provision import make_suite
from drift.record import record_run
from drift.schedule import next_slot
from tests.stack import Processes

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PASSWORD = "low tide at noon"


@pytest.fixture(autouse=True)
def cheap_parts() -> Iterator[None]:
    """Pages without a collected manifest, and passwords that cost nothing: neither is what a test is about."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        STORAGES={**django_settings.STORAGES, "staticfiles": plain},
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    ):
        yield


@pytest.fixture
def team(db: None) -> Team:
    return Team.objects.create(name="Eval team")


def person(name: str, team: Team | None, role: Role) -> User:
    user = User.objects.create_user(name, f"{name}@example.org", PASSWORD)
    if team is not None:
        Membership.objects.create(team=team, user=user, role=role)
    return user


@pytest.fixture
def alice(team: Team) -> User:
    return person("alice", team, Role.OWNER)


@pytest.fixture
def bob(team: Team) -> User:
    return person("bob", team, Role.EDITOR)


@pytest.fixture
def vera(team: Team) -> User:
    """On the team, but may only look."""
    return person("vera", team, Role.VIEWER)


@pytest.fixture
def mallory(db: None) -> User:
    return person("mallory", Team.objects.create(name="Another team"), Role.OWNER)


@pytest.fixture
def suite(team: Team) -> Suite:
    return make_suite(team, "Two questions", (("Fact", "Who was Feynman?", 32), ("List", "Name three seas.", 32)))


@pytest.fixture
def endpoint(team: Team) -> Endpoint:
    return Endpoint.objects.create(
        team=team,
        name="gpt-x",
        provider="Example",
        base_url="http://127.0.0.1:1/v1",
        model="gpt-x",
        parameters={"temperature": 0, "seed": 42},
    )


@pytest.fixture
def monitor(endpoint: Endpoint, suite: Suite) -> Monitor:
    monitor = Monitor(endpoint=endpoint, suite=suite, cadence_s=300, repeats=5, concurrency=4, next_due_at=NOW)
    monitor.next_due_at = next_slot(monitor, NOW)
    monitor.save()
    EndpointCheck.objects.create(endpoint=endpoint, requested_at=NOW, finished_at=NOW, state=EndpointCheck.State.PASSED)
    return monitor


def exchange(started_at: datetime, latency_ms: float = 120.0, **fields: Any) -> Exchange:
    return Exchange(
        request_body=b'{"model": "gpt-x"}',
        transport=Transport.WHOLE,
        started_at=started_at,
        latency_ms=latency_ms,
        status=fields.pop("status", 200),
        body=fields.pop("body", b"{}"),
        **fields,
    )


def read_text(text: str, *, fingerprint: str | None = "fp_one", tokens: bool = True, **fields: Any) -> Decoded:
    """An ordinary answer as the decoder would have read it; one token per word."""
    pieces = [word if i == 0 else " " + word for i, word in enumerate(text.split(" "))]
    scored = tuple(
        ScoredToken(raw, -0.1, ((raw, -0.1), (b"?", -2.1)))
        for raw in (piece.encode("utf-8", "surrogatepass") for piece in pieces)
    )
    return Decoded(
        version=1,
        outcome=fields.pop("outcome", Outcome.TEXT),
        text=text,
        finish="stop",
        finish_reason="stop",
        tokens=scored if tokens else None,
        usage=Usage(prompt_tokens=11, completion_tokens=len(pieces)),
        identity=IdentityFacts(
            model_echo="gpt-x-2026",
            fingerprint_state=FingerprintState.ABSENT if fingerprint is None else FingerprintState.VALUE,
            fingerprint=fingerprint or "",
        ),
        **fields,
    )


@pytest.fixture
def record_answers(db: None) -> Callable[..., Run]:
    """Records a finished run of a monitor from texts (or decoded answers) per canary, in the suite's order."""

    def record(monitor: Monitor, per_canary: Sequence[Sequence[str | Decoded]], at: datetime = NOW) -> Run:
        from drift.endpoints import series_of

        ensure_sample_partition(at)
        claim = uuid4()
        series: Series = series_of(monitor.endpoint, monitor.suite)
        run = Run.objects.create(
            monitor=monitor,
            series=series,
            scheduled_for=at,
            state=Run.State.RUNNING,
            claim=claim,
            lease_until=at + timedelta(minutes=2),
            started_at=at,
            repeats=max(len(texts) for texts in per_canary),
            concurrency=monitor.concurrency,
        )
        canaries = list(monitor.suite.canaries.order_by("places__position"))
        answers = [
            Answer(
                canary.pk,
                repeat,
                exchange(at + timedelta(milliseconds=10 * repeat)),
                read_text(text) if isinstance(text, str) else text,
            )
            for canary, texts in zip(canaries, per_canary, strict=False)
            for repeat, text in enumerate(texts)
        ]
        assert record_run(run, claim, answers, at + timedelta(seconds=5))
        run.refresh_from_db()
        return run

    return record


@pytest.fixture
def processes(tmp_path: Path, transactional_db: None) -> Iterator[Processes]:
    """Starts children against the test database and an emptied broker; none survives the test."""
    redis_client().flushdb()
    ensure_sample_partition(datetime.now(UTC))
    children = Processes(tmp_path)
    try:
        yield children
    finally:
        children.stop_all()


def redis_client() -> redis.Redis:
    url = os.environ["REDIS_URL"]
    if url.startswith("redis+socket://"):
        return redis.Redis(unix_socket_path=url.removeprefix("redis+socket://"))
    return redis.Redis.from_url(url)
