"""An old answer replayed, and canaries tried before they are saved: through a Celery worker, and in the face of trouble."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from drift import trials
from drift.answers import ApiKind, Target, Transport
from drift.entered import EntryError
from drift.models import (
    AuditEntry,
    CanaryBucket,
    Endpoint,
    Identity,
    Monitor,
    Output,
    Reading,
    Run,
    Sample,
    SeriesBucket,
    Suite,
    Trial,
    TrialAnswer,
    User,
)
from drift.suites import CanaryText, text_of
from drift.trials import Draft
from tests.stack import Processes, answering_server, wait_until
from tests.workers.probe.loopback import LOOPBACK, completion, response, serving
from workers.probe.client import Prober
from workers.probe.run import perform as probe
from workers.probe.trial import perform


@pytest.fixture
def server(endpoint: Endpoint):
    with answering_server() as (url, asked):
        Endpoint.objects.filter(pk=endpoint.pk).update(base_url=url)
        yield asked


@pytest.fixture
def sample(transactional_db: None, monitor: Monitor, server: list[str]) -> Sample:
    """One answer of a run that a worker really made."""
    from drift import monitors
    from drift.partitions import ensure_sample_partition

    ensure_sample_partition(timezone.now())
    run = monitors.run_now(monitor, None)
    probe(run.pk)
    assert Run.objects.get(pk=run.pk).state == Run.State.FINISHED
    Monitor.objects.update(active=False, paused_at=timezone.now())  # a scheduler would go on asking by itself
    return Sample.objects.order_by("canary_id", "repeat")[0]


def figures() -> tuple[object, ...]:
    """Everything that agreement is told by, and what identities were seen how often."""
    counts = (Sample.objects.count(), Output.objects.count(), Run.objects.count())
    rows = [list(model.objects.order_by("pk").values()) for model in (SeriesBucket, CanaryBucket, Reading, Identity)]
    return counts, rows


@pytest.mark.anyio
async def test_the_bytes_that_are_sent_again_are_those_that_were_given() -> None:
    odd = b'{"model":  "m","messages":[{"role":"user","content":"\\u00e9"}], "seed": 7 }'
    async with (
        serving(response(completion("Hello."))) as server,
        Prober(Target(server.url, "another", kind=ApiKind.CHAT, parameters={"seed": 1}), allow=LOOPBACK) as prober,
    ):
        exchange = await prober.resend(odd)
    assert server.seen[0].body == odd == exchange.request_body
    assert server.seen[0].path == "/v1/chat/completions"
    assert server.seen[0].headers["content-type"] == "application/json"
    assert exchange.status == 200
    assert exchange.transport is Transport.WHOLE


def test_a_replay_goes_out_through_the_queue_and_moves_no_figure(
    sample: Sample, server: list[str], processes: Processes, alice: User
) -> None:
    before, asked = figures(), len(server)
    processes.scheduler()
    processes.worker()
    trial = trials.replay(sample, alice, timezone.now())
    wait_until(lambda: Trial.objects.get(pk=trial.pk).over, 60, "the replay; " + processes.log("worker")[-400:])

    trial.refresh_from_db()
    assert (trial.state, trial.problem) == (Trial.State.FINISHED, "")
    then, now = trial.answers.order_by("-former")
    assert bytes(then.request) == bytes(now.request) == bytes(sample.request)
    assert bytes(then.raw) == bytes(sample.raw)
    was, came = trials.decoded_of(then), trials.decoded_of(now)
    assert was is not None
    assert came is not None
    assert was.text == came.text != ""
    assert was.identity == came.identity
    assert len(server) == asked + 1
    assert figures() == before


def test_a_replay_leaves_a_line_in_the_audit_log(sample: Sample, alice: User) -> None:
    trial = trials.replay(sample, alice, timezone.now())
    line = AuditEntry.objects.get(subject="trial")
    assert (line.action, line.subject_id, line.team_id) == ("created", str(trial.public_id), trial.team_id)
    perform(trial.pk)
    assert AuditEntry.objects.filter(subject="trial").count() == 1


def test_the_same_answer_is_not_replayed_twice_at_once(sample: Sample, alice: User) -> None:
    first = trials.replay(sample, alice, timezone.now())
    assert trials.replay(sample, alice, timezone.now()) == first
    perform(first.pk)
    assert trials.replay(sample, alice, timezone.now()) != first


def test_a_private_address_is_refused_as_by_every_probe(sample: Sample, server: list[str], settings) -> None:
    settings.ALLOW_PRIVATE_TARGETS = []
    asked = len(server)
    trial = trials.replay(sample, None, timezone.now())
    perform(trial.pk)
    assert trial.answers.get(former=False).outcome == "refused_address"
    assert len(server) == asked


def test_an_endpoint_at_rest_is_not_asked_and_the_replay_waits(sample: Sample, server: list[str]) -> None:
    from drift import traffic

    with traffic.locked(sample.series.endpoint_id) as row:
        later = (timezone.now() + timedelta(minutes=5)).timestamp()
        row.breaker = {"circuit": "open", "failures": 6, "retry_at": later, "cause": "down", "pauses": 1}
    trial = trials.replay(sample, None, timezone.now())
    asked = len(server)
    perform(trial.pk)
    trial.refresh_from_db()
    assert trial.state == Trial.State.DUE
    assert trial.not_before is not None
    assert "the endpoint is down" in trial.problem
    assert len(server) == asked


def test_a_replay_whose_worker_died_is_taken_up_again(sample: Sample) -> None:
    trial = trials.replay(sample, None, timezone.now())
    assert trials.claim(trial.pk, timezone.now()) is not None
    assert trials.claim(trial.pk, timezone.now()) is None, "one worker at a time"
    later = timezone.now() + timedelta(hours=1)
    assert trials.reap(later) == 1
    assert trials.to_publish(later) == [trial.pk]
    perform(trial.pk)
    trial.refresh_from_db()
    assert trial.state == Trial.State.FINISHED


def test_a_dry_run_asks_only_what_is_new_or_changed_and_records_nothing(
    transactional_db: None, monitor: Monitor, suite: Suite, server: list[str], alice: User
) -> None:
    endpoint = Endpoint.objects.get()
    Endpoint.objects.update(price_in=1, price_out=2)
    fact, seas = (text_of(one) for one in suite.canaries.order_by("places__position"))
    changed = CanaryText(seas.name, [{"role": "user", "content": "Name four seas."}], 48)
    before = figures()
    draft = Draft(suite.name, 400, (fact, changed))
    trial = trials.dry_run(endpoint, draft, suite, 2, alice, timezone.now())
    perform(trial.pk)
    trial.refresh_from_db()
    assert trial.state == Trial.State.FINISHED
    rows = list(trial.answers.all())
    assert [(row.name, row.repeat, row.outcome) for row in rows] == [("List", 0, "text"), ("List", 1, "text")]
    assert len(server) == 2
    assert all(row.cost for row in rows)
    assert Draft.from_json(trial.draft) == draft
    assert figures() == before
    assert suite.canaries.count() == 2
    assert Suite.objects.count() == 1


def test_a_dry_run_of_nothing_new_is_refused_with_the_reason(suite: Suite, endpoint: Endpoint) -> None:
    same = Draft(suite.name, 400, tuple(text_of(one) for one in suite.canaries.all()))
    with pytest.raises(EntryError, match="nothing to try"):
        trials.dry_run(endpoint, same, suite, 1, None, timezone.now())
    assert TrialAnswer.objects.count() == 0


def test_an_archived_endpoint_is_not_asked_again(
    monitor: Monitor, record_answers: Callable[..., Run], endpoint: Endpoint
) -> None:
    record_answers(monitor, [["a", "a"], ["x", "x"]])
    Endpoint.objects.update(archived_at=timezone.now())
    with pytest.raises(EntryError, match="archived"):
        trials.replay(Sample.objects.order_by("repeat")[0], None, timezone.now())
