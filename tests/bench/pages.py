"""Server time of the overview and an endpoint page at 200 endpoints with 90 days of history: `make bench-pages`.

Pages read rollups, so the history is written as rollups (200 x 90 days and 30 x 24 hours; what ten million samples
leave behind), with samples behind one canary. Everything in the database is replaced.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from datetime import datetime, timedelta
from typing import Any

ENDPOINTS, DAYS, HOURS, ROUNDS = 200, 90, 30 * 24, 25
SAMPLES_PER_DAY = 555  # 200 endpoints x 90 days x 555 = ten million


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "drift.settings")
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection
    from django.test import Client
    from django.test.utils import override_settings
    from django.urls import reverse
    from django.utils import timezone

    from drift.models import Endpoint, Membership, Team, User

    plain = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    call_command("migrate", verbosity=0)
    now = timezone.now()
    team = Team.objects.create(name="Bench")
    user = User.objects.create_user("bench", "bench@example.org", "low tide at noon")
    Membership.objects.create(team=team, user=user, role="owner")
    with override_settings(STORAGES=plain, ALLOWED_HOSTS=["testserver"]):
        client = Client()
        client.force_login(user)
        for endpoints in (ENDPOINTS // 10, ENDPOINTS):
            build(team, endpoints, now)
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")
            first = reverse("endpoint", args=[Endpoint.objects.order_by("pk")[0].public_id])
            for name, address in (
                ("overview", "/"),
                ("endpoint, 24 hours", first),
                ("endpoint, 90 days", f"{first}?range=90d"),
            ):
                print(f"{endpoints:>4} endpoints  {name:<20} {measured(client, address)}")


def measured(client: Any, address: str) -> str:
    client.get(address)
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        answer = client.get(address)
        times.append((time.perf_counter() - began) * 1000)
        assert answer.status_code == 200
    quantiles = statistics.quantiles(times, n=20)
    return f"median {statistics.median(times):6.1f} ms   95 % {quantiles[-1]:6.1f} ms   {len(answer.content) / 1000:6.0f} kB"


def build(team: Any, endpoints: int, now: datetime) -> None:
    """Brings the number of endpoints up to `endpoints`."""
    from drift.endpoints import series_of
    from drift.models import CanaryBucket, Endpoint, Identity, Monitor, Reading, Run, SeriesBucket, Span, Suite
    from drift.provision import ensure_default_suite
    from drift.rollups import start_of

    suite: Suite = ensure_default_suite(team)
    canaries = list(suite.canaries.all())
    rng = random.Random(1)
    for number in range(Endpoint.objects.count(), endpoints):
        endpoint = Endpoint.objects.create(
            team=team,
            name=f"endpoint {number:03}",
            provider=f"provider {number % 9}",
            base_url="https://api.example.com/v1",
            model=f"model-{number % 17}",
            parameters={"temperature": 0, "seed": 42},
        )
        monitor = Monitor.objects.create(endpoint=endpoint, suite=suite, next_due_at=now + timedelta(minutes=1))
        series = series_of(endpoint, suite)
        identity = Identity.objects.create(
            endpoint=endpoint, digest=b"x", fingerprint_state="value", fingerprint=f"fp_{number:010x}",
            first_seen=now - timedelta(days=DAYS), last_seen=now, samples_count=SAMPLES_PER_DAY * DAYS,
        )  # fmt: skip
        Reading.objects.create(
            series=series, taken_at=now, samples=SAMPLES_PER_DAY, comparable=SAMPLES_PER_DAY, divergence=0.2, divergence_low=0.1,
            divergence_high=0.3, pairs=4000, pairs_differing=800, canaries=8, distinct_mean=1.4, answers_mean=5.0, total_agreement=0.6,
            first_divergence=24, horizon=18, horizon_limit_seen=True, tokens_known=True, latency_p50_ms=900, latency_p95_ms=2100,
        )  # fmt: skip
        Run.objects.bulk_create(
            Run(monitor=monitor, series=series, scheduled_for=now - timedelta(minutes=5 * i), state="finished", repeats=5,
                concurrency=4, started_at=now - timedelta(minutes=5 * i), finished_at=now - timedelta(minutes=5 * i), samples_stored=40)
            for i in range(1, 300)
        )  # fmt: skip
        starts = [(Span.DAY, start_of(Span.DAY, now) - timedelta(days=i)) for i in range(DAYS)]
        starts += [(Span.HOUR, start_of(Span.HOUR, now) - timedelta(hours=i)) for i in range(HOURS)]
        SeriesBucket.objects.bulk_create(
            SeriesBucket(
                series=series, span=span, starts_at=at, runs=12, samples=500, comparable=498, outcomes={"text": 498, "timeout": 2},
                identities={str(identity.pk): 498}, latency={"59": 300, "62": 190, "66": 8}, pairs=4000, pairs_differing=800,
                divergence=(d := rng.uniform(0.1, 0.3)), divergence_low=d - 0.05, divergence_high=d + 0.1, canaries=8,
                groups=96, groups_identical=60, distinct_sum=130, answers_sum=480,
            )
            for span, at in starts
        )  # fmt: skip
        CanaryBucket.objects.bulk_create(
            CanaryBucket(series=series, canary=canary, span=span, starts_at=at, samples=62, output_counts={"1": 40, "2": 9})
            for span, at in starts[:DAYS] + starts[DAYS : DAYS + 48]
            for canary in canaries
        )  # fmt: skip


if __name__ == "__main__":
    main()
