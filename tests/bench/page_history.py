"""Ninety days of two hundred endpoints, made inside the database: what `make bench-pages` looks at.

Runs, samples and the sums that pages read are written by SQL, for ten million rows do not go through an ORM in
reasonable time. The sums have the size and shape that the recorder leaves; the samples have no logprobs.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

ENDPOINTS, DAYS, HOURS = 200, 90, 30 * 24
CANARIES, REPEATS = 8, 5

RUNS = """
INSERT INTO drift_run (public_id, scheduled_for, origin, state, repeats, concurrency, missed_slots, attempts, started_at,
    finished_at, problem, samples_stored, samples_comparable, samples_done, monitor_id, series_id)
SELECT gen_random_uuid(), at, 'schedule', 'finished', %(repeats)s, 4, 0, 1, at, at + interval '6 s', '', 40, 40, 40, m.id, s.id
  FROM drift_monitor m JOIN drift_series s ON s.endpoint_id = m.endpoint_id,
       LATERAL (SELECT %(now)s::timestamptz - n * (%(days)s * interval '1 day' / %(all)s) AS at
                  FROM generate_series(%(first)s, %(last)s) n) slots
"""
SAMPLES = """
INSERT INTO drift_sample (scheduled_for, repeat, public_id, outcome, cold, started_at, latency_ms, attempts, http_status,
    transport_error, finish, finish_reason, prompt_tokens, completion_tokens, completion_id, error_code, error_message,
    headers, request, raw, decoder_version, canary_id, identity_id, output_id, run_id, series_id)
SELECT r.scheduled_for, n, gen_random_uuid(), 'text', n = 0, r.scheduled_for, 400 + random() * 900, 1, 200, '', 'stop', 'stop',
       11, 24, '', '', '', '{}', '\\x7b7d', '\\x7b7d', 1, p.canary_id, i.id,
       outputs.ids[1 + floor(random() * random() * 4)::int], r.id, r.series_id
  FROM drift_run r JOIN drift_series s ON s.id = r.series_id JOIN drift_suitecanary p ON p.suite_id = s.suite_id
  JOIN drift_identity i ON i.endpoint_id = s.endpoint_id
  JOIN (SELECT canary_id, array_agg(id ORDER BY id) AS ids FROM drift_output GROUP BY 1) outputs USING (canary_id),
       generate_series(0, %(repeats)s - 1) n
 WHERE r.id > %(after)s
"""
OUTPUTS = """
INSERT INTO drift_output (public_id, digest, whitespace_digest, text, first_seen, canary_id)
SELECT gen_random_uuid(), sha256((c.id || '-' || n)::bytea), sha256((c.id || '-' || n)::bytea),
       'The tide is out, says answer ' || n || ' to ' || c.name, %(now)s, c.id
  FROM drift_canary c, generate_series(1, 4) n
"""
SERIES_SUMS = """
INSERT INTO drift_seriesbucket (span, starts_at, runs, samples, comparable, outcomes, identities, latency, completion_tokens,
    prompt_tokens, cost, groups, groups_identical, distinct_sum, answers_sum, pairs, pairs_differing, divergence,
    divergence_low, divergence_high, canaries, series_id)
SELECT span, at, 12, 500, 498, '{"text": 498, "timeout": 2}', jsonb_build_object(i.id::text, 498),
       '{"59": 300, "62": 190, "66": 8}', 12000, 5500, 0.12, 96, 60, 130, 480, 4000, 800, d, d - 0.05, d + 0.1, 8, s.id
  FROM drift_series s JOIN drift_identity i ON i.endpoint_id = s.endpoint_id,
       (SELECT 'day' AS span, date_trunc('day', %(now)s::timestamptz, 'UTC') - n * interval '1 day' AS at
          FROM generate_series(0, %(days)s - 1) n
        UNION ALL SELECT 'hour', date_trunc('hour', %(now)s::timestamptz, 'UTC') - n * interval '1 hour'
          FROM generate_series(0, %(hours)s - 1) n) spans,
       LATERAL (SELECT 0.1 + 0.2 * random() + 0 * s.id AS d) drawn
"""
CANARY_SUMS = """
INSERT INTO drift_canarybucket (span, starts_at, samples, output_counts, cold_counts, prompt_tokens, canary_id, series_id)
SELECT b.span, b.starts_at, 62, jsonb_build_object(outputs.ids[1]::text, 40, outputs.ids[2]::text, 9), '{}', '{}',
       p.canary_id, b.series_id
  FROM drift_seriesbucket b JOIN drift_series s ON s.id = b.series_id JOIN drift_suitecanary p ON p.suite_id = s.suite_id
  JOIN (SELECT canary_id, array_agg(id ORDER BY id) AS ids FROM drift_output GROUP BY 1) outputs USING (canary_id)
 WHERE b.span = 'day' OR b.starts_at > %(now)s::timestamptz - interval '8 days'
"""


def furnish(team: Any, now: datetime) -> None:
    """The endpoints with their suite, identities, readings and sums: everything but runs and samples."""
    from django.db import connection

    from drift.endpoints import series_of
    from drift.models import Endpoint, Identity, Monitor, Reading
    from drift.partitions import ensure_sample_partition
    from drift.provision import ensure_default_suite

    suite = ensure_default_suite(team)
    for number in range(ENDPOINTS):
        endpoint = Endpoint.objects.create(
            team=team,
            name=f"endpoint {number:03}",
            provider=f"provider {number % 9}",
            base_url="https://api.example.com/v1",
            model=f"model-{number % 17}",
            parameters={"temperature": 0, "seed": 42},
        )
        Monitor.objects.create(endpoint=endpoint, suite=suite, next_due_at=now + timedelta(minutes=1))
        Identity.objects.create(
            endpoint=endpoint, digest=b"x", fingerprint_state="value", fingerprint=f"fp_{number:010x}",
            first_seen=now - timedelta(days=DAYS), last_seen=now, samples_count=500 * DAYS,
        )  # fmt: skip
        Reading.objects.create(
            series=series_of(endpoint, suite), taken_at=now, samples=560, comparable=560, divergence=0.2,
            divergence_low=0.1, divergence_high=0.3, pairs=4000, pairs_differing=800, canaries=8, distinct_mean=1.4,
            answers_mean=5.0, total_agreement=0.6, first_divergence=24, horizon=18, horizon_limit_seen=True,
            tokens_known=True, latency_p50_ms=900, latency_p95_ms=2100,
        )  # fmt: skip
    for back in range(DAYS + 1):
        ensure_sample_partition(now - timedelta(days=back))
    asked = {"now": now, "days": DAYS, "hours": HOURS}
    with connection.cursor() as cursor:
        for statement in (OUTPUTS, SERIES_SUMS, CANARY_SUMS):
            cursor.execute(statement, asked)


def add_samples(wanted: int, now: datetime) -> int:
    """Brings the samples up to `wanted`, spread evenly over the days; how many there are then."""
    from django.db import connection

    from drift.models import Run, Sample

    per_run = CANARIES * REPEATS
    runs = -(-wanted // (ENDPOINTS * per_run))  # of each endpoint
    before = Run.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    asked = {"now": now, "days": DAYS, "repeats": REPEATS, "after": before, "all": runs}
    known = Run.objects.count() // ENDPOINTS
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # the keys are right by construction
        cursor.execute("SET synchronous_commit = off")
        # a half step aside where there are runs already, so that none falls on another's slot
        shift = now - timedelta(seconds=30) if known else now
        cursor.execute(RUNS, {**asked, "now": shift, "first": 1, "last": runs - known})
        cursor.execute(SAMPLES, asked)
        cursor.execute("SET session_replication_role = origin")
        cursor.execute("ANALYZE")
    return Sample.objects.count()
