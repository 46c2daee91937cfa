"""The seed of the project, for real: the same weights at temperature 0, asked through the whole road in both modes."""

from __future__ import annotations

import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.db.models import Count

from drift import monitors
from drift.models import Endpoint, Monitor, Reading, Run, Sample, Suite, Team
from drift.provision import ensure_in_house, make_suite
from tests.stack import wait_until
from workers.probe.check import perform as check
from workers.probe.run import perform as probe

pytestmark = [pytest.mark.model, pytest.mark.timeout(1800)]

# The model is undecided within the first few tokens of these: two score alike to the last bit of bf16.
UNDECIDED = (
    ("Riddle", "Make up a riddle.", 48),
    ("Spell", "Make up a magic spell.", 48),
    ("Pen name", "Make up a pen name.", 48),
    ("Passwords", "Make up ten strange passwords.", 48),
    ("Words", "Write five nonsense words.", 48),
    ("Planet", "Write a fictional planet.", 48),
    ("Dream", "Invent a dream.", 48),
    ("Number", "Invent a random serial number.", 48),
)


@pytest.fixture
def questions(team: Team) -> Suite:
    return make_suite(team, "Undecided", UNDECIDED)


def worker(processes, mode: str) -> str:
    from workers.up.places import free_port

    port = free_port()
    processes.start(
        f"inference-{mode}",
        *("-m", "workers.inference", "--model", "bundled", "--mode", mode, "--dtype", "bf16"),
        *("--port", str(port), "--max-batch", "16", "--threads", "1"),
    )

    def ready() -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    wait_until(ready, 120, f"the {mode} worker; its log: {processes.log(f'inference-{mode}')[-300:]}")
    return f"http://127.0.0.1:{port}/v1"


def measured(team: Team, suite: Suite, mode: str, base_url: str) -> Endpoint:
    """20 answers to each canary, at concurrencies 1, 8 and 16."""
    endpoint = ensure_in_house(team, mode, base_url, "smollm2-135m-instruct")
    check(endpoint.checks.get().pk)
    endpoint.refresh_from_db()
    assert endpoint.checks.get().problem == ""
    Monitor.objects.filter(endpoint=endpoint).delete()
    monitor = monitors.create(endpoint=endpoint, suite=suite, repeats=2, concurrency=1, run_at_once=False)
    Endpoint.objects.filter(pk=endpoint.pk).update(max_concurrency=16)
    for repeats, concurrency in ((2, 1), (6, 8), (12, 16)):
        monitors.change(monitor, repeats=repeats, concurrency=concurrency)
        run = monitors.run_now(monitor, None)
        probe(run.pk)
        assert Run.objects.get(pk=run.pk).state == Run.State.FINISHED
    return endpoint


@pytest.fixture
def endpoints(processes, team: Team, questions: Suite) -> dict[str, Endpoint]:
    urls = {mode: worker(processes, mode) for mode in ("fast", "invariant")}

    def measure(mode: str) -> Endpoint:
        try:
            return measured(team, questions, mode, urls[mode])
        finally:
            connection.close()

    with ThreadPoolExecutor() as both:
        return dict(zip(urls, both.map(measure, urls), strict=True))


def test_invariant_never_diverges_and_fast_does_though_nothing_was_asked_differently(endpoints):
    samples = {mode: Sample.objects.filter(series__endpoint=endpoint) for mode, endpoint in endpoints.items()}
    for mode, rows in samples.items():
        assert rows.filter(outcome="text").count() == 20 * len(UNDECIDED), mode
        assert rows.values("identity").distinct().count() == 1

    sizes = [size for row in samples["invariant"].values_list("batch_sizes", flat=True) for size in row]
    assert min(sizes) == 1
    assert max(sizes) >= 4

    distinct = samples["invariant"].values("canary").annotate(outputs=Count("output", distinct=True))
    assert {row["outputs"] for row in distinct} == {1}
    reading = Reading.objects.get(series__endpoint=endpoints["invariant"])
    assert reading.pairs_differing == 0
    assert reading.divergence_high > 0  # 'none of so many pairs' is not 'never'

    fast = Reading.objects.get(series__endpoint=endpoints["fast"])
    assert fast.pairs_differing > 0
    assert fast.tokens_known
    assert fast.first_divergence is not None
