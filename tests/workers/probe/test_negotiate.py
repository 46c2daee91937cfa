"""What registration finds out beyond the numbered traps, and the sentences it has for people."""

from __future__ import annotations

import asyncio

import pytest

from drift.addresses import AddressRule
from drift.answers import ApiKind, Target, Transport
from tests.workers.probe.loopback import LOOPBACK, Seen, completion, response, serving
from tests.workers.probe.simulated import SCORES, ask, register
from workers.probe.negotiate import Negotiation, State, negotiate

pytestmark = pytest.mark.anyio


async def against(body: object, status: int = 200, *, path: str = "/v1", **headers: str) -> str:
    """The problem found with a server that answers everything so."""

    async def answers(seen: Seen, writer: asyncio.StreamWriter) -> None:
        content_type = "text/html" if isinstance(body, str) and body.startswith("<") else "application/json"
        writer.write(response(body, status, content_type, **headers))

    async with serving(answers) as server:
        url = server.url.removesuffix("/v1") + path
        negotiation = await negotiate(
            Target(url, "gpt-x", api_key="sk-a-secret-key-0123", deadline_s=3), allow=LOOPBACK
        )
    assert negotiation.problem is not None
    assert "sk-a-secret-key-0123" not in negotiation.problem
    return negotiation.problem


async def test_an_ordinary_endpoint_keeps_all_wishes_with_evidence_for_each() -> None:
    negotiation = await register("exact")
    assert negotiation.problem is None
    assert negotiation.target.parameters == SCORES
    states = {name: found.state for name, found in negotiation.capabilities.items()}
    assert states == {
        "cap": State.HONOURED,
        "temperature": State.HONOURED,
        "seed": State.HONOURED,
        "logprobs": State.HONOURED,
        "stream": State.HONOURED,
        "n": State.HONOURED,
        "system_fingerprint": State.HONOURED,
    }
    assert all(found.evidence for found in negotiation.capabilities.values())
    assert negotiation.models == ("simulated-small",)
    assert negotiation.requests <= 20


async def test_fewer_scores_than_the_endpoint_has_are_asked_for_if_fewer_are_wished() -> None:
    negotiation = await register("exact", parameters={"temperature": 0, "logprobs": True, "top_logprobs": 2})
    assert negotiation.capabilities["logprobs"].value == "20"
    assert negotiation.target.parameters == {"temperature": 0, "logprobs": True, "top_logprobs": 2}


async def test_a_parameter_of_the_users_own_that_is_refused_is_dropped_and_named() -> None:
    async def answers(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.method == "POST" and "reasoning_effort" in seen.json:
            error = {"message": "Unrecognized request argument supplied: reasoning_effort", "param": None}
            writer.write(response({"error": error}, 400))
        else:
            writer.write(response(completion("Hello.")))

    async with serving(answers) as server:
        wished = {"reasoning_effort": "minimal", "temperature": 0, "top_p": 1}
        negotiation = await negotiate(Target(server.url, "m", parameters=wished, deadline_s=3), allow=LOOPBACK)
    assert negotiation.problem is None
    assert negotiation.target.parameters == {"temperature": 0, "top_p": 1}
    assert negotiation.capabilities["reasoning_effort"].state is State.REFUSED
    assert "Unrecognized" in negotiation.capabilities["reasoning_effort"].evidence


async def test_a_cap_that_is_ignored_is_found_out_and_the_other_name_tried() -> None:
    async def answers(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.method == "GET":
            writer.write(response({"detail": "Not Found"}, 404))
            return
        capped = "max_tokens" in seen.json
        tokens = 24 if capped else 300
        choice = {"index": 0, "message": {"content": "1, 2, 3"}, "finish_reason": "length" if capped else "stop"}
        writer.write(
            response(completion("", choices=[choice], usage={"prompt_tokens": 9, "completion_tokens": tokens}))
        )

    async with serving(answers) as server:
        target = Target(server.url, "m", cap_parameter="max_completion_tokens", deadline_s=3)
        negotiation = await negotiate(target, allow=LOOPBACK)
    assert negotiation.target.cap_parameter == "max_tokens"
    assert negotiation.capabilities["cap"].state is State.HONOURED


async def test_an_answer_that_ends_before_the_cap_does_not_say_that_the_cap_holds() -> None:
    async def answers(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.method == "GET":
            writer.write(response({"detail": "Not Found"}, 404))
            return
        choice = {"index": 0, "message": {"content": "1, 2, 3"}, "finish_reason": "stop"}
        writer.write(response(completion("", choices=[choice], usage={"prompt_tokens": 9, "completion_tokens": 14})))

    async with serving(answers) as server:
        negotiation = await negotiate(Target(server.url, "m", deadline_s=3), allow=LOOPBACK)
    cap = negotiation.capabilities["cap"]
    assert (cap.state, cap.value) == (State.UNKNOWN, "max_tokens")
    assert "ended by itself before the cap: 14 tokens" in cap.evidence


async def test_the_responses_api_is_negotiated_in_its_own_words() -> None:
    negotiation = await register("responses", kind=ApiKind.RESPONSES)
    assert negotiation.problem is None
    assert negotiation.target.cap_parameter == "max_output_tokens"
    assert negotiation.target.parameters == {
        "temperature": 0,
        "include": ["message.output_text.logprobs"],
        "top_logprobs": 5,
    }
    assert negotiation.capabilities["seed"].state is State.REFUSED
    assert negotiation.capabilities["logprobs"].value == "20"


@pytest.mark.parametrize("transport", list(Transport))
async def test_a_responses_endpoint_answers_whole_and_streamed_alike(transport: Transport) -> None:
    run = await ask(
        "responses",
        kind=ApiKind.RESPONSES,
        transport=transport,
        cap_parameter="max_output_tokens",
        parameters={"temperature": 0},
    )
    whole = await ask("exact")
    assert run.outcomes == ["text"]
    assert run.texts == whole.texts


async def test_a_streaming_target_asks_for_usage_where_that_is_allowed() -> None:
    negotiation = await register("exact", transport=Transport.STREAM)
    assert negotiation.target.transport is Transport.STREAM
    assert negotiation.target.parameters["stream_options"] == {"include_usage": True}


async def test_a_streaming_target_of_an_endpoint_that_never_streams_is_asked_whole() -> None:
    negotiation = await register("b33-never", transport=Transport.STREAM)
    assert negotiation.problem is None
    assert negotiation.target.transport is Transport.WHOLE


async def test_a_litellm_proxy_is_asked_in_its_own_way_not_to_cache() -> None:
    negotiation = await register("b11")
    assert negotiation.target.parameters["cache"] == {"no-cache": True}
    assert any("LiteLLM" in sentence for sentence in negotiation.advice)


async def test_a_private_address_says_what_an_administrator_can_do() -> None:
    negotiation = await negotiate(Target("http://127.0.0.1:1/v1", "m"), allow=AddressRule())
    assert "allow list" in (negotiation.problem or "")
    assert negotiation.requests == 1


async def test_a_name_that_does_not_exist_is_a_matter_of_spelling() -> None:
    negotiation = await negotiate(Target("http://no-such-host.invalid/v1", "m", deadline_s=5), allow=LOOPBACK)
    assert "cannot be resolved" in (negotiation.problem or "")


async def test_each_way_of_failing_has_its_own_sentence() -> None:
    assert "redirects to http://elsewhere/v1" in await against("", 308, location="http://elsewhere/v1")
    assert "refuses the key" in await against({"error": {"message": "Invalid key"}}, 401)
    assert "no credit" in await against({"error": {"message": "x", "code": "insufficient_quota"}}, 429)
    assert "throttling" in await against({"error": {"message": "Slow down", "code": "rate_limit_exceeded"}}, 429)
    assert "its side" in await against({"error": {"message": "boom"}}, 500)
    assert "empty body" in await against("")
    assert "lacks /v1" in await against({"detail": "Not Found"}, 404, path="/api")
    assert "Check the path" in await against({"detail": "Not Found"}, 404)
    assert "not with a chat completion" in await against({"hello": "world"})
    assert "does not know the model 'gpt-x'" in await against({"error": {"message": "model gpt-x not found"}}, 404)


async def test_a_negotiation_of_a_slow_endpoint_leaves_questions_out_instead_of_hanging(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("workers.probe.negotiate.conversation.BUDGET_S", 0.0)
    negotiation: Negotiation = await register("exact")
    assert negotiation.problem is None
    assert negotiation.capabilities["seed"].state is State.UNKNOWN
    assert "too slowly" in negotiation.capabilities["seed"].evidence
    assert negotiation.target.parameters == SCORES, "what was not asked about is tried as wished"
