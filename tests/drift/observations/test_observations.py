"""Production's fingerprints: counted, bounded, told once, and never part of agreement."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from drift.models import Finding, Identity, Monitor, ObservedBucket, ObservedPrompt, Reading, Run, Team
from drift.observations import identities, otlp, prompts, record
from drift.observations.observation import Observation
from drift.observations.protobuf import WireError, export_request
from tests.conftest import NOW


def seen(fingerprint: str | None, *, echo: str | None = "gpt-x-2026", **fields: Any) -> Observation:
    return Observation(at=fields.pop("at", NOW), endpoint="gpt-x", model_echo=echo, fingerprint=fingerprint, **fields)


@pytest.fixture
def known(monitor: Monitor, record_answers: Callable[..., Run]) -> Monitor:
    """An endpoint whose canaries were answered by fp_one."""
    record_answers(monitor, [["a b", "a c"], ["x", "x"]])
    return monitor


def test_a_batch_is_counted_by_hour_and_identity(team: Team, known: Monitor) -> None:
    batch = [seen("fp_one", prompt_tokens=10, completion_tokens=3) for _ in range(5)]
    batch += [seen("fp_one", at=NOW - timedelta(hours=1)), seen("fp_two")]
    assert record.record(team, batch, NOW) == []
    assert record.record(team, batch[:1], NOW) == []
    rows = ObservedBucket.objects.order_by("starts_at", "identity__fingerprint")
    assert [(r.starts_at.hour, r.identity and r.identity.fingerprint, r.answers) for r in rows] == [
        (11, "fp_one", 1), (12, "fp_one", 6), (12, "fp_two", 1),
    ]  # fmt: skip
    assert rows[1].prompt_tokens == 60
    assert Identity.objects.get(fingerprint="fp_one").observed_count == 6  # brought up to date once a minute


def test_what_production_says_never_enters_agreement(team: Team, known: Monitor) -> None:
    before = Reading.objects.values().get()
    count = Identity.objects.get(fingerprint="fp_one").samples_count
    record.record(team, [seen("fp_one", prompt_hash="p", output_hash=str(i)) for i in range(50)], NOW)
    assert Reading.objects.values().get() == before
    assert Identity.objects.get(fingerprint="fp_one").samples_count == count


def test_a_new_fingerprint_is_found_once_and_the_canaries_are_asked_at_once(team: Team, known: Monitor) -> None:
    later = NOW + timedelta(minutes=1)
    record.record(team, [seen("fp_new")] * 3, later)
    record.record(team, [seen("fp_new")] * 3, later)
    finding = Finding.objects.get()
    assert (finding.kind, finding.facts["observed"]) == ("identity_seen", True)
    assert Run.objects.filter(monitor=known, origin=Run.Origin.EXTRA, state=Run.State.DUE).count() == 1


def test_what_a_client_leaves_out_is_no_new_identity(team: Team, known: Monitor) -> None:
    record.record(team, [seen(None), seen("fp_one", echo=None), seen(None, echo=None)], NOW)
    assert Identity.objects.count() == 1
    assert not Finding.objects.exists()


def test_storage_is_bounded_however_many_fingerprints_and_prompts_come(
    team: Team, known: Monitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identities, "MOST_IDENTITIES", 20)
    monkeypatch.setattr(prompts, "PROMPTS_A_DAY", 30)
    for start in range(0, 200, 50):
        batch = [seen(f"fp_{i}", prompt_hash=f"p{i}", output_hash="o") for i in range(start, start + 50)]
        assert record.record(team, batch, NOW) == []
    assert Identity.objects.count() <= 21
    assert ObservedPrompt.objects.count() == 30
    assert ObservedBucket.objects.get(identity=None).answers == 180
    assert sum(ObservedBucket.objects.values_list("answers", flat=True)) == 200


def test_prompts_whose_answers_differ_are_counted(team: Team, known: Monitor) -> None:
    first = [seen("fp_one", prompt_hash="p", output_hash=h) for h in ("a", "b", "a")]
    record.record(team, first, NOW)
    record.record(team, [seen("fp_one", prompt_hash="p", output_hash=h) for h in ("b", "a")], NOW)
    row = ObservedPrompt.objects.get()
    assert (row.answers, row.differing) == (5, 2)


def test_what_cannot_be_counted_is_named(team: Team, known: Monitor) -> None:
    batch = [
        Observation(at=NOW, endpoint="nobody"),
        seen("fp_one", at=NOW - timedelta(days=30)),
        Observation(at=NOW, model="gpt-x", host="127.0.0.1", fingerprint="fp_one"),
        Observation(at=NOW, model="gpt-unknown"),
    ]
    rejected = record.record(team, batch, NOW)
    assert [one.index for one in rejected] == [0, 1, 3]
    assert ObservedBucket.objects.get().answers == 1


def test_another_teams_endpoint_is_not_there(mallory: Any, known: Monitor) -> None:
    assert len(record.record(mallory.teams.get(), [seen("fp_one")], NOW)) == 1
    assert not ObservedBucket.objects.exists()


SPAN = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gpt-x",
    "gen_ai.response.model": "gpt-x-2026",
    "gen_ai.openai.response.system_fingerprint": "fp_44",
    "gen_ai.usage.input_tokens": 214,
    "gen_ai.usage.output_tokens": 87,
    "server.address": "127.0.0.1",
}


def test_protobuf_and_json_traces_say_the_same() -> None:
    """Against the published message classes."""
    trace = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    common = pytest.importorskip("opentelemetry.proto.common.v1.common_pb2")
    json_format = pytest.importorskip("google.protobuf.json_format")
    message = trace.ExportTraceServiceRequest()
    resource = message.resource_spans.add()
    resource.resource.attributes.add(key="tidegauge.endpoint", value=common.AnyValue(string_value="gpt-x"))
    span = resource.scope_spans.add().spans.add(name="chat", end_time_unix_nano=int(NOW.timestamp() * 1e9))
    for key, value in SPAN.items():
        kind = "int_value" if isinstance(value, int) else "string_value"
        span.attributes.add(key=key, value=common.AnyValue(**{kind: value}))
    span.attributes.add(
        key="gen_ai.response.finish_reasons",
        value=common.AnyValue(array_value=common.ArrayValue(values=[common.AnyValue(string_value="stop")])),
    )
    resource.scope_spans[0].spans.add(name="unrelated work")

    from_wire = list(otlp.observations(export_request(message.SerializeToString()), NOW))
    from_json = list(otlp.observations(json_format.MessageToDict(message), NOW))
    assert from_wire == from_json
    assert from_wire == [
        Observation(
            at=NOW, endpoint="gpt-x", model="gpt-x", host="127.0.0.1", model_echo="gpt-x-2026", fingerprint="fp_44",
            prompt_tokens=214, completion_tokens=87,
        )
    ]  # fmt: skip


@pytest.mark.parametrize("data", [b"\xff", b"\x0a\xff", b"\x0a\x05abc", b"\x0b", b"\x80" * 11])
def test_broken_protobuf_is_refused(data: bytes) -> None:
    with pytest.raises(WireError):
        export_request(data)


@pytest.mark.parametrize("value", [[], {"resourceSpans": 3}, {"resourceSpans": [{"scopeSpans": [{"spans": [7]}]}]}])
def test_json_of_another_shape_is_refused(value: Any) -> None:
    with pytest.raises(otlp.OtlpError):
        list(otlp.observations(value, datetime.now(UTC)))
