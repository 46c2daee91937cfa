"""How answers are read: one behaviour of the decoder each, from bytes to `Decoded`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from drift.answers import Decoded, Exchange, FingerprintState, Outcome, Transport
from tests.workers.probe.loopback import completion
from workers.probe.decode import decode

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def read(body: Any, status: int = 200, **headers: str) -> Decoded:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    names = {name: "llm_provider-x-ms-region" if "llm_provider" in name else name.replace("_", "-") for name in headers}
    kept = tuple((names[name], value) for name, value in headers.items())
    return decode(Exchange(b"{}", Transport.WHOLE, NOW, 1.0, status=status, body=raw, headers=kept))


def message(finish: str | None = "stop", **fields: Any) -> dict[str, Any]:
    return completion(None, choices=[{"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": finish}])


def stream(*chunks: Any, done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"] * done
    return "".join(lines).encode()


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


@pytest.mark.parametrize(
    "fields",
    [
        {"content": "4", "reasoning_content": "2+2"},
        {"content": "4", "reasoning": "2+2"},
        {"content": "4", "reasoning_details": [{"type": "reasoning.text", "text": "2+2"}]},
        {"content": "<think>2+2</think>4"},
        {"content": "2+2</think>4"},
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "2+2"}]},
                {"type": "text", "text": "4"},
            ]
        },
        {"content": "4", "reasoning_details": [{"type": "reasoning.summary", "summary": "2+2"}]},
    ],
)
def test_reasoning_is_kept_apart_from_the_answer_wherever_it_stands(fields: dict[str, Any]) -> None:
    decoded = read(message(**fields))
    assert (decoded.text, decoded.reasoning, decoded.outcome) == ("4", "2+2", Outcome.TEXT)


def test_reasoning_in_a_stream_is_kept_apart_too() -> None:
    decoded = read(stream(delta(reasoning="2"), delta(reasoning="+2"), delta(content="4"), delta("stop")))
    assert (decoded.text, decoded.reasoning) == ("4", "2+2")


def test_a_thought_cut_by_the_cap_is_no_answer() -> None:
    decoded = read(message("length", content="<think>2+2 is"))
    assert (decoded.outcome, decoded.text, decoded.reasoning) == (Outcome.REASONING_ONLY, "", "2+2 is")


def test_scores_of_the_thought_are_not_scores_of_the_answer() -> None:
    entries = [
        {"token": token, "logprob": -0.1, "bytes": None, "top_logprobs": []}
        for token in ("2", "+2", "</think>", "4", "!", "<eos>")
    ]
    body = completion(
        None,
        choices=[
            {
                "message": {"content": "4!", "reasoning": "2+2"},
                "finish_reason": "stop",
                "logprobs": {"content": entries},
            }
        ],
    )
    tokens = read(body).tokens
    assert tokens is not None
    assert [token.text for token in tokens] == [b"4", b"!", b"<eos>"]


def test_ten_identical_empty_answers_are_empty_and_not_stable_texts() -> None:
    assert read(message(content="")).outcome is Outcome.EMPTY
    assert read(message(content=None)).outcome is Outcome.EMPTY
    assert read(message(content=" \n")).outcome is Outcome.EMPTY


def test_an_empty_answer_that_spent_its_cap_is_inconclusive() -> None:
    assert read(message("length", content="")).outcome is Outcome.REASONING_ONLY


def test_a_choice_that_carries_an_upstreams_failure_is_failed_whatever_was_written_before() -> None:
    error = {"code": 502, "message": "Upstream idle timeout exceeded"}
    choice = {"index": 0, "message": {"content": "Half an ans"}, "finish_reason": "stop", "error": error}
    whole = read(completion("", choices=[choice]))
    streamed = read(
        stream(
            delta(content="Half"),
            {"choices": [{"index": 0, "delta": {"content": " an"}, "finish_reason": "error", "error": error}]},
        )
    )
    for decoded in (whole, streamed):
        assert (decoded.outcome, decoded.error_code) == (Outcome.FAILED, "502")
        assert decoded.error_message == "Upstream idle timeout exceeded"
    assert streamed.text == "Half an"


def test_a_finish_reason_that_is_an_object_is_read_by_its_type() -> None:
    choice = {"index": 0, "message": {"content": "a"}, "finish_reason": {"type": "length", "length": 1}}
    assert read(completion("", choices=[choice])).finish == "length"


def test_a_refusal_of_the_model_is_its_answer() -> None:
    assert read(message(content=None, refusal="I cannot help with that.")).text == "I cannot help with that."


def test_a_filter_outranks_the_text_that_came_along() -> None:
    assert read(message("content_filter", content="partial")).outcome is Outcome.FILTERED


def test_a_filtered_prompt_of_azure_is_filtered_and_no_http_error() -> None:
    error = {
        "message": "The response was filtered",
        "code": "content_filter",
        "innererror": {"code": "ResponsibleAIPolicyViolation"},
    }
    assert read({"error": error}, 400).outcome is Outcome.FILTERED


@pytest.mark.parametrize(
    ("body", "said", "code"),
    [
        ({"error": {"message": "no", "type": "t", "param": "seed", "code": "c"}}, "no", "c"),
        ({"error": {"message": "no", "type": "invalid_request_error", "code": None}}, "no", "invalid_request_error"),
        (
            {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "no"}]},
            "body.seed: no",
            "extra_forbidden",
        ),
        ({"detail": "no"}, "no", "418"),
        ([{"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}], "no", "400"),
        ({"error": "no", "error_type": "validation"}, "no", "validation"),
        ({"object": "error", "message": "no", "type": "BadRequestError", "code": 400}, "no", "400"),
        (
            {"error": {"message": "Provider returned error", "code": 502, "metadata": {"raw": "no"}}},
            "Provider returned error: no",
            "502",
        ),
        ({"success": False, "errors": [{"code": 7003, "message": "no"}]}, "no", "7003"),
        ({"message": "no"}, "no", "418"),
        ("no", "no", "418"),
    ],
)
def test_the_inner_message_is_found_in_every_envelope(body: Any, said: str, code: str) -> None:
    decoded = read(body, 418)
    assert (decoded.outcome, decoded.error_message, decoded.error_code) == (Outcome.HTTP_ERROR, said, code)


def test_account_ids_do_not_survive_in_error_messages() -> None:
    decoded = read({"error": {"message": "Rate limit for org-AbCdEf123456", "code": "rate_limit_exceeded"}}, 429)
    assert (decoded.outcome, decoded.error_message) == (Outcome.THROTTLED, "Rate limit for [removed]")


def test_an_error_key_that_is_null_is_no_error() -> None:
    assert read(completion("Hello.", error=None)).outcome is Outcome.TEXT


@pytest.mark.parametrize(
    ("usage", "field", "value"),
    [
        ({"prompt_cache_hit_tokens": 5}, "cached_tokens", 5),
        ({"num_cached_tokens": 5}, "cached_tokens", 5),
        ({"prompt_tokens_details": {"cached_tokens": 0}}, "cached_tokens", 0),
        ({"completion_tokens_details": {"reasoning_tokens": 7}}, "reasoning_tokens", 7),
        ({"completion_tokens": 3.0}, "completion_tokens", 3),
        ({"completion_tokens": "3"}, "completion_tokens", None),
        ({"completion_tokens": -1}, "completion_tokens", None),
        ({"completion_tokens": 1e300}, "completion_tokens", None),
        ({"prompt_tokens": True}, "prompt_tokens", None),
        ({"cost": 0.00012}, "cost", Decimal("0.00012")),
        ({"cost": "NaN"}, "cost", None),
    ],
)
def test_usage_is_read_where_it_is_reported_and_is_otherwise_unknown(
    usage: dict[str, Any], field: str, value: Any
) -> None:
    assert getattr(read(completion("Hello.", usage=usage)).usage, field) == value


def test_groq_reports_usage_and_seed_in_its_own_place() -> None:
    body = completion(
        "Hello.", x_groq={"id": "r", "seed": 9, "usage": {"dram_cached_tokens": 2, "sram_cached_tokens": 3}}
    )
    del body["usage"]
    decoded = read(body)
    assert (decoded.usage.cached_tokens, decoded.seed_echo) == (5, 9)


@pytest.mark.parametrize(
    ("changes", "state"),
    [({}, "value"), ({"system_fingerprint": None}, "null"), ({"system_fingerprint": ""}, "empty")],
)
def test_the_states_of_a_fingerprint_are_kept_apart(changes: dict[str, Any], state: str) -> None:
    assert read(completion("Hello.", **changes)).identity.fingerprint_state == state


def test_a_fingerprint_that_never_came_is_absent() -> None:
    body = completion("Hello.")
    del body["system_fingerprint"]
    assert read(body).identity.fingerprint_state is FingerprintState.ABSENT
    assert read(stream(delta(content="a"), delta("stop"))).identity.fingerprint_state is FingerprintState.ABSENT


def test_a_streams_fingerprint_is_the_last_that_says_something() -> None:
    chunks = [
        {**delta(content="a"), "system_fingerprint": None},
        {**delta("stop"), "system_fingerprint": "fp_1"},
        {"id": "c", "choices": [], "system_fingerprint": None, "usage": {"completion_tokens": 1}},
    ]
    decoded = read(stream(*chunks))
    assert decoded.identity.fingerprint == "fp_1"
    assert decoded.usage.completion_tokens == 1


@pytest.mark.parametrize(
    ("headers", "evidence"),
    [
        ({"cf_aig_cache_status": "HIT"}, "cf-aig-cache-status: HIT"),
        ({"helicone_cache": "HIT"}, "helicone-cache: HIT"),
        ({"x_cache": "Hit from cloudfront"}, "x-cache: Hit from cloudfront"),
        ({"x_litellm_cache_key": "abc"}, "x-litellm-cache-key: abc"),
        ({"age": "17"}, "age: 17"),
        ({"cf_aig_cache_status": "MISS", "cf_cache_status": "DYNAMIC", "age": "0"}, ""),
    ],
)
def test_cache_headers_are_evidence(headers: dict[str, str], evidence: str) -> None:
    decoded = read(completion("Hello."), **headers)
    assert decoded.cache_evidence == evidence
    assert decoded.outcome is (Outcome.CACHED if evidence else Outcome.TEXT)


def test_region_and_upstream_are_part_of_the_identity() -> None:
    decoded = read(completion("Hello.", provider="BaseTen"), x_groq_region="fra")
    assert (decoded.identity.upstream, decoded.identity.region) == ("BaseTen", "fra")
    through_litellm = read(completion("Hello."), **{"llm_provider-x_ms_region": "East US 2"})
    assert through_litellm.identity.region == "East US 2"


def test_a_spilled_over_answer_of_azure_is_a_fallback() -> None:
    assert read(completion("Hello."), x_ms_is_spilled_over="true").outcome is Outcome.FALLBACK


def test_tool_calls_of_a_stream_are_put_together() -> None:
    def call(**fields: Any) -> dict[str, Any]:
        return delta(tool_calls=[fields])

    decoded = read(
        stream(
            call(index=0, id="x1", function={"name": "f", "arguments": ""}),
            call(index=0, function={"arguments": '{"a":'}),
            call(index=0, function={"arguments": "1}"}),
            call(index=1, id="x2", function={"name": "g", "arguments": "{}"}),
            delta("tool_calls"),
        )
    )
    whole = read(
        message(
            "tool_calls",
            content=None,
            tool_calls=[
                {"function": {"name": "f", "arguments": '{"a":1}'}},
                {"function": {"name": "g", "arguments": "{}"}},
            ],
        )
    )
    assert decoded.outcome is Outcome.TOOL_CALLS
    assert decoded.tool_calls == whole.tool_calls


def test_an_error_in_mid_stream_is_an_error_though_text_came_before_and_beside_it() -> None:
    decoded = read(
        stream(delta(content="Hel"), {**delta(content="lo"), "error": {"message": "overloaded", "code": 502}})
    )
    assert (decoded.outcome, decoded.text, decoded.error_code) == (Outcome.ERROR_BODY, "Hello", "502")


def test_an_error_event_with_any_payload_is_an_error() -> None:
    body = stream(delta(content="Hel"), done=False) + b'event: error\ndata: {"reason": "gone"}\n\n'
    assert read(body).outcome is Outcome.ERROR_BODY
    broken = read(b"event: error\ndata: it broke for sk-proj-abcdEFGH1234567890\n\n")
    assert (broken.outcome, broken.error_message) == (Outcome.ERROR_BODY, "it broke for [removed]")


def test_an_error_object_instead_of_a_stream_is_an_error() -> None:
    assert read({"error": {"message": "no"}}).outcome is Outcome.ERROR_BODY


@pytest.mark.parametrize("finish", ["", "null", None])
def test_a_stream_without_a_real_finish_reason_needs_done_to_be_an_answer(finish: str | None) -> None:
    assert read(stream(delta(finish, content="a"), done=False)).outcome is Outcome.TRUNCATED_STREAM
    assert read(stream(delta(finish, content="a"))).outcome is Outcome.TEXT


def test_a_finish_reason_without_done_is_an_answer() -> None:
    assert read(stream(delta(content="a"), delta("stop"), done=False)).outcome is Outcome.TEXT


def test_a_garbled_event_may_hide_a_piece_of_the_answer() -> None:
    body = stream(delta(content="a"), done=False) + b"data: {broken\n\n" + stream(delta("stop"))
    assert read(body).outcome is Outcome.UNREADABLE


def test_comments_blank_lines_and_a_first_chunk_without_choices_are_no_trouble() -> None:
    body = b": keep-alive\n\n\n" + stream(
        {"id": "c", "choices": [], "prompt_filter_results": []}, delta(content="a"), delta("stop")
    )
    assert (read(body).outcome, read(body).text) == (Outcome.TEXT, "a")


def test_a_stream_answered_to_a_whole_request_is_read() -> None:
    assert read(stream(delta(content="a"), delta("stop"))).text == "a"


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (b"", Outcome.EMPTY_BODY),
        (b"\n\n\n", Outcome.EMPTY_BODY),
        (b"<html><title>Hi</title></html>", Outcome.NOT_JSON),
        (b"upstream connect error", Outcome.NOT_JSON),
        (b'{"choices": [', Outcome.NOT_JSON),
        (b'"text"', Outcome.UNREADABLE),
        (b"[]", Outcome.UNREADABLE),
        (b"{}", Outcome.UNREADABLE),
        (b"null", Outcome.UNREADABLE),
        (b'\xef\xbb\xbf\n{"choices":[{"message":{"content":"a"}}]}', Outcome.TEXT),
        (b'{"choices":[{"message":{"content":"a\x01b"}}]}', Outcome.TEXT),
        (b'{"choices":[{"text":"a"}]}', Outcome.TEXT),
        (b'{"choices":[{"index":0}]}', Outcome.UNREADABLE),
        (b'{"object":"chat.completion","choices":null}', Outcome.EMPTY),
    ],
)
def test_every_kind_of_body_is_called_by_its_name(body: bytes, outcome: Outcome) -> None:
    assert read(body).outcome is outcome


def responses(**changes: Any) -> dict[str, Any]:
    part = {
        "type": "output_text",
        "text": "Hi.",
        "logprobs": [{"token": "Hi", "logprob": -0.5, "bytes": [72, 105], "top_logprobs": []}],
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_790_000_000.5,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": "m-1",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "thought"}]},
            {"type": "message", "content": [part]},
        ],
        "usage": {"input_tokens": 3, "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 1}},
        **changes,
    }


def test_an_answer_of_the_responses_api_is_read() -> None:
    decoded = read(responses())
    assert (decoded.outcome, decoded.text, decoded.reasoning, decoded.finish) == (
        Outcome.TEXT,
        "Hi.",
        "thought",
        "stop",
    )
    assert (decoded.usage.prompt_tokens, decoded.usage.completion_tokens, decoded.usage.reasoning_tokens) == (3, 2, 1)
    assert decoded.tokens is not None
    assert (decoded.logprob_shape, decoded.tokens[0].text, decoded.created) == ("responses", b"Hi", 1_790_000_000)
    assert decoded.identity.fingerprint_state is FingerprintState.ABSENT


def test_an_incomplete_response_says_why() -> None:
    cut = read(responses(status="incomplete", incomplete_details={"reason": "max_output_tokens"}))
    filtered = read(responses(status="incomplete", incomplete_details={"reason": "content_filter"}))
    failed = read(responses(status="failed", error={"code": "server_error", "message": "no"}))
    assert (cut.finish, cut.outcome) == ("length", Outcome.TEXT)
    assert filtered.outcome is Outcome.FILTERED
    assert (failed.outcome, failed.error_message) == (Outcome.ERROR_BODY, "no")


def test_a_streamed_response_is_its_last_event_and_a_cut_one_is_no_answer() -> None:
    deltas = [{"type": "response.output_text.delta", "delta": piece} for piece in ("H", "i.")]
    assert read(stream(*deltas, {"type": "response.completed", "response": responses()}, done=False)).text == "Hi."
    failed = responses(status="failed", error={"code": "server_error", "message": "no"})
    broken = read(stream(*deltas, {"type": "response.failed", "response": failed}, done=False))
    assert (broken.outcome, broken.error_message) == (Outcome.ERROR_BODY, "no")
    cut = read(stream(*deltas, done=False))
    assert (cut.outcome, cut.text) == (Outcome.TRUNCATED_STREAM, "Hi.")


def test_a_function_call_of_the_responses_api_is_part_of_the_compared_value() -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_9", "name": "f", "arguments": "{}"}
    decoded = read(responses(output=[call]))
    assert (decoded.outcome, decoded.tool_calls) == (Outcome.TOOL_CALLS, '[{"arguments":"{}","name":"f"}]')


def test_batch_sizes_of_the_in_house_worker_are_read_from_whole_answers_and_streams() -> None:
    note = {"mode": "fast", "batch_sizes": [4, 4, 3]}
    assert read(completion("Hi", tidegauge=note)).batch_sizes == (4, 4, 3)
    assert read(stream(delta(content="Hi"), {**delta("stop"), "tidegauge": note})).batch_sizes == (4, 4, 3)
    assert read(completion("Hi")).batch_sizes is None
    assert read(completion("Hi", tidegauge={"batch_sizes": ["x"]})).batch_sizes is None


def test_fireworks_may_return_one_alternative_more_than_asked() -> None:
    logprobs = {"tokens": ["a"], "token_logprobs": [-0.1], "top_logprobs": [{"a": -0.1, "b": -2.0, "c": -3.0}]}
    body = completion("a", choices=[{"message": {"content": "a"}, "finish_reason": "stop", "logprobs": logprobs}])
    tokens = read(body).tokens
    assert tokens is not None
    assert len(tokens[0].top) == 3
