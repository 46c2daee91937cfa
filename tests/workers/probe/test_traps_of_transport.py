"""Traps 30 to 40: wrong documents, wrong labels, proxies, refusals, rate limits, certificates."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest

from drift.answers import Ask, Outcome, Target, Transport
from tests.workers.probe.authority import Authority
from tests.workers.probe.loopback import HELLO, LOOPBACK
from tests.workers.probe.simulated import ask, register
from workers.probe.client import Prober
from workers.probe.decode import decode
from workers.probe.negotiate import State, negotiate
from workers.probe.retry import needs_negotiation, next_attempt
from workers.probe.retry_after import wait_seconds
from workers.simulate import NAMED, Simulator

pytestmark = pytest.mark.anyio


async def test_b30_html_instead_of_json_says_that_v1_is_probably_missing() -> None:
    missing = (await register("b30", path="")).problem or ""
    assert "HTML page" in missing
    assert "/v1" in missing
    assert (await register("b30", path="/v1")).problem is None


async def test_b31_a_proxys_error_page_is_a_passing_failure_with_its_trace_kept() -> None:
    run = await ask("b31", times=4)
    assert run.outcomes == ["http_error"] * 4
    assert run.answers[0].error_message == "An HTML page: 502: origin error"
    assert dict(run.exchanges[0].headers)["cf-ray"] == "8abc0000-FRA"
    assert "lower the cap" in run.answers[3].error_message
    assert all(len(answer.error_message) < 2000 for answer in run.answers)
    retries = [next_attempt(e, a, 1, datetime.now(UTC)) for e, a in zip(run.exchanges, run.answers, strict=True)]
    assert all(retries[:3])
    assert retries[3] is None, "524 means that the origin took over 100 s: asking again ends the same way"


async def test_b32_empty_and_blank_answers_are_empty_bodies_and_worth_another_try() -> None:
    run = await ask("b32", times=2)
    streamed = await ask("b32", transport=Transport.STREAM)
    assert run.outcomes == ["empty_body", "empty_body"]
    assert streamed.outcomes == ["empty_body"]
    assert next_attempt(run.exchanges[0], run.answers[0], 1, datetime.now(UTC)) is not None
    assert next_attempt(run.exchanges[0], run.answers[0], 3, datetime.now(UTC)) is None


async def test_b32_keepalive_bytes_do_not_extend_the_deadline() -> None:
    run = await ask("slow-drip", deadline_s=0.3)
    assert run.outcomes == ["timeout"]
    assert run.exchanges[0].latency_ms < 6000


async def test_b33_stream_only_and_never_streaming_endpoints_are_both_found_out() -> None:
    only = await register("b33")
    never = await register("b33-never")
    assert only.problem is None
    assert only.target.transport is Transport.STREAM
    assert never.problem is None
    assert never.target.transport is Transport.WHOLE
    assert never.capabilities["stream"].state is State.REFUSED


@pytest.mark.parametrize("envelope", ["b34", "b34-google", "b34-plain"])
async def test_b34_the_refused_field_is_read_from_every_envelope_and_dropped(envelope: str) -> None:
    negotiation = await register(envelope)
    assert negotiation.problem is None
    assert negotiation.target.parameters.get("temperature") == 0
    assert "seed" not in negotiation.target.parameters
    if envelope == "b34":
        assert negotiation.target.parameters["random_seed"] == 7, "known under another name there"
        assert negotiation.capabilities["logprobs"].state is State.REFUSED
        assert negotiation.target.cap_parameter == "max_tokens"
    else:
        assert negotiation.capabilities["seed"].state is State.REFUSED
        assert "seed" in negotiation.capabilities["seed"].evidence
    run = await ask(envelope)
    assert needs_negotiation(run.exchanges[0])


async def test_b35_where_temperature_0_is_refused_it_is_dropped_and_said() -> None:
    negotiation = await register("b35")
    assert negotiation.problem is None
    assert negotiation.capabilities["temperature"].state is State.REFUSED
    assert "temperature" not in negotiation.target.parameters


async def test_b35_a_reasoning_model_gets_its_own_cap_parameter_and_no_refused_fields() -> None:
    negotiation = await register("reasoning")
    assert negotiation.problem is None
    assert negotiation.target.cap_parameter == "max_completion_tokens"
    assert negotiation.target.parameters == {}
    assert any("reasons" in sentence for sentence in negotiation.advice)


async def test_b36_no_rate_limit_header_can_fail_a_good_answer() -> None:
    run = await ask("b36", times=7)
    assert run.outcomes == ["text", "text", "throttled", "text", "text", "throttled", "text"]
    now = datetime.now(UTC)
    assert wait_seconds(dict(run.exchanges[2].headers), now) == pytest.approx(73.588)
    assert next_attempt(run.exchanges[0], run.answers[0], 1, now) is None, "retry-after on a 200 is no refusal"


async def test_b37_a_private_authority_is_trusted_once_its_certificate_is_given(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    async with Simulator(NAMED["b37"], tls=authority.server_context("localhost")) as simulator:
        url = f"https://localhost:{simulator.port}/v1"
        unknown = await negotiate(Target(url, "simulated-small", deadline_s=5), allow=LOOPBACK)
        known = Target(url, "simulated-small", ca_bundle=authority.pem, deadline_s=5)
        async with Prober(known, allow=LOOPBACK) as prober:
            answer = decode(await prober.ask(HELLO))
        unchecked = Target(url, "simulated-small", verify_tls=False, deadline_s=5)
        async with Prober(unchecked, allow=LOOPBACK) as prober:
            unverified = decode(await prober.ask(HELLO))
    assert unknown.problem is not None
    assert "is not trusted" in unknown.problem
    assert "CERTIFICATE_VERIFY_FAILED" in unknown.problem, "the cause is shown, not 'Connection error.'"
    assert answer.outcome is Outcome.TEXT
    assert unverified.outcome is Outcome.TEXT


async def test_b37_a_trusted_certificate_for_another_name_is_refused(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    async with Simulator(NAMED["b37"], tls=authority.server_context("other.example")) as simulator:
        target = Target(
            f"https://localhost:{simulator.port}/v1", "simulated-small", ca_bundle=authority.pem, deadline_s=5
        )
        async with Prober(target, allow=LOOPBACK) as prober:
            exchange = await prober.ask(HELLO)
    assert exchange.transport_error is Outcome.UNREACHABLE
    assert "Hostname mismatch" in exchange.error_detail


async def test_b37_https_to_a_plain_server_says_to_use_http() -> None:
    async with Simulator(NAMED["exact"]) as simulator:
        target = Target(f"https://127.0.0.1:{simulator.port}/v1", "simulated-small", deadline_s=5)
        problem = (await negotiate(target, allow=LOOPBACK)).problem
    assert problem is not None
    assert "http://" in problem


async def test_b38_a_wrong_encoding_label_is_seen_through_with_one_plain_retry() -> None:
    run = await ask("b38", times=2)
    assert run.outcomes == ["text", "text"]
    assert [exchange.attempts for exchange in run.exchanges] == [2, 1], "the second ask knows already"


async def test_b39_a_silently_cut_context_shows_in_prompt_tokens() -> None:
    long = Ask(({"role": "user", "content": "tide " * 5000},), max_tokens=8)
    run = await ask("b39", times=2, ask=long, advance_s=(0, 4000))
    assert [answer.usage.prompt_tokens for answer in run.answers] == [4096, 2048]


async def test_b40_one_ask_is_one_request_and_failures_are_seen() -> None:
    async with Simulator(NAMED["b40"]) as simulator:
        async with Prober(Target(simulator.url(), "simulated-small"), allow=LOOPBACK) as prober:
            outcomes = [decode(await prober.ask(HELLO)).outcome for _ in range(3)]
        assert len(simulator.requests) == 3
    assert outcomes == [Outcome.HTTP_ERROR, Outcome.HTTP_ERROR, Outcome.TEXT]


async def test_an_unknown_model_is_answered_with_the_closest_names() -> None:
    problem = (await register("exact", model="simulated-smal")).problem or ""
    assert "does not know the model 'simulated-smal'" in problem
    assert "Did you mean simulated-small?" in problem


async def test_an_address_where_nothing_listens_says_so() -> None:
    async with Simulator(NAMED["exact"]) as simulator:
        url = simulator.url()
    problem = (await negotiate(Target(url, "m"), allow=LOOPBACK)).problem or ""
    assert problem.startswith("Nothing answers at 127.0.0.1:")


def test_certificates_of_the_tests_are_what_they_claim(tmp_path: Path) -> None:
    assert isinstance(Authority(tmp_path).server_context("localhost"), ssl.SSLContext)
