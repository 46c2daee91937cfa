"""Server time of the pages at 200 endpoints with 90 days of history, at one and at ten million samples.

`make bench-pages`. Pages read sums, so their time must not grow with the samples. Everything in the database is
replaced. Ends with status 1 where a mark is missed. The process's own CPU time stands beside the time on the clock:
where the two are far apart, the machine had other work and the run says little.
"""

from __future__ import annotations

import gc
import os
import statistics
import sys
import time
from dataclasses import dataclass
from typing import Any

ROUNDS = 25
SAMPLES = (1_000_000, 10_000_000)
MEDIAN_MS, RATIO = 100.0, 1.2


@dataclass(frozen=True, slots=True)
class Timed:
    median_ms: float
    slow_ms: float
    cpu_ms: float
    kilobytes: float


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "drift.settings")
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection
    from django.test import Client
    from django.test.utils import override_settings
    from django.utils import timezone

    from drift.models import Membership, Team, User
    from tests.bench.page_history import DAYS, ENDPOINTS, add_samples, furnish

    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    call_command("migrate", verbosity=0)
    now = timezone.now()
    team = Team.objects.create(name="Bench")
    user = User.objects.create_user("bench", "bench@example.org", "low tide at noon")
    Membership.objects.create(team=team, user=user, role="owner")
    furnish(team, now)
    plain = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    seen: dict[str, list[Timed]] = {}
    with override_settings(STORAGES=plain, ALLOWED_HOSTS=["testserver"]):
        client = Client()
        client.force_login(user)
        gc.collect()
        gc.freeze()  # as the web process does once it is loaded (dashboard/wsgi.py)
        for wanted in SAMPLES:
            began = time.perf_counter()
            there = add_samples(wanted, now)
            print(f"{there:,} samples of {ENDPOINTS} endpoints over {DAYS} days ({time.perf_counter() - began:.0f} s)")
            for name, address in pages().items():
                seen.setdefault(name, []).append(timed(client, address))
                shown = seen[name][-1]
                print(
                    f"  {name:<22} median {shown.median_ms:6.1f} ms   95 % {shown.slow_ms:6.1f} ms   "
                    f"own CPU {shown.cpu_ms:6.1f} ms   {shown.kilobytes:5.0f} kB",
                    flush=True,
                )
    sys.exit(judge(seen))


def pages() -> dict[str, str]:
    """The address of each page by name. The first two carry the marks."""
    from django.urls import reverse

    from drift.models import Canary, Endpoint

    endpoint = Endpoint.objects.order_by("pk")[0].public_id
    first = reverse("endpoint", args=[endpoint])
    return {
        "overview": "/",
        "overview, all rows": "/?rows=all",
        "endpoint, 24 hours": first,
        "endpoint, 90 days": f"{first}?range=90d",
        "canary": reverse("canary", args=[endpoint, Canary.objects.order_by("pk")[0].public_id]),
    }


def timed(client: Any, address: str) -> Timed:
    client.get(address)
    times, busy = [], []
    for _ in range(ROUNDS):
        began, began_cpu = time.perf_counter(), time.process_time()
        answer = client.get(address)
        times.append((time.perf_counter() - began) * 1000)
        busy.append((time.process_time() - began_cpu) * 1000)
        assert answer.status_code == 200, f"{address} answered {answer.status_code}"
    slow = statistics.quantiles(times, n=20)[-1]
    return Timed(statistics.median(times), slow, statistics.median(busy), len(answer.content) / 1000)


def judge(seen: dict[str, list[Timed]]) -> int:
    """Prints each page against the marks; 1 if one is missed."""
    missed = 0
    for name, (small, large) in seen.items():
        ratio = large.median_ms / small.median_ms
        fine = ratio <= RATIO and large.median_ms <= MEDIAN_MS
        missed |= not fine
        print(
            f"{name:<22} {large.median_ms:6.1f} ms at ten million samples (mark {MEDIAN_MS:.0f}), "
            f"{ratio:.2f} times one million (mark {RATIO}): {'reached' if fine else 'MISSED'}"
        )
    return missed


if __name__ == "__main__":
    main()
