"""What a new installation begins with: a team, its owner, the default suite, the in-house endpoints."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.db import transaction

from drift import endpoints, monitors
from drift.models import Canary, Endpoint, Membership, Role, Suite, SuiteCanary, Team, User

DEFAULT_SUITE = "First canaries"
CADENCE_S = 120
REPEATS = 5
CONCURRENCY = 8

# Short fact, list, code, arithmetic, translation, long prose, JSON, Chinese: ways in which answers part early or late.
CANARIES: tuple[tuple[str, str, int], ...] = (
    ("Short fact", "Who was Richard Feynman? Answer in one short paragraph.", 96),
    ("List", "List seven common household objects made of glass, one per line.", 64),
    ("Code", "Write a Python function that returns the n-th Fibonacci number, with a docstring.", 96),
    ("Arithmetic", "A train travels 180 km in 2.5 hours. What is its average speed? Show each step.", 96),
    ("Translation", "Translate into French: The tide rises twice a day, and nobody is surprised.", 48),
    ("Long prose", "Tell the story of a lighthouse keeper who measures the sea every day.", 128),
    ("JSON", "Give the three largest oceans as a JSON array of objects with name and area_km2.", 96),
    ("Chinese", "用中文写三句话，介绍一下潮汐是怎么形成的。", 64),
)


@dataclass(frozen=True, slots=True)
class Admin:
    """The owner of the first team. `password` is set only when the account was made just now."""

    user: User
    password: str | None


def ensure_admin() -> Admin:
    """The first administrator and their team, made with a fresh password if there is no user yet."""
    with transaction.atomic():
        user = User.objects.filter(is_superuser=True).order_by("id").first()
        password = None
        if user is None:
            password = secrets.token_urlsafe(12)
            user = User.objects.create_superuser("admin", "admin@localhost.localdomain", password)
        if not user.memberships.exists():
            team = Team.objects.create(name="My team")
            Membership.objects.create(team=team, user=user, role=Role.OWNER)
    return Admin(user, password)


def ensure_default_suite(team: Team) -> Suite:
    """The default suite of eight canaries, newest version."""
    with transaction.atomic():
        Team.objects.select_for_update().get(pk=team.pk)  # two at once make one suite
        known = Suite.objects.filter(team=team, name=DEFAULT_SUITE).order_by("-version").first()
        return known or make_suite(team, DEFAULT_SUITE, CANARIES)


def make_suite(team: Team, name: str, canaries: tuple[tuple[str, str, int], ...], version: int = 1) -> Suite:
    """A suite from (name, user message, cap) triples."""
    with transaction.atomic():
        suite = Suite.objects.create(team=team, name=name, version=version)
        for position, (title, prompt, cap) in enumerate(canaries):
            canary = Canary.objects.create(
                team=team, name=title, messages=[{"role": "user", "content": prompt}], max_tokens=cap
            )
            SuiteCanary.objects.create(suite=suite, canary=canary, position=position)
    return suite


def ensure_in_house(team: Team, mode: str, base_url: str, model: str) -> Endpoint:
    """Our own worker in one mode as an endpoint with a monitor; only its address follows if it is there already."""
    with transaction.atomic():
        known = Endpoint.objects.filter(team=team, in_house=mode).order_by("id").first()
        if known is not None:
            if known.base_url != base_url:
                Endpoint.objects.filter(pk=known.pk).update(base_url=base_url)
                known.base_url = base_url
            return known
        endpoint = endpoints.register(
            team=team,
            user=None,
            name=f"smollm2 · {mode}",
            provider="in-house",
            base_url=base_url,
            model=model,
            in_house=mode,
            max_concurrency=CONCURRENCY,
        )
        monitors.create(
            endpoint=endpoint,
            suite=ensure_default_suite(team),
            cadence_s=CADENCE_S,
            repeats=REPEATS,
            concurrency=CONCURRENCY,
        )
    return endpoint
