"""What storing a run does."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction

from drift.answers import Outcome
from drift.models import CanaryBucket, Identity, Output, Reading, Run, Sample, SeriesBucket
from drift.record import record_run
from drift.rollups import rebuild
from tests.conftest import NOW, read_text

pytestmark = pytest.mark.django_db


def test_a_run_leaves_samples_outputs_identity_rollups_and_a_reading(monitor, record_answers):
    run = record_answers(monitor, [["a b c"] * 5, ["x y", "x y", "x y", "x y", "x z"]])

    assert run.state == Run.State.FINISHED
    assert (run.samples_stored, run.samples_comparable) == (10, 10)
    assert Output.objects.count() == 3
    identity = Identity.objects.get()
    assert (identity.fingerprint, identity.samples_count) == ("fp_one", 10)
    reading = Reading.objects.get()
    # The first answer of each canary is cold and left out: 4 of 4 equal, and 3 against 1.
    assert (reading.pairs, reading.pairs_differing, reading.canaries_diverging) == (12, 3, 1)
    assert reading.divergence == pytest.approx((0 + 3 / 6) / 2)
    assert reading.first_divergence == 1
    assert reading.tokens_known


def test_the_first_answer_to_a_canary_is_kept_but_marked(monitor, record_answers):
    record_answers(monitor, [["cold", "warm", "warm"], ["same", "same", "same"]])

    assert Sample.objects.filter(cold=True).count() == 2
    assert Reading.objects.get().divergence == 0
    cold = CanaryBucket.objects.filter(span="hour").values_list("cold_counts", flat=True)
    assert all(sum(counts.values()) == 1 for counts in cold)


def test_only_comparable_answers_enter_agreement(monitor, record_answers):
    failed = read_text("", outcome=Outcome.HTTP_ERROR, error_message="overloaded")
    empty = read_text("", outcome=Outcome.EMPTY)
    run = record_answers(monitor, [["a", "a", failed, empty], ["b", "b", "b", "b"]])

    assert run.samples_comparable == 6
    bucket = SeriesBucket.objects.get(span="hour")
    assert bucket.outcomes == {"text": 6, "http_error": 1, "empty": 1}
    assert bucket.divergence == 0


def test_n_identical_empty_answers_are_not_perfectly_stable(monitor, record_answers):
    empty = read_text("", outcome=Outcome.EMPTY)
    run = record_answers(monitor, [[empty] * 5, [empty] * 5])

    assert Reading.objects.get().divergence is None
    assert run.problem == "empty"


def test_a_run_taken_over_by_another_worker_stores_nothing(monitor, record_answers):
    run = record_answers(monitor, [["a"] * 2, ["b"] * 2])
    Run.objects.filter(pk=run.pk).update(
        state=Run.State.RUNNING, claim=uuid4(), lease_until=NOW + timedelta(minutes=1), finished_at=None
    )

    assert not record_run(run, uuid4(), [], NOW)
    assert Sample.objects.count() == 4


def test_text_that_postgres_cannot_hold_is_shown_escaped_and_compared_raw(monitor, record_answers):
    record_answers(monitor, [["a\x00b", "a\x00b", "a\ud83db"], ["ok", "ok", "ok"]])

    texts = set(Output.objects.filter(canary__name="Fact").values_list("text", flat=True))
    assert texts == {"a\u2400b", "a\\ud83db"}


def test_rollups_rebuilt_from_samples_are_equal(monitor, record_answers):
    for hour in range(3):
        record_answers(monitor, [["a", "b", "a"], ["x", "x", f"y{hour}"]], at=NOW + timedelta(hours=hour, minutes=hour))
    series = monitor.endpoint.series.get()

    def state():
        canaries = CanaryBucket.objects.order_by("span", "starts_at", "canary").values_list(
            "span", "starts_at", "canary", "samples", "output_counts", "cold_counts", "prompt_tokens"
        )
        totals = SeriesBucket.objects.order_by("span", "starts_at").values()
        return list(canaries), [{k: v for k, v in row.items() if k != "id"} for row in totals]

    before = state()
    rebuild(series)
    assert state() == before


def test_a_sample_without_a_run_cannot_exist(monitor, record_answers):
    record_answers(monitor, [["a"], ["b"]])
    sample = Sample.objects.first()
    Sample.objects.filter(pk=sample.pk).update(run_id=999_999)
    with pytest.raises(IntegrityError):
        connection.check_constraints()


def test_a_canary_is_never_edited(suite):
    canary = suite.canaries.first()
    canary.max_tokens = 7
    with pytest.raises(IntegrityError, match="supersede"), transaction.atomic():
        canary.save()


def test_a_measured_suite_takes_no_new_member(monitor, record_answers, team):
    from drift.models import Canary, SuiteCanary

    record_answers(monitor, [["a"], ["b"]])
    extra = Canary.objects.create(team=team, name="More", messages=[], max_tokens=1)
    with pytest.raises(IntegrityError, match="next version"), transaction.atomic():
        SuiteCanary.objects.create(suite=monitor.suite, canary=extra, position=9)


def test_prices_make_costs_where_the_provider_reports_tokens_only(monitor, record_answers):
    from drift.models import Endpoint

    Endpoint.objects.update(price_in=Decimal("2.5"), price_out=Decimal(10))
    monitor.refresh_from_db()
    record_answers(monitor, [["a b", "a b"], ["c d", "c d"]])

    assert SeriesBucket.objects.get(span="hour").cost == 4 * Decimal("0.0000475")


def test_tokens_of_another_endpoint_do_not_make_positions_tokens(monitor, record_answers, team):
    from drift.models import Endpoint, Monitor

    record_answers(monitor, [["a b", "a b", "a c"], ["d", "d", "d"]])
    silent = Endpoint.objects.create(team=team, name="no scores", base_url="http://x/v1", model="m")
    other = Monitor.objects.create(endpoint=silent, suite=monitor.suite, next_due_at=NOW)
    record_answers(
        other, [[read_text(text, tokens=False) for text in ("a b", "a b", "a c")], [read_text("d", tokens=False)]]
    )

    assert Reading.objects.get(series__endpoint=monitor.endpoint).tokens_known
    assert not Reading.objects.get(series__endpoint=silent).tokens_known
