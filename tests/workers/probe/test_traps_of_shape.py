"""Traps 21 to 29: answers that are none, and answers in other clothes."""

from __future__ import annotations

import json

import pytest

from drift.answers import COMPARABLE, Outcome, Transport
from tests.workers.probe.simulated import ask, scenario
from workers.probe.breaker import Health, health_of
from workers.simulate import Support

pytestmark = pytest.mark.anyio


async def test_b21_an_error_with_status_200_is_an_error_by_its_inner_code() -> None:
    run = await ask("b21")
    answer = run.answers[0]
    assert answer.outcome is Outcome.ERROR_BODY
    assert (answer.error_code, answer.error_message) == ("502", "Upstream provider returned an invalid response.")
    assert health_of(run.exchanges[0], answer) is Health.DOWN
    assert answer.outcome not in COMPARABLE


async def test_b22_filtered_answers_are_counted_apart() -> None:
    run = await ask("b22", times=3)
    assert run.outcomes == ["filtered"] * 3


async def test_b23_an_answer_whose_cap_went_into_reasoning_is_inconclusive_and_not_an_empty_text() -> None:
    run = await ask("b23", times=3)
    assert run.outcomes == ["reasoning_only"] * 3
    assert run.answers[0].usage.reasoning_tokens == 60
    assert not {answer.outcome for answer in run.answers} & COMPARABLE


async def test_b24_parts_are_joined_and_thinking_is_kept_apart() -> None:
    run = await ask("b24", times=3)
    whole = (await ask("exact")).texts[0]
    assert set(run.texts) == {whole}, "how an answer is cut into parts is no difference"
    assert [answer.reasoning for answer in run.answers] == ["Thought 0.", "Thought 1.", "Thought 2."]


async def test_b25_odd_finish_reasons_are_classed_and_kept_as_sent() -> None:
    run = await ask("b25", times=6)
    assert [(answer.finish_reason, answer.finish) for answer in run.answers] == [
        ("error", "error"),
        ("abort", "error"),
        ("", "unknown"),
        ("null", "unknown"),
        ("eos", "stop"),
        ("model_length", "length"),
    ]
    assert run.outcomes == ["failed", "failed", "text", "text", "text", "text"]


async def test_b26_tool_calls_nobody_offered_are_part_of_the_compared_value() -> None:
    run = await ask("b26", times=3)
    first, second, third = run.answers
    assert run.outcomes == ["tool_calls"] * 3
    assert first.text == ""
    assert json.loads(first.tool_calls) == [{"name": "python", "arguments": '{"code": "print(0)"}'}]
    assert first.compared == third.compared != second.compared, "random call ids must not make a difference"


async def test_b27_missing_usage_is_unknown_and_not_zero() -> None:
    answer = (await ask("b27")).answers[0]
    assert answer.outcome is Outcome.TEXT
    assert answer.usage.prompt_tokens is None
    assert answer.usage.completion_tokens is None


async def test_b28_a_space_that_only_streams_have_is_kept_for_whoever_compares() -> None:
    whole = (await ask("b28")).answers[0]
    streamed = (await ask("b28", transport=Transport.STREAM)).answers[0]
    assert streamed.text == " " + whole.text
    assert streamed.text.split() == whole.text.split()


async def test_b29_nul_and_lone_surrogates_are_kept_as_they_are() -> None:
    run = await ask("b29")
    assert run.texts == ["a\u0000b\ud83d c"]
    assert rb"a\u0000b\ud83d c" in run.exchanges[0].body


async def test_a_stream_that_is_cut_is_no_answer_but_keeps_what_came() -> None:
    run = await ask("cut-stream", transport=Transport.STREAM)
    assert run.outcomes == ["truncated_stream"]
    whole = (await ask("exact")).texts[0]
    assert whole.startswith(run.texts[0])
    assert run.texts[0]


async def test_a_stream_and_a_whole_answer_of_one_model_read_alike_with_scores() -> None:
    parameters = {"temperature": 0, "logprobs": True, "top_logprobs": 3}
    whole = (await ask("exact", parameters=parameters)).answers[0]
    streamed = (await ask("exact", parameters=parameters, transport=Transport.STREAM)).answers[0]
    assert streamed.text == whole.text
    assert streamed.tokens == whole.tokens
    assert streamed.usage == whole.usage
    assert (streamed.finish, streamed.identity) == (whole.finish, whole.identity)


async def test_a_json_answer_to_a_streaming_request_is_read_all_the_same() -> None:
    ignoring = scenario("exact", support=Support(ignored=("stream",)))
    assert (await ask(ignoring, transport=Transport.STREAM)).outcomes == ["text"]
